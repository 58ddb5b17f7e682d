//! Hostile replies and exit records, held to a second reader of the same bytes.

use super::exit_records::{with_tick_time, ExitCode, Records, LATE_NS};
use super::layout::Kernel;
use super::messages::{error_code, parse, Record};
use super::query::{judge as judge_reply, Answer};
use super::structs::{Decoder, Structs};
use super::testing::{error, hostile, kernel, offset_of, Pad, Record as Made, PADS};
use super::{exits, Refusal};
use crate::columns::{Exits, Rows};
use crate::fields::{Fields, CPU};
use crate::fuzzing::{fuzz, Random};
use crate::os::socket::Datagram;

const TID: u32 = 0x0102_0304;
const MEMBERS: [&str; 4] = ["cpu_run_virtual_total", "ac_utime", "ac_stime", "blkio_delay_total"];
/// Columns of delay accounting: the last one.
const DELAYS: u64 = 0b1000;
const DELAYS_FROM: i64 = 50_000_000_000;

/// A kernel, the messages that it may send, and wrong ones.
struct Corpus {
    kernel: Kernel,
    decoder: Decoder,
    replies: Vec<Vec<u8>>,
}

fn corpus(records: bool) -> Vec<Corpus> {
    let mut made = Vec::new();
    for version in 8..=16 {
        for pad in PADS {
            let kernel = kernel(version, pad);
            let decoder = Decoder::new(&kernel.layout, MEMBERS, DELAYS, DELAYS_FROM).unwrap();
            let one = Made { version, pad, ..Made::of(TID) };
            let mut replies = vec![one.exit(1, None), one.exit(2, Some(77)), one.exit(3, None)];
            if !records {
                replies = vec![one.reply(9), one.reply(9), one.reply(9), one.exit(9, Some(77))];
                replies.extend([error(9, libc::ESRCH), error(9, 0)]);
            }
            if pad == Pad::None {
                replies.extend(hostile(version, TID, 9).into_iter().map(|one| one.2));
            }
            made.push(Corpus { kernel, decoder, replies });
        }
    }
    made
}

/// A message with other numbers in its struct, mostly, and with changes in half of all.
fn message(random: &mut Random, from: &[Vec<u8>]) -> Vec<u8> {
    let first = if random.one_in(8) { from.len() } else { 4.min(from.len()) };
    let mut made = from[random.below(first)].clone();
    // Numbers behind the version of the struct, wherever that is.
    for _ in 0..random.below(6) {
        if made.len() > 60 {
            let at = (44 + 4 * random.below((made.len() - 52) / 4)).min(made.len() - 8);
            made[at..at + 8].copy_from_slice(&random.number().to_ne_bytes());
        }
    }
    match random.below(8) {
        0..=3 => {}
        4 => random.mutate(&mut made),
        // Lengths and types of headers.
        5 | 6 => {
            let value = random.number();
            let at = *random.pick(&[0, 4, 16, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40]);
            let near = u64::from(*made.get(at).unwrap_or(&0)).wrapping_add(value % 17);
            let value = if random.one_in(2) { value } else { near };
            for (byte, new) in made.iter_mut().skip(at).zip(value.to_ne_bytes()).take(2) {
                *byte = new;
            }
        }
        _ => {
            let mut other = from[random.below(from.len())].clone();
            made.truncate(random.below(made.len() + 1));
            made.append(&mut other);
        }
    }
    // The length of the message agrees with what is there, in most.
    if made.len() >= 4 && !random.one_in(4) {
        let length = made.len() as u32;
        made[..4].copy_from_slice(&length.to_ne_bytes());
    }
    made
}

/// Attributes of a container, in the words of netlink(7); None if they do not fill it.
fn split(mut rest: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (head, tail) = rest.split_at_checked(4)?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let kind = u16::from_ne_bytes([head[2], head[3]]) & 0x3FFF;
        found.push((kind, tail.get(..length.checked_sub(4)?)?));
        rest = rest.get(length.div_ceil(4) * 4..).unwrap_or(&[]);
    }
    Some(found)
}

