//! The class `Sampler`: targets at work in a thread of their own.

mod answers;
mod sources;
mod targets;

use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::encode::frame::Frame;
use crate::encode::tables::Shape;
use crate::engine::entry::Entry;
use crate::engine::kit::Kit;
use crate::engine::notices::Board;
use crate::engine::{Engine, ExitRecords, Handle, Running, Sink};
use crate::processes::GroupPrograms;
use crate::python::convert::{ended, notice, os_error, shape, value_error, TableShape};
use crate::slots::lock;
use crate::taskstats::ExitListener;

/// Parts that the engine is made of when it starts.
#[derive(Default)]
struct Setup {
    /// None: the engine was made.
    kit: Option<Kit>,
    exits: Option<ExitListener>,
    programs: Option<GroupPrograms>,
    /// None: frames are discarded.
    sink: Option<Box<dyn Sink>>,
}

/// Takes frames that nobody wants.
struct Nowhere;

impl Sink for Nowhere {
    fn add(&mut self, _: &str, _: Frame) {}

    fn is_stalled(&self) -> bool {
        false
    }
}

/// Samples targets in a thread of its own.
#[pyclass]
pub struct Sampler {
    setup: Mutex<Setup>,
    shared: Option<Arc<Kit>>,
    running: Option<Running>,
    board: Board,
}

impl Sampler {
    fn set_up<T>(&self, change: impl FnOnce(&mut Kit) -> PyResult<T>) -> PyResult<T> {
        let mut setup = lock(&self.setup);
        change(setup.kit.as_mut().ok_or_else(|| value_error("the sampler has started"))?)
    }

    fn handle(&self) -> PyResult<Handle> {
        self.running.as_ref().map(|running| running.handle().clone()).ok_or_else(ended)
    }

    /// Runs something in the thread of the sampler, and waits for it without Python's lock.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut Engine) -> T + Send + 'static,
    ) -> PyResult<T> {
        let handle = self.handle()?;
        py.detach(|| handle.ask(action)).ok_or_else(ended)
    }

    /// Runs an action on one target in the sampler's thread, and waits; None if the target is not sampled.
    fn ask_of<T: Send + 'static>(
        &self,
        py: Python<'_>,
        target: String,
        action: impl FnOnce(&mut Entry) -> T + Send + 'static,
    ) -> PyResult<Option<T>> {
        self.ask(py, move |engine| engine.entry(&target).map(action))
    }

    /// Lets the sampler do something before its next sample, without waiting for it.
    fn tell(&self, action: impl FnOnce(&mut Engine) + Send + 'static) -> PyResult<()> {
        self.handle()?.tell(action).then_some(()).ok_or_else(ended)
    }

    /// Queues an action on one target, if the target is sampled.
    fn tell_of(
        &self,
        target: String,
        action: impl FnOnce(&mut Entry) + Send + 'static,
    ) -> PyResult<()> {
        self.tell(move |engine| engine.entry(&target).map_or((), action))
    }
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(
        procfs: PathBuf,
        role_words: Vec<String>,
        max_roles: usize,
        max_names: usize,
        tables: Vec<TableShape>,
    ) -> PyResult<Self> {
        let shapes = tables.into_iter().map(shape).collect::<PyResult<Vec<Shape>>>()?;
        let kit = Kit {
            procfs,
            role_words,
            max_roles,
            max_names,
            shapes,
            taskstats: None,
            walker: None,
            keeper: None,
            wait_tables: None,
            accounts: None,
            disagreement: OnceLock::new(),
        };
        Ok(Self {
            setup: Mutex::new(Setup { kit: Some(kit), ..Setup::default() }),
            shared: None,
            running: None,
            board: Board::new().map_err(|error| os_error(&error))?,
        })
    }

    /// Walks a process, and compares with taskstats: why it cannot be walked; None if it can.
    fn check_walk(
        &self,
        py: Python<'_>,
        pid: u32,
        base: Vec<(String, String)>,
    ) -> PyResult<Option<String>> {
        let setup = lock(&self.setup);
        let kit = setup.kit.as_ref().ok_or_else(|| value_error("the sampler has started"))?;
        py.detach(|| kit.check_walk(pid, base)).map_err(value_error)
    }

    /// Gives walks up, before the start.
    fn leave_out_walk(&self) -> PyResult<()> {
        self.set_up(|kit| {
            kit.walker = None;
            Ok(())
        })
    }

    /// First disagreement of a walk and taskstats, or None.
    fn disagreement(&self) -> Option<String> {
        self.shared.as_ref()?.disagreement.get().cloned()
    }

    /// Notifies Python once its next sample was taken.
    fn tell_sample(&self, py: Python<'_>, target: String) -> PyResult<()> {
        self.ask_of(py, target, |entry| entry.tell_sample = true).map(drop)
    }

    fn start(&mut self) -> PyResult<()> {
        let mut setup = lock(&self.setup);
        let kit = Arc::new(setup.kit.take().ok_or_else(|| value_error("it has started"))?);
        self.shared = Some(Arc::clone(&kit));
        let exits = setup.exits.take().map(ExitRecords::new);
        let sink = setup.sink.take().unwrap_or_else(|| Box::new(Nowhere));
        let engine = Engine::new(kit, exits, setup.programs.take(), sink, self.board.clone());
        self.running = Some(engine.start().map_err(|error| os_error(&error))?);
        Ok(())
    }

    fn stop(&mut self, py: Python<'_>) {
        if let Some(mut running) = self.running.take() {
            py.detach(|| running.stop());
        }
        // Descriptors are closed now, not when Python finds that nobody has the object any more.
        self.shared = None;
        *lock(&self.setup) = Setup::default();
    }

    /// Descriptor that is readable while there are notices.
    fn notices_fileno(&self) -> i32 {
        self.board.waker().as_fd().as_raw_fd()
    }

    fn take_notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for (target, one) in self.board.take() {
            made.set_item(target, notice(py, &one)?)?;
        }
        Ok(made)
    }
}
