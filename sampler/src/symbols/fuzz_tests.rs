//! Hostile ELF files: damaged sections, and damaged files of good sections.

use std::ops::ControlFlow;

use super::testing::{file, sections};
use super::{elf, lines, tables};
use crate::fuzzing::{fuzz, Random};

const ASKED: [u64; 6] = [0, 0x1000, 0x1015, 0x1080, 0x10ff, u64::MAX];

/// The program, in which sections have changed, or the file, or both.
fn hostile(random: &mut Random) -> Vec<u8> {
    let mut all = sections();
    for section in &mut all {
        if random.one_in(4) {
            random.mutate(&mut section.4);
        }
        if random.one_in(16) {
            section.2 ^= 1 << random.below(12);
            section.3 = random.number();
            section.5 = random.number() as u32;
        }
    }
    let mut data = file(&all);
    if random.one_in(2) {
        random.mutate(&mut data);
    }
    data
}

#[test]
fn any_file_is_read_or_refused() {
    fuzz("symbols", |random| {
        let data = hostile(random);
        let Ok(found) = elf::links(&data) else {
            assert!(tables::functions(&data, &ASKED).is_err());
            return false;
        };
        assert!(found.build_id.len() <= 64 && found.debug_name.len() < data.len());
        let named = tables::functions(&data, &ASKED).unwrap();
        assert!(named.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(named.iter().all(|(address, name)| ASKED.contains(address) && !name.is_empty()));
        let mut last = None;
        let shared = random.one_in(2).then_some(&data[..]);
        let read = lines::places(&data, shared, &ASKED, |address, places| {
            let place = ASKED.iter().position(|one| *one == address);
            assert!(place > last && !places.is_empty());
            last = place;
            ControlFlow::Continue(())
        });
        read.is_ok() && !named.is_empty()
    });
}