/// The only attribute of a kind.
fn only<'a>(all: &[(u16, &'a [u8])], kind: u16) -> Option<&'a [u8]> {
    let mut found = all.iter().filter(|one| one.0 == kind);
    let first = found.next()?;
    found.next().is_none().then_some(first.1)
}

type Found<'a> = (u32, &'a [u8]);

/// Thread and process of a message, read in another way than by `parse`.
fn expected<'a>(bytes: &'a [u8], kernel: &Kernel) -> Option<(Found<'a>, Option<Found<'a>>)> {
    let (head, body) = bytes.split_at_checked(20)?;
    let right = head[..4] == (bytes.len() as u32).to_ne_bytes()
        && head[4..6] == kernel.family.to_ne_bytes()
        && head[16] == 2;
    let all = split(body).filter(|_| right)?;
    let mut records = Vec::new();
    for (kind, inner) in all.into_iter().filter(|one| matches!(one.0, 4 | 5)) {
        let inner = split(inner)?;
        let id: [u8; 4] = only(&inner, kind - 3)?.try_into().ok()?;
        records.push((kind, (u32::from_ne_bytes(id), only(&inner, 3)?)));
    }
    let fits = |stats: &[u8]| {
        stats.len() == kernel.layout.length && stats[..2] == kernel.layout.version.to_ne_bytes()
    };
    match records[..] {
        [(4, thread)] if fits(thread.1) => Some((thread, None)),
        [(4, thread), (5, process)] if fits(thread.1) && fits(process.1) => {
            Some((thread, Some(process)))
        }
        _ => None,
    }
}

fn long(stats: &[u8], version: u16, member: &str) -> u64 {
    let at = offset_of(version, member);
    u64::from_ne_bytes(stats[at..at + 8].try_into().unwrap())
}

fn word(stats: &[u8], version: u16, member: &str) -> u32 {
    let at = offset_of(version, member);
    u32::from_ne_bytes(stats[at..at + 4].try_into().unwrap())
}

/// Holds a row to the bytes of its struct.
fn holds(rows: &Rows, row: usize, stats: &[u8], version: u16, before_ns: i64) {
    assert_eq!(rows.tid[row], word(stats, version, "ac_pid"));
    let age_ns = i128::from(long(stats, version, "ac_etime")) * 1000;
    let start_ns = (i128::from(before_ns) - age_ns).max(i128::from(i64::MIN));
    // Ages of more than 292 years are cut off somewhere.
    if age_ns <= i128::from(i64::MAX) {
        assert_eq!(i128::from(rows.start_ns[row]), start_ns);
    } else {
        assert!(rows.start_ns[row] <= before_ns.saturating_sub(i64::MAX));
    }
    for (column, member) in MEMBERS.iter().enumerate() {
        let value = long(stats, version, member);
        assert_eq!(rows.get(row, column), value, "{member}");
        let unknown = DELAYS >> column & 1 != 0 && value == 0 && rows.start_ns[row] < DELAYS_FROM;
        assert_eq!(rows.is_absent(row, column), unknown, "{member}");
    }
    let at = offset_of(version, "ac_comm");
    let name: Vec<u8> = stats[at..at + 16].iter().copied().take_while(|&byte| byte != 0).collect();
    assert_eq!(rows.comm[row][..name.len()], name);
    assert!(rows.comm[row][name.len()..].iter().all(|&byte| byte == 0));
}

