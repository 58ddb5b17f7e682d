//! Strict parsers of files in /proc. Sources: proc_pid_stat(5), proc_pid_status(5), proc_pid_io(5).
//!
//! None is returned for any text that is not as the kernel writes it, or has a number beyond 64 bits.

const PF_EXITING: u64 = 0x4;
const STATUS_LABELS: [&[u8]; 2] = [b"voluntary_ctxt_switches:", b"nonvoluntary_ctxt_switches:"];
const IO_LABELS: [&[u8]; 7] = [
    b"rchar:",
    b"wchar:",
    b"syscr:",
    b"syscw:",
    b"read_bytes:",
    b"write_bytes:",
    b"cancelled_write_bytes:",
];

/// Fields of a stat line; times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat<'a> {
    /// Thread id or process id.
    pub id: u32,
    /// Name, at most 15 bytes (kernel threads: up to 63); it may have blanks and parentheses in it.
    pub name: &'a [u8],
    /// One letter; Z is a zombie.
    pub state: u8,
    /// PF_ flags of include/linux/sched.h.
    pub flags: u64,
    /// Page faults without input.
    pub minor_faults: u64,
    /// Page faults that read a page.
    pub major_faults: u64,
    /// Time in user mode.
    pub user_ticks: u64,
    /// Time in the kernel.
    pub system_ticks: u64,
    /// Threads of the process that live; a zombie counts itself.
    pub threads: u64,
    /// Start, on CLOCK_BOOTTIME.
    pub start_ticks: u64,
}

impl Stat<'_> {
    /// True for a zombie, or a thread that is being removed.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    /// True if nothing of the process runs any more. A main thread that ended before the others is a
    /// zombie, but still counts them.
    pub fn has_ended(&self) -> bool {
        self.is_dead() && self.threads <= 1
    }

    /// True once the thread has begun to end, before its exit record is sent.
    pub fn is_exiting(&self) -> bool {
        self.flags & PF_EXITING != 0 || self.is_dead()
    }

    /// Writes faults, and times in microseconds, in the order of the catalogue's keys.
    pub(super) fn write(&self, us_per_tick: u64, into: &mut [u64]) {
        let user = self.user_ticks.saturating_mul(us_per_tick);
        let system = self.system_ticks.saturating_mul(us_per_tick);
        into.copy_from_slice(&[self.minor_faults, self.major_faults, user, system]);
    }
}

/// Parses a stat line.
pub fn parse_stat(line: &[u8]) -> Option<Stat<'_>> {
    let opening = line.iter().position(|&byte| byte == b'(')?;
    let closing = line.iter().rposition(|&byte| byte == b')')?;
    let name = line.get(opening + 1..closing)?;
    let id = u32::try_from(number(line[..opening].trim_ascii())?).ok()?;
    // Fields behind the name; proc_pid_stat(5) counts the state as field 3.
    let mut fields = words(&line[closing + 1..]).zip(3..);
    let mut field = |wanted| fields.find(|&(_, at)| at == wanted).map(|(word, _)| word);
    let &[state] = field(3)? else { return None };
    let stat = Stat {
        id,
        name,
        state,
        flags: number(field(9)?)?,
        minor_faults: number(field(10)?)?,
        major_faults: number(field(12)?)?,
        user_ticks: number(field(14)?)?,
        system_ticks: number(field(15)?)?,
        threads: number(field(20)?)?,
        start_ticks: number(field(22)?)?,
    };
    // The line goes on: one that was cut off here has a number of which digits are missing.
    field(24)?;
    Some(stat)
}

/// Parses schedstat: time on a CPU and in a run queue, nanoseconds, and how often it came onto a CPU.
pub fn parse_schedstat(text: &[u8]) -> Option<[u64; 3]> {
    let mut words = words(whole(text)?);
    let found = [number(words.next()?)?, number(words.next()?)?, number(words.next()?)?];
    words.next().is_none().then_some(found)
}

/// Parses the last two lines of status: voluntary and involuntary switches.
///
/// A line break in the name is escaped, so that no name looks like these lines.
pub fn parse_status(text: &[u8]) -> Option<[u64; 2]> {
    let label = STATUS_LABELS[0];
    let at =
        text.windows(label.len() + 1).rposition(|part| part[0] == b'\n' && &part[1..] == label)?;
    labelled(&text[at..], &STATUS_LABELS)
}

/// Parses io: the seven counters in the order of its lines.
pub fn parse_io(text: &[u8]) -> Option<[u64; 7]> {
    labelled(text, &IO_LABELS)
}

/// Parses the id of the process out of status.
pub fn parse_thread_group(text: &[u8]) -> Option<u32> {
    let label = b"\nTgid:";
    let at = text.windows(label.len()).position(|part| part == label)?;
    let line = text[at + label.len()..].split(|&byte| byte == b'\n').next()?;
    u32::try_from(number(line.trim_ascii())?).ok()
}

/// Values of lines with these labels; what follows them is passed over.
fn labelled<const N: usize>(text: &[u8], labels: &[&[u8]; N]) -> Option<[u64; N]> {
    let mut words = words(whole(text)?);
    let mut found = [0; N];
    for (value, label) in found.iter_mut().zip(labels) {
        if words.next()? != *label {
            return None;
        }
        *value = number(words.next()?)?;
    }
    Some(found)
}

/// A text that ends with a line break: otherwise digits of its last number may be missing.
fn whole(text: &[u8]) -> Option<&[u8]> {
    text.ends_with(b"\n").then_some(text)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u64> {
    let digits = word.iter().all(u8::is_ascii_digit) && !word.is_empty();
    std::str::from_utf8(word).ok().filter(|_| digits)?.parse().ok()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
