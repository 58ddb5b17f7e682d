//! The engine's thread as other threads see it: what they ask of it, and its end.

use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::Engine;
use crate::os::wait::Waker;

pub(super) enum Message {
    Run(Box<dyn FnOnce(&mut Engine) + Send>),
    Stop,
}

/// Asks the engine.
#[derive(Clone)]
pub struct Handle {
    messages: Sender<Message>,
    waker: Arc<Waker>,
}

impl Handle {
    /// Runs something in the thread of the engine, and waits for its result; None if the thread has ended.
    pub fn ask<T: Send + 'static>(
        &self,
        action: impl FnOnce(&mut Engine) -> T + Send + 'static,
    ) -> Option<T> {
        let (give, take) = channel();
        let run = Message::Run(Box::new(move |engine| {
            // Nobody waits any more where this fails.
            let _ = give.send(action(engine));
        }));
        self.messages.send(run).ok()?;
        self.waker.wake();
        take.recv().ok()
    }

    /// Runs something in the thread of the engine before the next sample of any target, or before what is
    /// asked next. Wakes nobody. False if the thread has ended.
    pub fn tell(&self, action: impl FnOnce(&mut Engine) + Send + 'static) -> bool {
        self.messages.send(Message::Run(Box::new(action))).is_ok()
    }
}

/// The thread of an engine, which ends with this value.
pub struct Running {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Asks the engine.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Takes the last samples of all targets, and ends the thread.
    pub fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // Neither fails but where the thread has ended.
        let _ = self.handle.messages.send(Message::Stop);
        self.handle.waker.wake();
        let _ = thread.join();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The error of eventfd(2), or of the thread's creation.
    pub fn start(mut self) -> std::io::Result<Running> {
        let waker = Arc::new(Waker::new()?);
        let (messages, received) = channel();
        let woken = Arc::clone(&waker);
        let thread = std::thread::Builder::new()
            .name("sampler".into())
            .spawn(move || self.run(&received, &woken))?;
        Ok(Running { handle: Handle { messages, waker }, thread: Some(thread) })
    }
}