#[test]
fn replies() {
    let corpora = corpus(false);
    let (mut structs, mut rows) = (Structs::default(), Rows::new(MEMBERS.len()));
    fuzz("netlink replies", |random| {
        let Corpus { kernel, decoder, replies } = random.pick(&corpora);
        let bytes = message(random, replies);
        let found = parse(&bytes, kernel);
        let wanted = expected(&bytes, kernel);
        let given = found.as_ref().ok().map(|message| {
            let pair = |record: &Record<'_>| {
                assert!(std::ptr::eq(record.stats, &bytes[record.offset..][..record.stats.len()]));
                (record.id, &bytes[record.offset..][..record.stats.len()])
            };
            (pair(&message.thread), message.process.as_ref().map(pair))
        });
        assert_eq!(given, wanted);

        let (port, cut) = (u32::from(random.one_in(20)), random.one_in(20));
        let tid = (!random.one_in(10)).then_some(TID);
        let judged = judge_reply(&Datagram { bytes: &bytes, port, cut }, tid, kernel);
        let version = kernel.layout.version;
        let right = wanted.filter(|(thread, process)| {
            let stats = thread.1;
            Some(thread.0) == tid
                && process.is_none()
                && stats.as_ptr() as usize - bytes.as_ptr() as usize == kernel.payload
                && word(stats, version, "ac_pid") == thread.0
        });
        match judged {
            Ok(Answer::Stats(stats)) => {
                assert!(port == 0 && !cut);
                assert_eq!(Some(stats), right.map(|one| one.0 .1));
                structs.begin(&kernel.layout);
                structs.push(stats);
                rows.clear();
                let before_ns = 1_000_000_000_000;
                decoder.append(&structs, &[(0, 5)], before_ns, &mut rows);
                holds(&rows, 0, stats, version, before_ns);
                true
            }
            Ok(Answer::Error(code)) => {
                assert!(port == 0 && !cut && tid.is_some() && (1..=4095).contains(&code));
                assert_eq!(bytes[4..6], 2_u16.to_ne_bytes());
                assert_eq!(bytes[16..20], (-code).to_ne_bytes());
                let length = u32::from_ne_bytes(bytes[..4].try_into().unwrap()) as usize;
                assert!((20..=bytes.len()).contains(&length));
                false
            }
            Err(refused) => {
                let is_error = error_code(&bytes).is_some_and(|code| code != 0) && tid.is_some();
                assert!(port != 0 || cut || right.is_none() && !is_error, "{refused:?}");
                assert_eq!(refused.0 == Refusal::Sender, port != 0);
                false
            }
        }
    });
}

/// A drain of a few messages, and what is asked of it.
struct Drain<'a> {
    stats: Vec<&'a [u8]>,
    version: u16,
    since_ns: i64,
    before_ns: i64,
    began: [Option<i64>; 2],
}

impl Drain<'_> {
    fn is_member(process: u32) -> bool {
        process == 40 || process == 41
    }

    fn began_ns(&self, process: u32) -> Option<i64> {
        self.began[(process & 1) as usize]
    }

    /// True if a record belongs to a member, by the rule in the docs of `decode`.
    fn is_own(&self, stats: &[u8]) -> bool {
        if self.version < 12 {
            return true;
        }
        let process = word(stats, self.version, "ac_tgid");
        let later = self.began_ns(process).is_some_and(|began_ns| {
            let whole = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into());
            let lived = whole(i128::from(self.since_ns) - i128::from(began_ns));
            let at_least = whole(lived - i128::from(LATE_NS));
            at_least > 0 && i128::from(long(stats, self.version, "ac_tgetime")) < at_least / 1000
        });
        Self::is_member(process) && !later
    }

    fn code(&self, stats: &[u8]) -> Option<ExitCode> {
        let process = if self.version >= 12 {
            let last = stats[offset_of(self.version, "ac_flag")] & 0x20 != 0;
            last.then(|| word(stats, self.version, "ac_tgid"))
        } else {
            Some(word(stats, self.version, "ac_pid")).filter(|&tid| Self::is_member(tid))
        };
        let status = word(stats, self.version, "ac_exitcode");
        process.map(|process| ExitCode { process, status })
    }
}

