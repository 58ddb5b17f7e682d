use super::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const KEYS: [&str; 16] = [
    "schedstat[0]",
    "schedstat[1]",
    "schedstat[2]",
    "stat[utime]",
    "stat[stime]",
    "status[voluntary_ctxt_switches]",
    "status[nonvoluntary_ctxt_switches]",
    "stat[minflt]",
    "stat[majflt]",
    "io[rchar]",
    "io[wchar]",
    "io[syscr]",
    "io[syscw]",
    "io[read_bytes]",
    "io[write_bytes]",
    "io[cancelled_write_bytes]",
];
const IO: &str = "rchar: 11\nwchar: 22\nsyscr: 33\nsyscw: 44\nread_bytes: 55\nwrite_bytes: 66\n\
    cancelled_write_bytes: 77\n";

/// A folder that looks like /proc.
struct FakeProc(PathBuf);

impl FakeProc {
    fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("fake-proc-{}-{number}", std::process::id()));
        std::fs::create_dir(&root).unwrap();
        let proc = Self(root);
        proc.thread(70, 70, &stat(70, "main", "S", "0 0 0 0 0 0", 1, 100));
        proc.thread(70, 71, &stat(71, "worker (1)", "S", "4 0 5 0 6 7", 1, 300));
        proc
    }

    fn write(&self, relative: &str, content: &str) {
        let path = self.0.join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn thread(&self, process: u32, tid: u32, stat: &str) {
        let status = format!(
            "Name:\tx\nTgid:\t{process}\nvoluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n"
        );
        // Every thread has a folder of its own, which is only not listed.
        for folder in [format!("{process}/task/{tid}"), format!("{tid}/task/{tid}")] {
            self.write(&format!("{folder}/stat"), stat);
            self.write(&format!("{folder}/status"), &status);
            self.write(&format!("{folder}/io"), IO);
            self.write(&format!("{folder}/schedstat"), "18446744073709551615 1002 1003\n");
        }
        self.write(&format!("{tid}/status"), &status);
        self.write(&format!("{tid}/stat"), stat);
    }

    fn remove(&self, relative: &str) {
        let path = self.0.join(relative);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }

    fn source(&self) -> Procfs {
        Procfs::new(&self.0, KEYS).unwrap()
    }
}

