//! Frames that wait until Python takes them.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::encode::frame::Frame;
use crate::engine::Sink;
use crate::os::wait::Waker;
use crate::slots::lock;

/// Frames of all targets, in order.
pub struct FrameQueue {
    frames: Mutex<VecDeque<(String, Frame)>>,
    stalled: AtomicBool,
    /// Readable while frames wait.
    pub waker: Waker,
}

impl FrameQueue {
    /// Makes an empty queue.
    ///
    /// # Errors
    /// The error of eventfd(2).
    pub fn new() -> io::Result<Arc<Self>> {
        let (frames, stalled) = (Mutex::default(), AtomicBool::new(false));
        Ok(Arc::new(Self { frames, stalled, waker: Waker::new()? }))
    }

    /// Takes all frames.
    pub fn take(&self) -> VecDeque<(String, Frame)> {
        self.waker.rest();
        std::mem::take(&mut lock(&self.frames))
    }

    /// Says whether no more frames are to be made.
    pub fn set_stalled(&self, stalled: bool) {
        self.stalled.store(stalled, Ordering::Relaxed);
    }
}

/// The side of the engine.
pub struct QueueSink(pub Arc<FrameQueue>);

impl Sink for QueueSink {
    fn add(&mut self, target: &str, frame: Frame) {
        lock(&self.0.frames).push_back((target.to_owned(), frame));
        self.0.waker.wake();
    }

    fn is_stalled(&self) -> bool {
        self.0.stalled.load(Ordering::Relaxed)
    }
}
