//! Layouts stand in the programs' C and here: they are the same.

use std::collections::HashMap;

use super::held::WATCHED;
use crate::ledger::slot as ledger;
use crate::ledger::tables::testing as tables;
use crate::network::testing as network;

const WAITS: &str = include_str!("../ledger/ledgers.bpf.h");
const NETACCT: &str = include_str!("../network/netacct.bpf.c");
const PROCESSES: &str = include_str!("watched_processes.bpf.h");

/// The number that a name is defined as.
fn defined(source: &str, name: &str) -> usize {
    let start = format!("#define {name} ");
    let line = source.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn without_comments(source: &str) -> String {
    let mut parts = source.split("/*");
    let mut left = parts.next().unwrap().to_owned();
    left.extend(parts.map(|part| part.split_once("*/").unwrap().1));
    left
}

/// Offsets of the members of a struct of integers, arrays of them, and `edges` and `takers`; its length
/// stands under the empty name.
fn offsets(source: &str, name: &str) -> HashMap<String, usize> {
    let start = format!("\nstruct {name} {{\n");
    let body = &source[source.find(&start).unwrap() + start.len()..];
    let body = without_comments(&body[..body.find("\n};").unwrap()]);
    let states = source.find("\tSTATES,\n").map_or(0, |end| {
        let begin = source.find("enum state {\n").unwrap() + "enum state {\n".len();
        source[begin..end].lines().filter(|line| line.contains(',')).count()
    });
    let mut found = HashMap::new();
    let mut at: usize = 0;
    for line in body.lines().filter(|line| line.contains(';')) {
        let declared = line.split(';').next().unwrap().trim();
        let (kind, member) = declared.rsplit_once(' ').unwrap();
        let size = match kind {
            "__u16" => 2,
            "__u32" => 4,
            "__u64" => 8,
            "struct edge" => 40,
            "struct taker" => 16,
            "struct chance" => 8,
            other => panic!("{other}"),
        };
        at = at.next_multiple_of(size.min(8));
        let mut parts = member.split('[');
        found.insert(parts.next().unwrap().to_owned(), at);
        let count: usize = parts
            .map(|part| match part.trim_end_matches(']') {
                "STATES" => states,
                count => count.parse().unwrap_or_else(|_| defined(source, count)),
            })
            .product();
        at += size * count;
    }
    found.insert(String::new(), at.next_multiple_of(8));
    found
}

fn are_shared(source: &str, layout: super::Layout) {
    let (slot, control) = (offsets(source, "slot"), offsets(source, "control"));
    assert_eq!(layout.count, defined(source, "SLOTS"));
    assert_eq!(layout.stride, slot[""]);
    assert_eq!(layout.generation, slot["generation"]);
    assert_eq!(layout.changes, control["changes"]);
    assert_eq!(["tgid", "tid", "start_ns", "exit_ns"].map(|name| slot[name]), [0, 4, 8, 16]);
    assert_eq!(control["used"], 0);
}

#[test]
fn slots_of_ledgers_are_the_programs() {
    are_shared(WAITS, ledger::LAYOUT);
    let slot = offsets(WAITS, "slot");
    let names = ["mark", "woken_ns", "arrived_ns", "began_ns", "run_ns", "ns"];
    assert_eq!(names.map(|name| slot[name] / 8), ledger::PLACES);
    assert_eq!(slot["stay"] - slot["ns"], ledger::STATES * 8);
    assert_eq!(WAITS.contains("#define STATE_BITS 5\n"), ledger::STATE_BITS == 5);
    let control = offsets(WAITS, "control");
    assert_eq!(control["threads_without_slot"], ledger::WITHOUT_SLOT);
    let names = ["more_edges", "more_takers", "lost_edges", "lost_takers", "lost_calls"];
    assert_eq!(names.map(|name| control[name]), tables::CONTROL);
    let detail = offsets(WAITS, "detail");
    assert_eq!(detail[""], ledger::DETAIL);
    assert_eq!(["edges", "takers"].map(|name| detail[name] / 8), tables::DETAIL);
    assert_eq!(offsets(WAITS, "edge")[""], 40);
    assert_eq!(offsets(WAITS, "taker")[""], 16);
    let names = ["edge_key", "taker_key", "call_key", "call_count"];
    assert_eq!(names.map(|name| offsets(WAITS, name)[""] / 8), [3, 2, 2, 14]);
    assert_eq!(offsets(WAITS, "call_key")["call"], 8);
}

#[test]
fn slots_of_the_network_are_the_programs() {
    are_shared(NETACCT, network::LAYOUT);
    let slot = offsets(NETACCT, "slot");
    let names = ["read_bytes", "write_bytes", "read_calls", "write_calls"];
    let first = network::COUNTERS;
    assert_eq!(names.map(|name| slot[name]), [first, first + 8, first + 16, first + 24]);
    assert_eq!(offsets(NETACCT, "control")["uncounted_calls"], network::UNCOUNTED_CALLS);
    assert_eq!(offsets(NETACCT, "uncounted")[""], 16);
}

#[test]
fn watched_processes_are_counted_where_programs_check() {
    assert_eq!(WATCHED as usize, defined(PROCESSES, "WATCHED"));
    let watch = offsets(PROCESSES, "watch");
    assert_eq!((watch["gone"], watch[""]), (4, 8));
}
