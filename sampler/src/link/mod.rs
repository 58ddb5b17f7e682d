//! The data connection: frames go to the backend, and are kept until it confirms them.
//!
//! `uplink` has the thread; `websocket` one connection; `replay` the frames; `in_flight` finds a frame
//! that the backend refuses; `messages` and `backoff` are the protocol's texts and waits.

pub mod backoff;
pub mod in_flight;
pub mod messages;
pub mod peer;
pub mod replay;
pub mod uplink;
pub mod websocket;

#[cfg(test)]
mod backend;
