//! A ring whose contents, lengths and positions are hostile, held to a second reader of it.

use super::*;
use crate::fuzzing::{fuzz, Random};

const LEN: u64 = 4096;

/// Independent model of the ring's bytes.
struct Shadow {
    bytes: Vec<u8>,
    taken: u64,
    written: u64,
}

impl Shadow {
    fn byte(&self, position: u64) -> u8 {
        self.bytes[(position % LEN) as usize]
    }

    /// The little-endian number of `size` bytes at a position.
    fn number(&self, position: u64, size: u64) -> u64 {
        (0..size).fold(0, |sum, place| {
            sum | u64::from(self.byte(position.wrapping_add(place))) << (8 * place)
        })
    }

    fn put(&mut self, ring: &mut EventRing, position: u64, word: u64) {
        for (place, byte) in (0..).zip(word.to_le_bytes()) {
            self.bytes[(position.wrapping_add(place) % LEN) as usize] = byte;
        }
        ring.ring.put(position, word);
    }

    /// Events, and the position up to which they were taken.
    fn expected(&self) -> (Vec<Event>, u64) {
        let (mut events, mut at) = (Vec::new(), 0);
        let left = self.written.wrapping_sub(self.taken);
        while left <= LEN && at + 8 <= left {
            let position = self.taken.wrapping_add(at);
            let header = self.number(position, 4);
            let length = header % (1 << 30);
            let end = at + 8 + length.div_ceil(8) * 8;
            if header >> 31 != 0 || end > left {
                break;
            }
            let kinds = [Kind::Born, Kind::Executed, Kind::Done, Kind::Moved];
            let word = |offset: u64| self.number(position.wrapping_add(8 + offset), 4);
            let long = |offset: u64| self.number(position.wrapping_add(8 + offset), 8);
            let kind = word(0).checked_sub(1).and_then(|kind| kinds.get(kind as usize));
            if let (Some(&kind), true) = (kind, header >> 30 == 0 && (65..=72).contains(&length)) {
                events.push(Event {
                    kind,
                    pid: word(4) as u32,
                    other: word(8) as u32,
                    value: word(12) as u32,
                    groups: long(16),
                    at_ns: long(24) as i64,
                    start_ns: long(32) as i64,
                    start_boot_ns: long(40) as i64,
                    run_ns: long(48),
                    comm: std::array::from_fn(|place| {
                        self.byte(position.wrapping_add(64 + place as u64))
                    }),
                });
            }
            at = end;
        }
        (events, self.taken.wrapping_add(at))
    }
}

/// Writes a record as the kernel does, in half of all with something wrong in it; returns its end.
fn record(random: &mut Random, shadow: &mut Shadow, ring: &mut EventRing, at: u64) -> u64 {
    let mut length = EVENT_BYTES as u64;
    if random.one_in(4) {
        length = random.number() % (1 << 31);
    }
    if random.one_in(4) {
        length = random.below(200) as u64;
    }
    let bits = *random.pick(&[0, 0, 0, 0, 0, 0, DISCARDED, BUSY, BUSY | DISCARDED]);
    let page = random.next() << 32;
    shadow.put(ring, at, length | u64::from(bits) | page);
    for word in 0..EVENT_BYTES as u64 / 8 {
        let value = match word {
            0 => random.below(6) as u64 | random.next() << 32,
            _ => random.number(),
        };
        shadow.put(ring, at.wrapping_add(8 + 8 * word), value);
    }
    at.wrapping_add(8 + length.min(LEN).next_multiple_of(8))
}

#[test]
fn contents_of_a_ring() {
    let mut ring = ring_of(&[]);
    let mut shadow = Shadow { bytes: vec![0; LEN as usize], taken: 0, written: 0 };
    let mut events = Vec::new();
    fuzz("ring contents", |random| {
        if random.one_in(50) {
            shadow.taken = random.number() & !7;
        }
        let mut at = shadow.taken;
        for _ in 0..random.below(6) {
            at = record(random, &mut shadow, &mut ring, at);
        }
        shadow.written = match random.below(20) {
            0 => random.number(),
            1 => at.wrapping_sub(random.below(100) as u64),
            2 => at.wrapping_add(random.number() % (2 * LEN)),
            _ => at,
        };
        ring.ring.set_positions(shadow.taken, shadow.written);
        events.clear();
        ring.drain(&mut events);
        let (wanted, taken) = shadow.expected();
        assert_eq!((&events, ring.ring.taken()), (&wanted, taken));
        shadow.taken = taken;
        !events.is_empty()
    });
}