/// Gives a record, in half of all, ids of members and an age of a process.
fn as_of_member(random: &mut Random, bytes: &mut [u8], kernel: &Kernel) {
    let version = kernel.layout.version;
    let at = kernel.payload;
    if bytes.len() < at + kernel.layout.length || random.one_in(2) {
        return;
    }
    let mut put = |member: &str, value: u64, size: usize| {
        let at = at + offset_of(version, member);
        bytes[at..at + size].copy_from_slice(&value.to_ne_bytes()[..size]);
    };
    put("ac_flag", random.next() & 0x20, 1);
    if version >= 12 {
        put("ac_tgid", 39 + random.below(4) as u64, 4);
        put("ac_tgetime", random.number() % 200_000_000, 8);
    } else if random.one_in(2) {
        put("ac_pid", 40, 4);
        // The id stands in an attribute, too.
        if let Some(id) = bytes[24..36].chunks_exact_mut(4).find(|id| **id == TID.to_ne_bytes()) {
            id.copy_from_slice(&40_u32.to_ne_bytes());
        }
    }
}

#[test]
fn exit_records() {
    let corpora = corpus(true);
    let fields = Fields::new([CPU, "user_cpu_us", "system_cpu_us", "blkio_delay_ns"]).unwrap();
    let (mut records, mut exits) = (Records::default(), Exits::new(MEMBERS.len()));
    fuzz("exit records", |random| {
        let Corpus { kernel, decoder, replies } = random.pick(&corpora);
        let (version, layout) = (kernel.layout.version, &kernel.layout);
        let count = 1 + random.below(3);
        let datagrams: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let mut bytes = message(random, replies);
                as_of_member(random, &mut bytes, kernel);
                bytes
            })
            .collect();
        let mut drain = Drain {
            stats: Vec::new(),
            version,
            since_ns: if random.one_in(4) { random.number() as i64 } else { 100_000_000_000 },
            before_ns: 101_000_000_000,
            began: [0; 2].map(|_| match random.below(3) {
                0 => None,
                1 => Some(random.number() as i64),
                _ => Some(random.below(100_000_000_000) as i64),
            }),
        };
        records.begin(layout, drain.since_ns, drain.before_ns);
        for bytes in &datagrams {
            let port = u32::from(random.one_in(30));
            let right = expected(bytes, kernel)
                .filter(|(thread, _)| word(thread.1, version, "ac_pid") == thread.0 && port == 0)
                .map(|(thread, _)| thread.1);
            let judged = exits::judge(&Datagram { bytes, port, cut: false }, kernel);
            let given = judged.ok().map(|message| message.thread.stats);
            assert_eq!(given, right);
            if let Some(stats) = given {
                records.push(stats, 0, 1);
                drain.stats.push(stats);
            }
        }
        exits.rows.clear();
        exits.age_us.clear();
        let mut codes = Vec::new();
        let began = |process| drain.began_ns(process);
        records.decode(layout, decoder, Drain::is_member, began, &mut exits, &mut codes);

        let own: Vec<&[u8]> =
            drain.stats.iter().copied().filter(|stats| drain.is_own(stats)).collect();
        assert_eq!((exits.rows.len(), exits.age_us.len()), (own.len(), own.len()));
        let mut wanted: Vec<ExitCode> = Vec::new();
        for (row, stats) in own.iter().enumerate() {
            holds(&exits.rows, row, stats, version, drain.before_ns);
            assert_eq!(exits.age_us[row], long(stats, version, "ac_etime"));
            if let Some(code) = drain.code(stats) {
                wanted.retain(|one| one.process != code.process);
                wanted.push(code);
            }
        }
        assert_eq!(codes, wanted);

        with_tick_time(&mut exits.rows, &fields);
        for (row, stats) in own.iter().enumerate() {
            let [run, user, system] = [0, 1, 2].map(|n| long(stats, version, MEMBERS[n]));
            let ticks_ns = (u128::from(user) + u128::from(system)) * 1000;
            let wanted = u128::from(run).max(ticks_ns).min(u64::MAX.into());
            assert_eq!(u128::from(exits.rows.get(row, 0)), wanted);
            assert_eq!(exits.rows.invalid[row] & 1 != 0, wanted != u128::from(run));
        }
        !own.is_empty()
    });
}
