//! The slots of a map, mapped as far as they have been used.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::os::memory::{Mapped, Word};

/// Slots that are mapped at first. Mapped pages of a map count as memory of this process, and most
/// slots are never used.
const FIRST: usize = 256;

/// An array of slots of the same length in a map.
pub struct SlotArray {
    map: OwnedFd,
    mapped: Mapped,
    stride: usize,
    count: usize,
}

impl SlotArray {
    /// Maps the first slots of a map of `count` slots, each of `stride` bytes, a multiple of 8.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: OwnedFd, stride: usize, count: usize) -> io::Result<Self> {
        let mapped = Mapped::new(map.as_fd(), stride * FIRST.min(count), true)?;
        Ok(Self { map, mapped, stride, count })
    }

    /// Maps at least the first `used` slots.
    ///
    /// # Errors
    /// The error of mmap(2); the array reaches as far as before.
    pub fn reach(&mut self, used: usize) -> io::Result<()> {
        let used = used.min(self.count);
        if used * self.stride > self.mapped.len() {
            let count = used.next_power_of_two().min(self.count);
            self.mapped = Mapped::new(self.map.as_fd(), count * self.stride, true)?;
        }
        Ok(())
    }

    /// Number of slots that are mapped.
    pub fn reached(&self) -> usize {
        (self.mapped.len() / self.stride).min(self.count)
    }

    /// Reads a word of a slot.
    ///
    /// # Panics
    /// Panics outside of what `reach` has mapped.
    pub fn load<T: Word>(&self, index: u32, offset: usize) -> T {
        self.mapped.load(index as usize * self.stride + offset)
    }

    /// Writes a word of a slot.
    ///
    /// # Panics
    /// Panics like `load`.
    pub fn store<T: Word>(&mut self, index: u32, offset: usize, value: T) {
        self.mapped.store(index as usize * self.stride + offset, value);
    }

    /// Copies words of a slot, the first one at `offset`. Words may be of different moments.
    ///
    /// # Panics
    /// Panics like `load`.
    pub fn copy_to<T: Word>(&self, index: u32, offset: usize, into: &mut [T]) {
        self.mapped.copy_to(index as usize * self.stride + offset, into);
    }

    /// Sets all words of a slot to 0, but one at `but`; None: all.
    ///
    /// # Panics
    /// Panics like `load`.
    pub fn clear(&mut self, index: u32, but: Option<usize>) {
        let at = index as usize * self.stride;
        let words = self.stride / 8;
        let kept = but.map_or(words, |offset| offset / 8);
        self.mapped.clear(at, kept);
        if kept < words {
            self.mapped.clear(at + (kept + 1) * 8, words - kept - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::bpf::testing::{create, ARRAY, MAPPABLE};
    use crate::os::memory::scratch;

    fn works(map: OwnedFd) {
        let mut array = SlotArray::new(map, 384, 16_384).unwrap();
        assert_eq!(array.reached(), FIRST);
        array.store(255, 376, 9_u64);
        array.reach(257).unwrap();
        assert_eq!(array.reached(), 512);
        assert_eq!(array.load::<u64>(255, 376), 9);
        array.reach(1 << 40).unwrap();
        assert_eq!(array.reached(), 16_384);
        array.store(16_383, 24, 5_u64);
        array.store(16_383, 376, 6_u64);
        array.clear(16_383, Some(24));
        assert_eq!((array.load::<u64>(16_383, 24), array.load::<u64>(16_383, 376)), (5, 0));
        assert_eq!(array.load::<u64>(255, 376), 9);
        array.clear(16_383, None);
        assert_eq!(array.load::<u64>(16_383, 24), 0);
    }

    #[test]
    fn an_array_is_mapped_as_far_as_it_is_used() {
        works(scratch(384 * 16_384));
        if let Ok(map) = create([ARRAY, 4, 384, 16_384, MAPPABLE]) {
            works(map);
        }
    }

    #[test]
    #[should_panic(expected = "offset")]
    fn what_is_not_mapped_is_not_read() {
        let array = SlotArray::new(scratch(384 * 16_384), 384, 16_384).unwrap();
        array.load::<u64>(300, 0);
    }
}
