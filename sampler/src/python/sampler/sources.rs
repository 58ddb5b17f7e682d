//! The parts that the sampler is made of, given before its start.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use super::Sampler;
use crate::engine::Sink;
use crate::ledger::tables::{Counting, WaitMaps, WaitTables};
use crate::ledger::{self, Keeper};
use crate::link::uplink::Both;
use crate::network::Accounts;
use crate::processes::{GroupMaps, GroupPrograms};
use crate::python::convert::{os_error, own, value_error};
use crate::python::link::Link;
use crate::slots::{lock, Maps};
use crate::taskstats::{ExitListener, Kernel, Layout, Query};
use crate::walk::{Block, Program as WalkProgram, Visits, Walker};

#[pymethods]
impl Sampler {
    #[allow(clippy::too_many_arguments)]
    fn use_taskstats(
        &self,
        socket: i32,
        family: u16,
        payload: usize,
        version: u16,
        length: usize,
        profile: &str,
        offsets: Vec<(String, usize)>,
    ) -> PyResult<()> {
        let layout = Layout::new(version, length, profile, offsets).map_err(value_error)?;
        let kernel = Kernel { family, payload, layout };
        let query = Arc::new(Mutex::new(Query::new(kernel.clone(), own(socket)?)));
        self.set_up(|kit| {
            kit.taskstats = Some((kernel, query));
            Ok(())
        })
    }

    fn use_exits(&self, links: Vec<(u16, i32)>) -> PyResult<()> {
        let (kernel, _) = self
            .set_up(|kit| kit.taskstats.clone().ok_or_else(|| value_error("without taskstats")))?;
        let sockets = links
            .into_iter()
            .map(|(cpu, socket)| Ok((cpu, own(socket)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let listener = ExitListener::new(kernel, sockets).map_err(|error| os_error(&error))?;
        lock(&self.setup).exits = Some(listener);
        Ok(())
    }

    #[pyo3(signature = (blocks, program, visits=None))]
    fn use_walk(&self, blocks: i32, program: i32, visits: Option<i32>) -> PyResult<()> {
        let block = Block::new(own(blocks)?.as_fd()).map_err(|error| os_error(&error))?;
        let program = own(program)?;
        let program = match visits {
            Some(visits) => {
                let visits = Visits::new(own(visits)?.as_fd()).map_err(|error| os_error(&error))?;
                WalkProgram::Members { program, visits }
            }
            None => WalkProgram::Iterators { program, links: Vec::new() },
        };
        self.set_up(|kit| {
            kit.walker = Some(Arc::new(Mutex::new(Walker::new(block, program))));
            Ok(())
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn use_ledger(
        &self,
        slots: i32,
        control: i32,
        watched: i32,
        targets: i32,
        vacant: i32,
        details: i32,
        walks: (i32, i32),
        beside: (i32, i32, i32, i32),
        counts_calls: bool,
    ) -> PyResult<()> {
        let (edges, takers, calls, names) = beside;
        let beside = WaitMaps {
            edges: own(edges)?,
            takers: own(takers)?,
            calls: own(calls)?,
            names: own(names)?,
        };
        let maps = maps(slots, control, watched, targets, vacant)?;
        let (begin, let_go) = (own(walks.0)?, own(walks.1)?);
        let program = ledger::Program { maps, details: own(details)?, begin, let_go };
        self.set_up(|kit| {
            let keeper =
                Keeper::new(program, kit.procfs.clone()).map_err(|error| os_error(&error))?;
            let keeper = Arc::new(Mutex::new(keeper));
            let counting = Counting::new(beside, counts_calls, kit.procfs.clone());
            kit.wait_tables = Some(WaitTables::new(Arc::clone(&keeper), counting));
            kit.keeper = Some(keeper);
            Ok(())
        })
    }

    #[pyo3(signature = (slots, control, watched, targets, vacant, uncounted=None))]
    fn use_network(
        &self,
        slots: i32,
        control: i32,
        watched: i32,
        targets: i32,
        vacant: i32,
        uncounted: Option<i32>,
    ) -> PyResult<()> {
        let maps = maps(slots, control, watched, targets, vacant)?;
        let uncounted = uncounted.map(own).transpose()?;
        let accounts = Accounts::new(maps, uncounted).map_err(|error| os_error(&error))?;
        self.set_up(|kit| {
            kit.accounts = Some(Arc::new(Mutex::new(accounts)));
            Ok(())
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn use_groups(
        &self,
        events: i32,
        members: i32,
        unfinished: i32,
        cgroups: i32,
        control: i32,
        v1_hierarchy: u32,
        lent: u32,
    ) -> PyResult<()> {
        let maps = GroupMaps {
            events: own(events)?,
            members: own(members)?,
            unfinished: own(unfinished)?,
            cgroups: own(cgroups)?,
            control: own(control)?,
        };
        let programs =
            GroupPrograms::new(maps, v1_hierarchy, lent).map_err(|error| os_error(&error))?;
        lock(&self.setup).programs = Some(programs);
        Ok(())
    }

    /// Sends frames over a link, and over a second one to a recorder on this host.
    #[pyo3(signature = (link, recorder=None))]
    fn use_link(&self, link: &Link, recorder: Option<&Link>) {
        let sink: Box<dyn Sink> = match recorder {
            Some(other) => Box::new(Both { link: link.sink(), recorder: other.sink() }),
            None => Box::new(link.sink()),
        };
        lock(&self.setup).sink = Some(sink);
    }
}

fn maps(slots: i32, control: i32, watched: i32, targets: i32, vacant: i32) -> PyResult<Maps> {
    Ok(Maps {
        slots: own(slots)?,
        control: own(control)?,
        watched: own(watched)?,
        targets: own(targets)?,
        vacant: own(vacant)?,
    })
}
