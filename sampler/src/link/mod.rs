//! The data connection: frames go to the backend, and are kept until it confirms them.
//!
//! `uplink` is the handle, `sender` its thread, `websocket` one connection; `replay` has the frames;
//! `in_flight` finds a frame that the backend refuses; `messages` and `backoff` are the protocol.

pub mod backoff;
pub mod in_flight;
pub mod messages;
pub mod peer;
pub mod replay;
mod sender;
pub mod tls;
pub mod uplink;
pub mod websocket;

#[cfg(test)]
mod backend;
