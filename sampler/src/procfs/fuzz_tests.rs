//! Hostile text of /proc, held to the numbers that it was made of, and to a second reader.

use super::parse::{parse_io, parse_schedstat, parse_stat, parse_status, parse_thread_group, Stat};
use crate::fuzzing::{fuzz, Random};

const IO: [&str; 7] =
    ["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"];

/// A number as the kernel or a liar writes it, and its value if it is one of 64 bits.
fn number(random: &mut Random) -> (String, Option<u64>) {
    let value = random.number();
    match random.below(60) {
        0 => (format!("-{value}"), None),
        1 => (format!("+{value}"), None),
        2 => (format!("{value}0000000000000000000000"), (value == 0).then_some(0)),
        3 => (format!("000{value}"), Some(value)),
        4 => (format!("{value}x"), None),
        5 => (format!("{}", u128::from(u64::MAX) + 1 + u128::from(value)), None),
        _ => (value.to_string(), Some(value)),
    }
}

fn name(random: &mut Random) -> Vec<u8> {
    let letters = b"ab() )(\n\t\\:1 \xff\0Z";
    (0..random.below(16)).map(|_| *random.pick(letters)).collect()
}

fn words(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| b" \t\n\r\x0c".contains(byte)).filter(|word| !word.is_empty()).collect()
}

/// Digit by digit, in more bits than are needed.
fn value(word: &[u8]) -> Option<u64> {
    let mut sum = 0_u128;
    for &byte in word {
        sum = (sum * 10 + u128::from(byte.checked_sub(b'0').filter(|&digit| digit < 10)?))
            .min(1 << 70);
    }
    u64::try_from(sum).ok().filter(|_| !word.is_empty())
}

/// Some texts are changed, some are cut off; the others are as they were made.
fn changed(random: &mut Random, text: &mut Vec<u8>) -> bool {
    match random.below(8) {
        0..=3 => return false,
        4 | 5 => text.truncate(random.below(text.len())),
        _ => random.mutate(text),
    }
    true
}

/// Id, name, and the fields behind the name.
type Fields<'a> = (u32, &'a [u8], Vec<&'a [u8]>);

/// Fields of a stat line by their numbers, counted from the last parenthesis.
fn fields(line: &[u8]) -> Option<Fields<'_>> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let close = line.iter().rposition(|&byte| byte == b')').filter(|&close| close > open)?;
    let before = words(&line[..open]);
    let [id] = before[..] else { return None };
    let after = words(&line[close + 1..]);
    Some((value(id)?.try_into().ok()?, &line[open + 1..close], after))
}

fn expected_stat(line: &[u8]) -> Option<Stat<'_>> {
    let (id, name, after) = fields(line)?;
    let field = |at: usize| value(after.get(at - 3)?);
    after.get(24 - 3)?;
    Some(Stat {
        id,
        name,
        state: *after.first().filter(|word| word.len() == 1)?.first()?,
        flags: field(9)?,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
        threads: field(20)?,
        start_ticks: field(22)?,
    })
}

#[test]
fn stat_lines() {
    fuzz("stat lines", |random| {
        let (name, id) = (name(random), random.number() as u32);
        let state = *random.pick(b"RSDZXxtTIPWK");
        let numbers: Vec<(String, Option<u64>)> = (4..=52).map(|_| number(random)).collect();
        let mut line = [format!("{id} (").as_bytes(), &name[..], &b") "[..]].concat();
        line.push(state);
        for (text, _) in &numbers {
            line.push(b' ');
            line.extend_from_slice(text.as_bytes());
        }
        line.push(b'\n');
        let whole = line.clone();
        let is_changed = changed(random, &mut line);
        let found = parse_stat(&line);
        assert_eq!(found, expected_stat(&line));
        if !is_changed {
            let used = [9, 10, 12, 14, 15, 20, 22].map(|at| numbers[at - 4].1);
            let given = found.map(|one| {
                assert_eq!((one.id, one.name, one.state), (id, &name[..], state));
                [one.flags, one.minor_faults, one.major_faults, one.user_ticks]
                    .into_iter()
                    .chain([one.system_ticks, one.threads, one.start_ticks])
                    .collect::<Vec<u64>>()
            });
            assert_eq!(given, used.into_iter().collect());
        } else if let Some(stat) = found.filter(|_| whole.starts_with(&line)) {
            assert_eq!(Some(stat), parse_stat(&whole), "of a line that was cut off");
        }
        if let Some(stat) = found {
            let mut into = [0; 4];
            stat.write(10_000, &mut into);
            let us = u128::from(stat.user_ticks) * 10_000;
            assert_eq!(u128::from(into[2]), us.min(u64::MAX.into()));
        }
        found.is_some()
    });
}