impl Drop for FakeProc {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A stat line; `middle` are the fields from minflt to stime.
fn stat(tid: u32, name: &str, state: &str, middle: &str, threads: u32, start: u64) -> String {
    let behind = "0 ".repeat(30);
    format!("{tid} ({name}) {state} 0 0 0 0 0 0 {middle} 0 0 0 0 {threads} 0 {start} {behind}\n")
}

fn read(source: &mut Procfs, members: &[u32]) -> Rows {
    let mut rows = Rows::new(KEYS.len());
    source.read(members, &mut rows).unwrap();
    rows
}

fn sorted(rows: &Rows) -> Vec<u32> {
    let mut tids = rows.tid.clone();
    tids.sort_unstable();
    tids
}

#[test]
fn every_column_is_read_from_its_file() {
    let proc = FakeProc::new();
    let mut source = proc.source();
    let rows = read(&mut source, &[70]);
    assert_eq!((sorted(&rows), source.origin().name()), (vec![70, 71], "procfs"));
    let row = rows.tid.iter().position(|&tid| tid == 71).unwrap();
    let tick_us = 1_000_000 / ticks_per_second();
    let values: Vec<u64> = (0..KEYS.len()).map(|column| rows.get(row, column)).collect();
    let (cpu, times) = ([u64::MAX, 1002, 1003], [6 * tick_us, 7 * tick_us]);
    let rest = [8, 9, 4, 5, 11, 22, 33, 44, 55, 66, 77];
    assert_eq!(values, [&cpu[..], &times, &rest].concat());
    assert_eq!((rows.process[row], rows.absent[row]), (70, 0));
    assert_eq!(rows.comm[row], comm(b"worker (1)"));
    let start_ns = monotonic_ns_of(300, Suspended::default().nanoseconds());
    assert!((rows.start_ns[row] - start_ns).abs() < 1_000_000);
    assert!(rows.seen_ns[row] >= rows.start_ns[row] && rows.seen_ns[row] <= monotonic_ns());
    assert_eq!(source.listed().unwrap().len(), 2);
    // Starts do not move, though they come from the difference of two clocks.
    assert_eq!(read(&mut source, &[70]).start_ns, rows.start_ns);
}

#[test]
fn only_files_with_columns_are_read() {
    let proc = FakeProc::new();
    for file in ["io", "schedstat"] {
        proc.remove(&format!("70/task/71/{file}"));
    }
    let mut source = Procfs::new(&proc.0, ["status[voluntary_ctxt_switches]"]).unwrap();
    let mut rows = Rows::new(3);
    source.read(&[70], &mut rows).unwrap();
    assert_eq!((sorted(&rows), rows.column(0)), (vec![70, 71], &[8, 8][..]));
    assert_eq!(rows.column(2).len(), 2);
}

#[test]
fn a_key_that_is_not_known_is_refused() {
    for key in ["io", "io[", "io[x]", "stat[0]", "maps[0]", ""] {
        assert!(Procfs::new(Path::new("/proc"), [key]).is_err(), "{key}");
    }
}

#[test]
fn a_thread_that_vanishes_between_two_of_its_files_is_left_out() {
    for file in ["stat", "status", "io", "schedstat"] {
        let proc = FakeProc::new();
        proc.remove(&format!("70/task/71/{file}"));
        assert_eq!(read(&mut proc.source(), &[70]).tid, [70], "{file}");
    }
}

#[test]
fn processes_that_have_gone_are_left_out() {
    let proc = FakeProc::new();
    proc.thread(80, 80, &stat(80, "other", "S", "0 0 0 0 0 0", 1, 100));
    let mut source = proc.source();
    let rows = read(&mut source, &[60, 70, 80, 90]);
    assert_eq!(sorted(&rows), [70, 71, 80]);
    let row = rows.tid.iter().position(|&tid| tid == 80).unwrap();
    assert_eq!(rows.process[row], 80);
    proc.remove("70");
    assert_eq!(read(&mut source, &[60, 70, 80, 90]).tid, [80]);
    proc.remove("80");
    assert!(read(&mut source, &[70, 80]).is_empty());
    // The id stands for another process, which the caller means.
    proc.thread(80, 80, &stat(80, "later", "S", "0 0 0 0 0 0", 1, 900));
    assert_eq!(read(&mut source, &[70, 80]).comm, [comm(b"later")]);
}

#[test]
fn what_is_left_of_a_process_that_has_ended_is_left_out() {
    let proc = FakeProc::new();
    proc.write("70/task/70/stat", &stat(70, "main", "Z", "0 0 0 0 0 0", 1, 100));
    assert_eq!(read(&mut proc.source(), &[70]).tid, [71]);
    // A main thread that ended before the others is there.
    proc.write("70/task/70/stat", &stat(70, "main", "Z", "0 0 0 0 0 0", 2, 100));
    assert_eq!(sorted(&read(&mut proc.source(), &[70])), [70, 71]);
}

#[test]
fn a_file_that_is_not_understood_is_an_error() {
    for file in ["stat", "status", "io", "schedstat"] {
        let proc = FakeProc::new();
        proc.write(&format!("70/task/71/{file}"), "nonsense\n");
        let mut rows = Rows::new(KEYS.len());
        let message = proc.source().read(&[70], &mut rows).unwrap_err().to_string();
        assert!(message.contains(&format!("file {file} of thread 71")), "{message}");
    }
}

#[test]
fn processes_that_cannot_be_listed_are_an_error_if_there_are_no_others() {
    let proc = FakeProc::new();
    proc.write("90/task", "no folder");
    let mut source = proc.source();
    let mut rows = Rows::new(KEYS.len());
    let message = source.read(&[90], &mut rows).unwrap_err().to_string();
    assert!(message.contains("process 90"), "{message}");
    assert_eq!(sorted(&read(&mut source, &[70, 90])), [70, 71]);
}

#[test]
fn more_processes_than_folders_that_stay_open_are_read() {
    let proc = FakeProc::new();
    let members: Vec<u32> = (100..120).collect();
    for &process in &members {
        proc.thread(process, process, &stat(process, "x", "S", "0 0 0 0 0 0", 1, 1));
    }
    let mut source = proc.source();
    for _ in 0..2 {
        assert_eq!(read(&mut source, &members).tid, members);
    }
    assert_eq!(read(&mut source, &members[5..]).tid, members[5..]);
}

#[test]
fn the_presence_of_threads() {
    let proc = FakeProc::new();
    let found = |tid| presence(&proc.0, tid, &[60, 70]);
    assert_eq!(
        [found(70), found(71), found(72)],
        [Presence::Alive, Presence::Alive, Presence::Gone]
    );
    assert_eq!(presence(&proc.0, 71, &[60, 80]), Presence::Gone);
    proc.write("71/task/71/stat", &stat(71, "x", "Z", "0 0 0 0 0 0", 2, 100));
    assert_eq!(found(71), Presence::Exiting);
    let exiting = stat(71, "x", "S", "0 0 0 0 0 0", 2, 100).replace("0 0 0 0 0 0 ", "0 0 0 0 0 4 ");
    proc.write("71/task/71/stat", &exiting);
    assert_eq!(found(71), Presence::Exiting);
    proc.remove("71/task/71/stat");
    assert_eq!(found(71), Presence::Gone);
    proc.write("71/task/71/stat", "nonsense");
    assert_eq!(found(71), Presence::Gone);
    // A file that cannot be read is no evidence against the thread.
    proc.write("72", "no folder");
    assert_eq!(found(72), Presence::Alive);
}

#[test]
fn the_presence_of_this_thread() {
    let proc = Path::new("/proc");
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    let tid: u32 = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let own = std::process::id();
    assert_eq!(presence(proc, tid, &[own]), Presence::Alive);
    assert_eq!(presence(proc, tid, &[]), Presence::Gone);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while presence(proc, child.id(), &[child.id()]) != Presence::Exiting {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
    child.wait().unwrap();
    assert_eq!(presence(proc, child.id(), &[child.id()]), Presence::Gone);
}

#[test]
fn the_start_of_a_process() {
    let proc = FakeProc::new();
    assert_eq!(start_ticks(&proc.0, 71).unwrap(), Some(300));
    assert_eq!(start_ticks(&proc.0, 72).unwrap(), None);
    proc.write("72/stat", "nonsense");
    assert!(start_ticks(&proc.0, 72).is_err());
    assert!(start_ticks(Path::new("/proc"), std::process::id()).unwrap().unwrap() > 0);
    assert_eq!(monotonic_ns_of(u64::MAX, 0), i64::MAX);
    assert_eq!(monotonic_ns_of(5 * ticks_per_second(), 1_000_000_000), 4_000_000_000);
}
