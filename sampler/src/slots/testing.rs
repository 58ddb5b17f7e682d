//! Slots in memory for tests.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};

use super::held::{Layout, ThreadSlots};
use super::kernel::Kernel;
use crate::os::memory::{scratch, Mapped};

/// The maps `targets` and `vacant`.
#[derive(Default)]
pub struct Fake {
    /// Targets.
    pub targets: HashSet<u32>,
    /// Slots that were released, in order.
    pub vacant: Vec<u32>,
    /// Targets that are refused.
    pub refused: HashSet<u32>,
}

/// A kernel whose maps a test sees.
#[derive(Clone, Default)]
pub struct Fakes(pub Arc<Mutex<Fake>>);

impl Kernel for Fakes {
    fn add_target(&self, pid: u32) -> io::Result<bool> {
        let mut fake = self.0.lock().unwrap();
        if fake.refused.contains(&pid) {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        Ok(fake.targets.insert(pid))
    }

    fn remove_target(&self, pid: u32) -> bool {
        self.0.lock().unwrap().targets.remove(&pid)
    }

    fn give_back(&self, index: u32) -> io::Result<()> {
        self.0.lock().unwrap().vacant.push(index);
        Ok(())
    }
}

/// Memory that stands for the maps of a program, and that the test writes to as the program does.
pub struct Memory {
    /// All slots.
    pub slots: Mapped,
    /// Struct control.
    pub control: Mapped,
    /// Counts of processes that came and went.
    pub watched: Mapped,
    /// Maps without memory of their own.
    pub kernel: Fakes,
    layout: Layout,
}

impl Memory {
    /// Makes the maps of a program, and the slots that use them.
    pub fn new(layout: Layout) -> (Self, ThreadSlots) {
        let map = |len| {
            let file = scratch(len);
            let mapped = Mapped::new(file.as_fd(), len, true).unwrap();
            (file, mapped)
        };
        let (slots_file, slots): (OwnedFd, Mapped) = map(layout.stride * layout.count);
        let (control_file, control) = map(4096);
        let (watched_file, watched) = map(8192 * 8);
        let kernel = Fakes::default();
        let boxed = Box::new(kernel.clone());
        let held =
            ThreadSlots::with_kernel(slots_file, &control_file, &watched_file, boxed, layout)
                .unwrap();
        (Self { slots, control, watched, kernel, layout }, held)
    }

    /// Writes a word of eight bytes of a slot.
    pub fn set(&mut self, index: u32, word: usize, value: u64) {
        self.slots.store(index as usize * self.layout.stride + word * 8, value);
    }

    /// Reads a word of eight bytes of a slot.
    pub fn get(&self, index: u32, word: usize) -> u64 {
        self.slots.load(index as usize * self.layout.stride + word * 8)
    }

    /// Says that the first `count` slots have been used, and that slots changed.
    pub fn use_slots(&mut self, count: u32) {
        self.control.store(0, count);
        let changes: u64 = self.control.load(self.layout.changes);
        self.control.store(self.layout.changes, changes + 1);
    }
}

/// The head of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Process id.
    pub tgid: u32,
    /// Thread id.
    pub tid: u32,
    /// Start.
    pub start_ns: i64,
    /// End, or 0.
    pub exit_ns: i64,
}

/// Slots with heads alone.
pub struct TestSlots {
    /// The maps.
    pub memory: Memory,
    /// The slots.
    pub held: ThreadSlots,
}

impl TestSlots {
    /// Gives the first slots to these threads.
    pub fn new(slots: &[Slot]) -> Self {
        let layout = Layout { stride: 64, count: 1024, generation: 56, changes: 8 };
        let (memory, held) = Memory::new(layout);
        let mut made = Self { memory, held };
        made.give(slots);
        made
    }

    /// Gives the first slots to these threads.
    pub fn give(&mut self, slots: &[Slot]) {
        for (index, slot) in slots.iter().enumerate() {
            let index = index as u32;
            self.memory.set(index, 1, slot.start_ns as u64);
            self.memory.set(index, 2, slot.exit_ns as u64);
            self.memory.set(index, 0, u64::from(slot.tgid) | u64::from(slot.tid) << 32);
        }
        self.memory.use_slots(slots.len() as u32);
        self.held.reach().unwrap();
    }
}
