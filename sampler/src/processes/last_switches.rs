//! Time on a CPU of ended threads up to their last switch, which comes by eBPF beside their exit records.
//!
//! The kernel sends a record while the thread still runs, with its time on a CPU up to the last tick. That
//! up to the last switch comes a little later, or earlier than the record is drained.

use crate::columns::{Comm, Exits};
use crate::ids::IdMap;

/// Threads of which one account is kept that waits for the other; more are forgotten.
const MAX_THREADS: usize = 65_536;

/// CPU time of an ended thread beyond what its end reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Name of the thread.
    pub comm: Comm,
    /// Id of its process.
    pub process: u32,
    /// Time on a CPU, nanoseconds.
    pub cpu_ns: u64,
}

/// Brings both accounts together.
#[derive(Default)]
pub struct LastSwitches {
    /// CPU time by thread ID, for threads whose exit records have not come.
    whole: IdMap<u64>,
    /// Reported totals by thread ID, for ended threads whose last switch is unknown.
    open: IdMap<Late>,
    late: Vec<Late>,
}

impl LastSwitches {
    /// A thread has run for the last time.
    pub fn note(&mut self, tid: u32, run_ns: u64) {
        match self.open.remove(&tid) {
            Some(said) if run_ns > said.cpu_ns => {
                self.late.push(Late { cpu_ns: run_ns - said.cpu_ns, ..said });
            }
            Some(_) => {}
            None => {
                if self.whole.len() >= MAX_THREADS {
                    self.whole.clear();
                }
                self.whole.insert(tid, run_ns);
            }
        }
    }

    /// Raises the column `cpu` of exit records to the whole time on a CPU, where it is known.
    pub fn raise(&mut self, exits: &mut Exits, cpu: usize) {
        for row in 0..exits.rows.len() {
            let (tid, said) = (exits.rows.tid[row], exits.rows.get(row, cpu));
            if let Some(whole) = self.whole.remove(&tid) {
                exits.rows.set(row, cpu, said.max(whole));
            } else if self.open.len() < MAX_THREADS {
                let (comm, process) = (exits.rows.comm[row], exits.rows.process[row]);
                self.open.insert(tid, Late { comm, process, cpu_ns: said });
            }
        }
    }

    /// CPU time beyond what the ends of threads reported, found since the last call.
    pub fn take_late(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Identity, Rows};

    fn exits(tid: u32, cpu: u64) -> Exits {
        let mut rows = Rows::new(1);
        let row = rows.push(Identity { tid, process: 7, ..Identity::default() });
        rows.set(row, 0, cpu);
        Exits { rows, age_us: vec![1], drained_ns: 0 }
    }

    #[test]
    fn a_record_that_comes_later_has_the_whole_time() {
        let mut switches = LastSwitches::default();
        switches.note(5, 90);
        let mut exits = exits(5, 40);
        switches.raise(&mut exits, 0);
        assert_eq!(exits.rows.get(0, 0), 90);
        switches.note(5, 95);
        assert!(switches.take_late().is_empty());
    }

    #[test]
    fn a_record_that_comes_first_is_completed() {
        let mut switches = LastSwitches::default();
        switches.raise(&mut exits(5, 40), 0);
        switches.note(5, 90);
        let late = switches.take_late();
        assert_eq!((late.len(), late[0].process, late[0].cpu_ns), (1, 7, 50));
        assert!(switches.take_late().is_empty());
    }

    #[test]
    fn the_larger_time_counts_if_both_are_known() {
        let mut switches = LastSwitches::default();
        switches.note(50, 5);
        let mut exits = exits(50, 9);
        switches.raise(&mut exits, 0);
        assert_eq!((exits.rows.get(0, 0), switches.take_late()), (9, vec![]));
    }

    #[test]
    fn only_so_many_accounts_wait_for_the_other() {
        let mut switches = LastSwitches::default();
        for tid in 0..=MAX_THREADS as u32 {
            switches.note(tid, 9);
        }
        assert_eq!(switches.whole.len(), 1);
        let mut switches = LastSwitches::default();
        for tid in 0..=MAX_THREADS as u32 {
            switches.raise(&mut exits(tid, 5), 0);
        }
        switches.note(MAX_THREADS as u32, 8);
        switches.note(1, 7);
        assert!(switches.take_late().iter().map(|late| late.cpu_ns).eq([2]));
    }
}
