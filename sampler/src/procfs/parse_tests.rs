use super::*;
use proptest::prelude::*;

/// A stat line of 52 fields, as proc_pid_stat(5) numbers them, with some of them.
fn stat_line(id: u32, name: &[u8], state: &str, fields: &[(usize, u64)]) -> Vec<u8> {
    let mut line = format!("{id} (").into_bytes();
    line.extend(name);
    line.extend(format!(") {state}").bytes());
    for at in 4..=52 {
        let value = fields.iter().find(|(field, _)| *field == at).map_or(0, |&(_, value)| value);
        line.extend(format!(" {value}").bytes());
    }
    line.push(b'\n');
    line
}

const FIELDS: [(usize, u64); 7] =
    [(9, 0x40), (10, 5), (12, 6), (14, 7), (15, 8), (20, 3), (22, 12345)];
const IO: &[u8] = b"rchar: 11\nwchar: 22\nsyscr: 33\nsyscw: 44\nread_bytes: 55\nwrite_bytes: 66\n\
    cancelled_write_bytes: 77\n";
const STATUS: &[u8] = b"Name:\tprog\nState:\tS (sleeping)\nTgid:\t70\nPid:\t71\nUid:\t0\t1\t0\t0\n\
    voluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n";

#[test]
fn blanks_and_parentheses_do_not_move_the_fields() {
    for name in [&b"a b"[..], b"(sd-pam)", b") R 1 (", b"((", b"))", b"", b"a\nb"] {
        let line = stat_line(1, name, "S", &FIELDS);
        let stat = parse_stat(&line).unwrap();
        assert_eq!((stat.id, stat.name, stat.state), (1, name, b'S'));
        assert_eq!((stat.minor_faults, stat.major_faults), (5, 6));
        assert_eq!((stat.user_ticks, stat.system_ticks), (7, 8));
        assert_eq!((stat.flags, stat.threads, stat.start_ticks), (0x40, 3, 12345));
    }
}

#[test]
fn this_process_is_read() {
    let line = std::fs::read("/proc/self/stat").unwrap();
    let stat = parse_stat(&line).unwrap();
    assert_eq!(stat.id, std::process::id());
    assert!(stat.threads >= 1 && stat.start_ticks > 0 && !stat.is_exiting());
    assert!(parse_schedstat(&std::fs::read("/proc/self/schedstat").unwrap()).is_some());
    assert!(parse_io(&std::fs::read("/proc/self/io").unwrap()).unwrap()[0] > 0);
    let status = std::fs::read("/proc/self/status").unwrap();
    assert!(parse_status(&status).is_some());
    assert_eq!(parse_thread_group(&status), Some(std::process::id()));
}

#[test]
fn what_is_no_stat_line_is_refused() {
    let whole = stat_line(1, b"a", "S", &FIELDS);
    for line in [&b""[..], b"1", b"1 (a", b"1 (a) S 1 2", b"1 )a( S 1 2", &whole[..30]] {
        assert_eq!(parse_stat(line), None);
    }
    assert_eq!(parse_stat(&[b"x (a) S ".to_vec(), b"1 ".repeat(50)].concat()), None);
    assert_eq!(parse_stat(&[b"1 (a) SS ".to_vec(), b"1 ".repeat(50)].concat()), None);
    assert_eq!(parse_stat(&[b"1 (a) S ".to_vec(), b"-1 ".repeat(50)].concat()), None);
    assert_eq!(parse_stat(&[b"4294967296 (a) S ".to_vec(), b"1 ".repeat(50)].concat()), None);
}

#[test]
fn a_dead_main_thread_is_not_a_dead_process() {
    for (state, threads, ended) in
        [("Z", 1, true), ("Z", 2, false), ("X", 0, true), ("S", 1, false)]
    {
        let line = stat_line(9, b"a", state, &[(20, threads)]);
        assert_eq!(parse_stat(&line).unwrap().has_ended(), ended);
    }
    assert!(parse_stat(&stat_line(9, b"a", "Z", &[(20, 2)])).unwrap().is_exiting());
    assert!(parse_stat(&stat_line(9, b"a", "S", &[(9, 0x404)])).unwrap().is_exiting());
    assert!(!parse_stat(&stat_line(9, b"a", "S", &[(9, 0x400)])).unwrap().is_exiting());
}

#[test]
fn schedstat_has_three_numbers() {
    assert_eq!(parse_schedstat(b"18446744073709551615 1002 1003\n"), Some([u64::MAX, 1002, 1003]));
    for text in
        [&b""[..], b"1 2\n", b"1 2 3", b"1 2 x\n", b"1 2 3 4\n", b"18446744073709551616 1 2\n"]
    {
        assert_eq!(parse_schedstat(text), None);
    }
}

#[test]
fn status_ends_with_the_switches() {
    assert_eq!(parse_status(STATUS), Some([8, 9]));
    assert_eq!(parse_thread_group(STATUS), Some(70));
    for cut in 0..STATUS.len() {
        assert_eq!(parse_status(&STATUS[..cut]), None, "{cut}");
    }
    let named = b"Name:\tvoluntary_ctxt_switches:\nTgid:\t1\nvoluntary_ctxt_switches:\t8\n\
        nonvoluntary_ctxt_switches:\t9\n";
    assert_eq!(parse_status(named), Some([8, 9]));
    assert_eq!(parse_status(b"\nvoluntary_ctxt_switches:\t8\nother:\t9\n"), None);
    assert_eq!(parse_thread_group(b"Tgid:\t1\n"), None);
    assert_eq!(parse_thread_group(b"\nTgid:\tx\n"), None);
}

#[test]
fn io_has_seven_lines() {
    assert_eq!(parse_io(IO), Some([11, 22, 33, 44, 55, 66, 77]));
    for cut in 0..IO.len() {
        assert_eq!(parse_io(&IO[..cut]), None, "{cut}");
    }
    let swapped = String::from_utf8(IO.to_vec()).unwrap().replace("rchar", "wchar");
    assert_eq!(parse_io(swapped.as_bytes()), None);
}

proptest! {
    #[test]
    fn any_name_is_read_as_it_is(name in proptest::collection::vec(1_u8.., 0..16)) {
        let line = stat_line(42, &name, "S", &FIELDS);
        let stat = parse_stat(&line).unwrap();
        prop_assert_eq!((stat.id, stat.name, stat.state), (42, &name[..], b'S'));
        prop_assert_eq!((stat.user_ticks, stat.system_ticks, stat.threads), (7, 8, 3));
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        parse_stat(&bytes);
        parse_schedstat(&bytes);
        parse_status(&bytes);
        parse_io(&bytes);
        parse_thread_group(&bytes);
    }

    /// A text that was cut off somewhere never gives another number.
    #[test]
    fn a_stat_line_that_is_cut_is_refused_or_right(cut in 0_usize..300) {
        let whole = stat_line(42, b"a b", "S", &FIELDS);
        let part = &whole[..cut.min(whole.len())];
        if let Some(stat) = parse_stat(part) {
            prop_assert_eq!(Some(stat), parse_stat(&whole));
        }
    }
}