/// Values behind labels, the first of them at the beginning of the text.
fn expected_labelled<const N: usize>(text: &[u8], labels: [&str; N]) -> Option<[u64; N]> {
    let words = words(text.strip_suffix(b"\n")?);
    let mut found = [0; N];
    for (place, label) in labels.iter().enumerate() {
        let is_label = words.get(2 * place)?.strip_suffix(b":")? == label.as_bytes();
        found[place] = value(words.get(2 * place + 1)?).filter(|_| is_label)?;
    }
    Some(found)
}

#[test]
fn io_and_schedstat() {
    fuzz("io and schedstat", |random| {
        let values: Vec<(String, Option<u64>)> = (0..7).map(|_| number(random)).collect();
        let mut text = Vec::new();
        for (label, (value, _)) in IO.iter().zip(&values) {
            text.extend_from_slice(format!("{label}: {value}\n").as_bytes());
        }
        let is_changed = changed(random, &mut text);
        let found = parse_io(&text);
        assert_eq!(found, expected_labelled(&text, IO));
        if !is_changed {
            assert_eq!(found.map(Vec::from), values.iter().map(|one| one.1).collect());
        }

        let mut text = format!("{} {} {}\n", values[0].0, values[1].0, values[2].0).into_bytes();
        let is_changed = changed(random, &mut text);
        let sched = parse_schedstat(&text);
        let all = words(text.strip_suffix(b"\n").unwrap_or(b""));
        let wanted: Option<Vec<u64>> = all.iter().map(|word| value(word)).collect();
        assert_eq!(sched.map(Vec::from), wanted.filter(|all| all.len() == 3));
        if !is_changed {
            assert_eq!(sched.map(Vec::from), values[..3].iter().map(|one| one.1).collect());
        }
        found.is_some() && sched.is_some()
    });
}

fn find(text: &[u8], part: &[u8]) -> Vec<usize> {
    (0..text.len()).filter(|&at| text[at..].starts_with(part)).collect()
}

#[test]
fn status() {
    const SWITCHES: [&str; 2] = ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"];
    fuzz("status", |random| {
        let (group, first, second) = (number(random), number(random), number(random));
        // The kernel escapes line breaks in names.
        let name: Vec<u8> = name(random).into_iter().filter(|&byte| byte != b'\n').collect();
        let mut text = [&b"Name:\t"[..], &name[..], &b"\nState:\tS (sleeping)\n"[..]].concat();
        text.extend_from_slice(format!("Tgid:\t{}\nPid:\t7\n", group.0).as_bytes());
        text.extend_from_slice(format!("{}:\t{}\n", SWITCHES[0], first.0).as_bytes());
        text.extend_from_slice(format!("{}:\t{}\n", SWITCHES[1], second.0).as_bytes());
        let is_changed = changed(random, &mut text);
        let found = parse_status(&text);
        let at = find(&text, b"\nvoluntary_ctxt_switches:").pop();
        assert_eq!(found, at.and_then(|at| expected_labelled(&text[at + 1..], SWITCHES)));
        let process = parse_thread_group(&text);
        if !is_changed {
            assert_eq!(found, first.1.zip(second.1).map(|(first, second)| [first, second]));
            assert_eq!(process, group.1.and_then(|group| group.try_into().ok()));
        }
        if let Some(process) = process {
            let at = find(&text, b"\nTgid:")[0];
            let line = text[at + 1..].split(|&byte| byte == b'\n').next().unwrap();
            let number = words(&line[5..]);
            assert_eq!(number.len(), 1);
            assert_eq!(value(number[0]), Some(process.into()));
        }
        found.is_some()
    });
}
