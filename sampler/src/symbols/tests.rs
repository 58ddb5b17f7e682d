//! Reading of a small program, and of this test itself.

use std::ops::ControlFlow;

use super::elf::{links, section, Links};
use super::lines::{places, Place};
use super::tables::functions;
use super::testing::{debug_file, file, sections, stripped};

fn place(function: &str, line: u32) -> Place {
    Place { function: function.to_owned(), file: "a.c".to_owned(), line }
}

fn all_places(data: &[u8], addresses: &[u64]) -> Vec<(u64, Vec<Place>)> {
    let mut found = Vec::new();
    places(data, None, addresses, |address, at| {
        found.push((address, at));
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

#[test]
fn a_file_says_what_it_is_and_where_the_rest_is() {
    let expected = Links {
        build_id: vec![0xab, 0xcd, 0xef, 1],
        debug_name: b"a.debug".to_vec(),
        debug_crc: 0x0403_0201,
        shared_path: b"../.dwz/all".to_vec(),
        shared_id: vec![5, 6],
        base: 0x200,
        lines: true,
        symbols: true,
    };
    assert_eq!(links(&file(&sections())).unwrap(), expected);
    assert!(!links(&file(&stripped())).unwrap().lines);
    assert_eq!(links(&file(&[])).unwrap(), Links { base: 0x200, ..Links::default() });
}

#[test]
fn a_section_is_returned_up_to_a_size() {
    let data = file(&sections());
    let id = section(&data, ".note.gnu.build-id", 20).unwrap().unwrap();
    assert!(id.ends_with(&[0xab, 0xcd, 0xef, 1]));
    assert_eq!(section(&data, ".note.gnu.build-id", 19).unwrap(), None);
    assert_eq!(section(&data, ".gnu_debugdata", 20).unwrap(), None);
}

#[test]
fn functions_have_the_name_that_callers_use() {
    let asked = [0xfff, 0x1000, 0x107f, 0x1080, 0x10ff, 0x1100, u64::MAX, 0];
    let found = functions(&file(&sections()), &asked).unwrap();
    let named: Vec<_> = found.iter().map(|(at, name)| (*at, name.as_str())).collect();
    assert_eq!(named, [(0x1000, "outer"), (0x107f, "outer"), (0x1080, "bare"), (0x10ff, "bare")]);
}

#[test]
fn a_debug_file_names_code_that_it_does_not_have() {
    let found = functions(&file(&debug_file()), &[0x1010]).unwrap();
    assert_eq!(found, [(0x1010, "outer".to_owned())]);
    assert_eq!(all_places(&file(&debug_file()), &[0x1030])[0].1, [place("outer", 6)]);
}

#[test]
fn inlined_functions_come_before_their_callers() {
    let found = all_places(&file(&sections()), &[0x1000, 0x1015, 0x1020, 0x1200]);
    assert_eq!(
        found,
        [
            (0x1000, vec![place("outer", 5)]),
            (0x1015, vec![place("inner", 15), place("outer", 7)]),
            (0x1020, vec![place("outer", 6)]),
        ]
    );
}

#[test]
fn the_caller_stops_the_reading() {
    let mut count = 0;
    let asked = [0x1000, 0x1010, 0x1020];
    places(&file(&sections()), None, &asked, |_, _| {
        count += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(count, 1);
}

fn packed(name: &str, head: [u32; 2], size: u64, content: &[u8]) -> Vec<u8> {
    let mut all = sections();
    let one = all.iter_mut().find(|one| one.0 == name).unwrap();
    one.2 = 0x800;
    one.4 = head.map(u32::to_le_bytes).concat();
    one.4.extend([size, 1].map(u64::to_le_bytes).concat());
    one.4.extend(content);
    file(&all)
}

#[test]
fn sections_may_be_compressed() {
    let info = sections().into_iter().find(|one| one.0 == ".debug_info").unwrap().4;
    let (zlib, zstd) = ([1, 0], [2, 0]);
    // Blocks that are stored as they are, with the header and checksum of each format.
    let (length, size) = (info.len() as u16, info.len() as u64);
    let mut by_zlib = vec![0x78, 0x01, 1];
    by_zlib.extend([length, !length].map(u16::to_le_bytes).concat());
    by_zlib.extend(&info);
    let sums = info.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    by_zlib.extend((sums.1 << 16 | sums.0).to_be_bytes());
    let mut by_zstd = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, length as u8];
    by_zstd.extend(&(u32::from(length) << 3 | 1).to_le_bytes()[..3]);
    by_zstd.extend(&info);
    for (head, content) in [(zlib, &by_zlib), (zstd, &by_zstd)] {
        let data = packed(".debug_info", head, size, content);
        assert_eq!(all_places(&data, &[0x1030])[0].1, [place("outer", 6)]);
        for wrong in [size - 1, size + 1] {
            let data = packed(".debug_info", head, wrong, content);
            assert!(places(&data, None, &[1], |_, _| ControlFlow::Continue(())).is_err());
        }
    }
}

#[test]
fn a_section_that_says_it_is_huge_is_not_inflated() {
    let huge = packed(".debug_info", [1, 0], 1 << 40, &[]);
    let refused = places(&huge, None, &[0x1000], |_, _| ControlFlow::Continue(()));
    assert_eq!(refused.err().unwrap().0, "its debug information is too large");
}

#[test]
fn what_is_no_elf_file_is_refused() {
    for data in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0xff; 100]] {
        assert!(links(data).is_err());
        assert!(functions(data, &[1]).is_err());
        assert!(places(data, None, &[1], |_, _| ControlFlow::Continue(())).is_err());
    }
    let mut big = file(&sections());
    big[5] = 2;
    assert!(links(&big).is_err());
}

#[test]
fn this_test_finds_its_own_functions() {
    let data = std::fs::read("/proc/self/exe").unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let (begin, _) = maps.split_once('-').unwrap();
    let begin = u64::from_str_radix(begin, 16).unwrap();
    let address = all_places as *const () as u64 - begin + links(&data).unwrap().base;
    let found = functions(&data, &[address]).unwrap();
    assert!(found[0].1.contains("all_places"), "{found:?}");
    let innermost = &all_places(&data, &[address])[0].1[0];
    assert!(innermost.file.ends_with("src/symbols/tests.rs"), "{innermost:?}");
}
