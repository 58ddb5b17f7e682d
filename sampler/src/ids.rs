//! Maps and sets by thread or process id: the kernel gives ids in sequence, so one multiplication spreads
//! them, where the standard hasher takes several times as long.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by id.
pub type IdMap<V> = HashMap<u32, V, BuildHasherDefault<IdHasher>>;
/// A set of ids.
pub type IdSet = HashSet<u32, BuildHasherDefault<IdHasher>>;

/// Hashes an id: Fibonacci hashing (Knuth, volume 3, 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(self.0 as u32 ^ u32::from(byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        // Maps take the lowest bits, in which a product mixes the least.
        self.0 = u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_sequence_are_spread() {
        let hash = |id: u32| {
            let mut hasher = IdHasher::default();
            hasher.write_u32(id);
            hasher.finish()
        };
        let places: HashSet<u64> = (0..4096).map(|id| hash(id) & 0xfff).collect();
        assert!(places.len() > 2000);
        let tags: HashSet<u64> = (0..4096).map(|id| hash(id) >> 57).collect();
        assert_eq!(tags.len(), 128);
    }
}
