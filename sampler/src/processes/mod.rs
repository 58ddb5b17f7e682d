//! The processes of a target: who lives, who ended lately, and what the threads of each add up to.

mod last_switches;
mod matching;
mod members;
mod programs;
mod ring;
#[cfg(test)]
mod stories_tests;
mod sums;

pub use last_switches::{LastSwitches, Late};
pub use matching::Match;
pub use members::{Member, Members, Newcomer, BELIEVED_NS};
pub use programs::{Boundary, Cgroup, GroupMaps, GroupPrograms};
pub use ring::{Event, EventRing, Kind};
pub use sums::{ProcessRow, Processes, SharedProcesses};
