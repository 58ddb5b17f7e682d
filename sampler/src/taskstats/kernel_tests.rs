//! Against the running kernel, where it has taskstats and the tests may use it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::testing::{layout, message, Record};
use super::*;
use crate::columns::Exits;
use crate::os::clock::monotonic_ns;
use crate::os::socket::testing::{open_generic_netlink, port, send_to};
use crate::os::socket::{send, Slots};
use crate::procfs::Procfs;

const GENL_ID_CTRL: u16 = 16;
const BUFFER_BYTES: i32 = 8 << 20;
/// Columns that both sources have, and that only grow: member of the struct, key in /proc.
const BOTH: [(&str, &str); 7] = [
    ("cpu_run_virtual_total", "schedstat[0]"),
    ("cpu_delay_total", "schedstat[1]"),
    ("cpu_count", "schedstat[2]"),
    ("nvcsw", "status[voluntary_ctxt_switches]"),
    ("nivcsw", "status[nonvoluntary_ctxt_switches]"),
    ("ac_minflt", "stat[minflt]"),
    ("ac_majflt", "stat[majflt]"),
];

fn own_tid() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Sends one message and receives one answer.
fn talk(socket: &OwnedFd, request: &[u8]) -> Vec<u8> {
    let mut slots = Slots::new(4, 8192);
    send(socket.as_fd(), request).unwrap();
    assert!(slots.receive(socket.as_fd()).unwrap() > 0);
    slots.datagram(0).bytes.to_vec()
}

/// A generic netlink request with one attribute.
fn command(family: u16, command: u8, attribute: u16, payload: &[u8]) -> Vec<u8> {
    let body = testing::attribute(attribute, payload);
    let mut made = testing::with_type(message(1, &body), family);
    made[6] = 1 | 4; // NLM_F_REQUEST, NLM_F_ACK
    made[16] = command;
    made
}

/// The taskstats of this kernel; None if there is none, or it may not be used.
fn probe() -> Option<Kernel> {
    let socket = open_generic_netlink(1 << 16).ok()?;
    // CTRL_CMD_GETFAMILY with CTRL_ATTR_FAMILY_NAME; the answer has CTRL_ATTR_FAMILY_ID.
    let answer = talk(&socket, &command(GENL_ID_CTRL, 3, 2, b"TASKSTATS\0"));
    let mut at = 20;
    let mut family = None;
    while let Some(header) = answer.get(at..at + 6) {
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        if u16::from_ne_bytes([header[2], header[3]]) == 1 {
            family = Some(u16::from_ne_bytes([header[4], header[5]]));
        }
        at += length.max(4).next_multiple_of(4);
    }
    let family = family?;
    let tid = own_tid();
    let reply = talk(&socket, &messages::request(family, 1, tid));
    if let Some(code) = messages::error_code(&reply) {
        eprintln!("taskstats answers {code}: not tested");
        return None;
    }
    let payload = if reply.len() % 8 == 4 { 36 } else { 40 };
    let version = u16::from_ne_bytes([reply[payload], reply[payload + 1]]);
    let kernel = Kernel { family, payload, layout: layout(version) };
    let found = messages::parse(&reply, &kernel).unwrap();
    assert_eq!(kernel.layout.thread_of(found.thread.stats), tid);
    Some(kernel)
}

fn query(kernel: &Kernel) -> (SharedQuery, u32) {
    let socket = open_generic_netlink(BUFFER_BYTES).unwrap();
    let port = port(socket.as_fd());
    (Arc::new(Mutex::new(Query::new(kernel.clone(), socket))), port)
}

fn source(kernel: &Kernel) -> Taskstats {
    let decoder = Decoder::new(&kernel.layout, BOTH.map(|(member, _)| member), 0, 0).unwrap();
    Taskstats::new(query(kernel).0, decoder, Path::new("/proc"))
}

/// A socket for each CPU, registered for its exit records.
fn listener(kernel: &Kernel, buffer_bytes: i32) -> (ExitListener, Vec<u32>) {
    let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap();
    let (first, last) = possible.trim().split_once('-').unwrap_or(("0", "0"));
    let cpus = first.parse::<u16>().unwrap()..=last.parse().unwrap();
    let mut ports = Vec::new();
    let sockets = cpus
        .map(|cpu| {
            let socket = open_generic_netlink(buffer_bytes).unwrap();
            let mask = format!("{cpu}\0");
            // TASKSTATS_CMD_ATTR_REGISTER_CPUMASK
            talk(&socket, &command(kernel.family, 1, 3, mask.as_bytes()));
            ports.push(port(socket.as_fd()));
            (cpu, socket)
        })
        .collect();
    (ExitListener::new(kernel.clone(), sockets).unwrap(), ports)
}

