//! Driver of tests with hostile input: a fast generator, mutations, and the number of inputs.
//!
//! Each target takes `FUZZ_RUNS` inputs (20,000 if unset), made of `FUZZ_SEED` (1 if unset) and the
//! number of the input. A panic names the input; `FUZZ_ONLY=NUMBER` runs that one alone.

use std::time::Instant;

const DEFAULT_RUNS: u64 = 20_000;

/// Makes inputs and calls `check` with the random numbers of each. `check` panics on a wrong answer, and
/// returns true if the input was accepted.
pub fn fuzz(target: &str, mut check: impl FnMut(&mut Random) -> bool) {
    let [runs, seed] = [("FUZZ_RUNS", DEFAULT_RUNS), ("FUZZ_SEED", 1)]
        .map(|(name, default)| setting(name).unwrap_or(default));
    let only = setting("FUZZ_ONLY");
    let (began, mut accepted) = (Instant::now(), 0_u64);
    for number in only.map_or(0..runs, |only| only..only + 1) {
        let _named = Named { target, seed, number };
        accepted += u64::from(check(&mut Random::of(seed, number)));
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{target}: {runs} inputs of seed {seed} in {seconds:.1} s, {accepted} accepted");
    assert!(only.is_some() || runs < 1000 || accepted > 0, "no input was accepted");
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Names the input of a panic.
struct Named<'a> {
    target: &'a str,
    seed: u64,
    number: u64,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { target, seed, number } = self;
            eprintln!("{target}: again by FUZZ_SEED={seed} FUZZ_ONLY={number}");
        }
    }
}

/// Random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Random numbers of an input.
    fn of(seed: u64, number: u64) -> Self {
        let mut first = Self(seed);
        Self(first.next() ^ number.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// True once in `of` times.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// One of several values.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number of the kind that breaks arithmetic: small, near a power of two, near the end, or any.
    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1..=3 => self.below(100) as u64,
            4 => (1_u64 << self.below(64)).wrapping_add(self.below(3) as u64).wrapping_sub(1),
            5 => u64::MAX - self.below(3) as u64,
            6 => self.next() >> self.below(64),
            _ => self.next(),
        }
    }

    /// Changes a text or message up to four times: bits, bytes, numbers, parts removed, doubled or moved.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(4) + 1 {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(12)).min(bytes.len());
            match self.below(8) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                3 => {
                    let byte = self.next() as u8;
                    bytes.insert(at, byte);
                }
                4 => {
                    let number = self.number().to_ne_bytes();
                    let width = 1 << self.below(4);
                    for (byte, new) in bytes[at..].iter_mut().zip(&number[..width]) {
                        *byte = *new;
                    }
                }
                5 => bytes[at..end].fill(self.0 as u8),
                6 => bytes[at..end].reverse(),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }
}
