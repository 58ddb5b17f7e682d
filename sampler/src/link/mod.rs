//! The data connection: frames to the backend, kept until it confirms them.