/// Threads that wait until they are let go; their ids.
fn waiting_threads(count: usize) -> (Vec<u32>, Sender<()>, Vec<std::thread::JoinHandle<()>>) {
    let (let_go, released) = channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let (tell, tids) = channel();
    let threads = (0..count)
        .map(|_| {
            let (tell, released) = (tell.clone(), Arc::clone(&released));
            std::thread::spawn(move || {
                tell.send(own_tid()).unwrap();
                // Woken up with an error, as the sender is dropped.
                let _ = released.lock().unwrap().recv();
            })
        })
        .collect();
    let tids = (0..count).map(|_| tids.recv().unwrap()).collect();
    (tids, let_go, threads)
}

fn drain_until(listener: &mut ExitListener, mut found: impl FnMut(&Records) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut records = Records::default();
    loop {
        listener.drain(&mut records).unwrap();
        if found(&records) {
            return;
        }
        assert!(Instant::now() < deadline, "no exit record came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn both_sources_agree() {
    let Some(kernel) = probe() else { return };
    let (tids, let_go, threads) = waiting_threads(300);
    let mut taskstats = source(&kernel);
    let mut procfs = Procfs::new(Path::new("/proc"), BOTH.map(|(_, key)| key)).unwrap();
    let members = [std::process::id()];
    let read = |source: &mut dyn Source| {
        let mut rows = Rows::new(BOTH.len());
        source.read(&members, &mut rows).unwrap();
        rows
    };
    let before = read(&mut procfs);
    let middle = read(&mut taskstats);
    let after = read(&mut procfs);
    for &tid in tids.iter().chain(&[own_tid()]) {
        let [low, said, high] = [&before, &middle, &after]
            .map(|rows| (rows, rows.tid.iter().position(|&t| t == tid).unwrap()));
        for (column, (member, _)) in BOTH.iter().enumerate() {
            let [low, said, high] = [low, said, high].map(|(rows, row)| rows.get(row, column));
            assert!(low <= said && said <= high, "{member} of {tid}: {low}, {said}, {high}");
        }
        assert_eq!(middle.comm[said.1], before.comm[low.1]);
        assert_eq!(middle.process[said.1], members[0]);
        let apart_ns = middle.start_ns[said.1] - before.start_ns[low.1];
        assert!(apart_ns.abs() < 1_000_000_000, "{apart_ns}");
        assert!(middle.seen_ns[said.1] <= monotonic_ns());
    }
    assert!(taskstats.listed().unwrap().len() >= 300);
    let shared = Arc::clone(&taskstats.query);
    let refused = shared.lock().unwrap().refused.clone();
    assert_eq!(refused.total(), 0, "{refused:?}");
    drop(let_go);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // All of them have gone, and one that is there is asked about between them.
    let mut rows = Rows::new(BOTH.len());
    taskstats.ask(&[&tids[..], &[own_tid()]].concat(), &mut rows).unwrap();
    assert!(rows.tid.contains(&own_tid()) && rows.len() < 300);
    let refused = shared.lock().unwrap().refused.clone();
    assert_eq!(refused.total(), 0, "{refused:?}");
}

#[test]
fn threads_of_several_processes_are_distinguished() {
    let Some(kernel) = probe() else { return };
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut members = vec![std::process::id(), child.id(), 4_194_303];
    members.sort_unstable();
    let mut taskstats = source(&kernel);
    let mut rows = Rows::new(BOTH.len());
    taskstats.read(&members, &mut rows).unwrap();
    let row = rows.tid.iter().position(|&tid| tid == child.id()).unwrap();
    assert_eq!(rows.process[row], child.id());
    assert!(rows.process.contains(&std::process::id()));
    child.kill().unwrap();
    // A zombie is still listed, and taskstats still answers for it.
    child.wait().unwrap();
    rows.clear();
    taskstats.read(&[child.id()], &mut rows).unwrap();
    assert!(rows.is_empty());
    rows.clear();
    taskstats.read(&[], &mut rows).unwrap();
    assert!(rows.is_empty());
}

#[test]
fn a_forged_answer_is_refused_and_the_kernels_believed() {
    let Some(kernel) = probe() else { return };
    let (query, port) = query(&kernel);
    let decoder = Decoder::new(&kernel.layout, ["cpu_run_virtual_total"], 0, 0).unwrap();
    let mut taskstats = Taskstats::new(Arc::clone(&query), decoder, Path::new("/proc"));
    let other = open_generic_netlink(1 << 16).unwrap();
    let version = kernel.layout.version;
    // The kernel counts time on a CPU at ticks and switches.
    std::thread::sleep(Duration::from_millis(1));
    let forged = Record { version, ..Record::of(own_tid()) }.with("cpu_run_virtual_total", 7);
    for sequence in [1, 2] {
        let forged = testing::with_type(forged.reply(sequence), kernel.family);
        if send_to(other.as_fd(), port, &forged).is_err() {
            return; // may not send to others
        }
        let mut rows = Rows::new(1);
        taskstats.ask(&[own_tid()], &mut rows).unwrap();
        assert!(rows.get(0, 0) > 7);
        let query = query.lock().unwrap();
        assert_eq!(query.refused.count(Refusal::Sender), u64::from(sequence));
        assert_eq!(query.refused.total(), u64::from(sequence));
    }
}

#[test]
fn exit_records_of_threads_and_processes_come_and_forged_ones_are_refused() {
    let Some(kernel) = probe() else { return };
    let (mut listener, ports) = listener(&kernel, 64 << 20);
    let forged = Record { version: kernel.layout.version, ..Record::of(std::process::id()) };
    let forged = testing::with_type(forged.exit(1, None), kernel.family);
    let other = open_generic_netlink(1 << 16).unwrap();
    let was_sent = send_to(other.as_fd(), ports[0], &forged).is_ok();
    let layout = kernel.layout.clone();
    let decoder = Decoder::new(&layout, BOTH.map(|(member, _)| member), 0, 0).unwrap();
    let began_ns = monotonic_ns();
    let (mut tids, let_go, threads) = waiting_threads(50);
    let mut child = std::process::Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
    let pid = child.id();
    drop(let_go);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    child.wait().unwrap();
    tids.push(pid);
    let (mut exits, mut codes) = (Exits::new(BOTH.len()), Vec::new());
    let is_member = |process| process == pid || process == std::process::id();
    drain_until(&mut listener, |records| {
        assert_eq!(records.lost, 0);
        records.decode(&layout, &decoder, is_member, |_| None, &mut exits, &mut codes);
        tids.iter().all(|tid| exits.rows.tid.contains(tid))
    });
    for row in (0..exits.rows.len()).filter(|&row| tids.contains(&exits.rows.tid[row])) {
        let wanted = if exits.rows.tid[row] == pid { pid } else { std::process::id() };
        assert_eq!(exits.rows.process[row], wanted);
        // A start is late by the time to the drain, and early by the time that the drain took.
        assert!(exits.rows.start_ns[row] >= began_ns - 1_000_000_000);
        assert!(exits.rows.start_ns[row] < exits.drained_ns);
        assert!(exits.age_us[row] < 30_000_000);
    }
    assert_eq!(codes.iter().find(|code| code.process == pid).map(|code| code.status), Some(3 << 8));
    assert_eq!(listener.refused.total(), u64::from(was_sent));
    assert_eq!(listener.lost, 0);
}

#[test]
fn exits_of_other_processes_are_left_out_by_the_kernel() {
    let Some(kernel) = probe() else { return };
    let (mut listener, _) = listener(&kernel, 64 << 20);
    let layout = kernel.layout.clone();
    let own = std::process::id();
    listener.keep_only(Some(&[own])).unwrap();
    if !listener.filters() {
        return;
    }
    listener.drain(&mut Records::default()).unwrap();
    std::process::Command::new("true").status().unwrap();
    let tid = std::thread::spawn(own_tid).join().unwrap();
    drain_until(&mut listener, |records| {
        let rows = 0..records.len();
        assert!(rows.clone().all(|row| records.process(&layout, row) == own));
        // Records that are left out on purpose do not count as lost.
        assert_eq!(records.lost, 0);
        rows.into_iter().any(|row| records.tid(&layout, row) == tid)
    });
    listener.keep_only(None).unwrap();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    drain_until(&mut listener, |records| {
        (0..records.len()).any(|row| records.tid(&layout, row) == child.id())
    });
}

#[test]
fn records_that_do_not_fit_are_lost_exactly() {
    const THREADS: usize = 400;
    let Some(kernel) = probe() else { return };
    let (mut small, _) = listener(&kernel, 16 << 10);
    let (mut large, _) = listener(&kernel, 64 << 20);
    let own = std::process::id();
    for listener in [&mut small, &mut large] {
        listener.keep_only(Some(&[own])).unwrap();
        listener.drain(&mut Records::default()).unwrap();
    }
    let begun = (small.received + small.lost, large.received + large.lost);
    let tids: Vec<u32> =
        (0..THREADS).map(|_| std::thread::spawn(own_tid).join().unwrap()).collect();
    let layout = kernel.layout.clone();
    let mut left: std::collections::HashSet<u32> = tids.into_iter().collect();
    drain_until(&mut large, |records| {
        left.retain(|&tid| (0..records.len()).all(|row| records.tid(&layout, row) != tid));
        left.is_empty()
    });
    assert!(large.lost == 0 && large.received - begun.1 >= THREADS as u64);
    // Other tests end threads of this process meanwhile. The last record may come a moment later here.
    let mut counted = begun.0;
    drain_until(&mut small, |records| {
        counted += records.len() as u64 + records.lost;
        counted - begun.0 >= THREADS as u64
    });
    assert!(small.lost > 0);
}
