//! The commands of bpf(2) that the sampler needs for maps and programs that Python has loaded.

use std::io;
use std::mem::size_of_val;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::memory::Word;

const MAP_LOOKUP_ELEM: libc::c_int = 1;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const MAP_DELETE_ELEM: libc::c_int = 3;
const PROG_TEST_RUN: libc::c_int = 10;
const LINK_CREATE: libc::c_int = 28;
const ITER_CREATE: libc::c_int = 33;
const TRACE_ITER: u32 = 28;
const NO_EXIST: u64 = 1;

/// The part of union bpf_attr for elements of maps (include/uapi/linux/bpf.h).
#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The part of union bpf_attr for BPF_PROG_TEST_RUN.
#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    result: u32,
    data_in_bytes: u32,
    data_out_bytes: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    took_ns: u32,
    context_in_bytes: u32,
    context_out_bytes: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch: u32,
    pad: u32,
}

/// The part of union bpf_attr for BPF_ITER_CREATE.
#[repr(C)]
struct Iterator {
    link: u32,
    flags: u32,
}

/// Sets an entry of a map; a queue has no key.
///
/// # Errors
/// The error of bpf(2).
pub fn set<K: Word, V: Word>(map: BorrowedFd<'_>, key: Option<&K>, value: &V) -> io::Result<()> {
    update(map, key, value, 0)
}

/// Makes an entry of a map unless it is there; false if it was.
///
/// # Errors
/// The error of bpf(2).
pub fn add<K: Word, V: Word>(map: BorrowedFd<'_>, key: &K, value: &V) -> io::Result<bool> {
    match update(map, Some(key), value, NO_EXIST) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes an entry of a map; false if it was not there.
pub fn remove<K: Word>(map: BorrowedFd<'_>, key: &K) -> bool {
    let element = Element { map: number(map), key: address(key), ..Element::default() };
    // SAFETY: the kernel reads one key of the map's key size, and callers give maps of such keys.
    unsafe { call(MAP_DELETE_ELEM, &element) }.is_ok()
}

/// Copies an entry of a map; None if there is none.
pub fn get<K: Word, V: Word + Default>(map: BorrowedFd<'_>, key: &K) -> Option<V> {
    let mut value = V::default();
    let element = Element {
        map: number(map),
        key: address(key),
        value: std::ptr::from_mut(&mut value) as u64,
        ..Element::default()
    };
    // SAFETY: the kernel reads one key and writes one value of the map's sizes, and callers give maps of
    // such keys and values.
    unsafe { call(MAP_LOOKUP_ELEM, &element) }.is_ok().then_some(value)
}

/// Runs a program of type syscall once; it may write to its context.
///
/// # Errors
/// The error of bpf(2).
pub fn run<const N: usize>(program: BorrowedFd<'_>, context: &mut [u32; N]) -> io::Result<()> {
    let run = Run {
        program: number(program),
        context_in: context.as_mut_ptr() as u64,
        context_in_bytes: u32::try_from(size_of_val(context)).unwrap_or(0),
        ..Run::default()
    };
    // SAFETY: a program of type syscall reads and writes as many bytes of its context as are said here.
    unsafe { call(PROG_TEST_RUN, &run) }.map(drop)
}

/// Opens a walk over an iterator link; each read(2) of it goes on with the walk.
///
/// # Errors
/// The error of bpf(2).
pub fn iterate(link: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let iterator = Iterator { link: number(link), flags: 0 };
    // SAFETY: the command reads nothing but these two words.
    let made = unsafe { call(ITER_CREATE, &iterator) }?;
    // SAFETY: the kernel has made this descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn update<K: Word, V: Word>(
    map: BorrowedFd<'_>,
    key: Option<&K>,
    value: &V,
    flags: u64,
) -> io::Result<()> {
    let element = Element {
        map: number(map),
        pad: 0,
        key: key.map_or(0, address),
        value: address(value),
        flags,
    };
    // SAFETY: the kernel reads one key and one value of the map's sizes, and callers give maps of such
    // keys and values.
    unsafe { call(MAP_UPDATE_ELEM, &element) }.map(drop)
}

fn number(descriptor: BorrowedFd<'_>) -> u32 {
    u32::try_from(descriptor.as_raw_fd()).unwrap_or(u32::MAX)
}

fn address<T>(value: &T) -> u64 {
    std::ptr::from_ref(value) as u64
}

/// # Safety
/// What `attributes` points to is as long as the command reads or writes.
unsafe fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: `attributes` is a part of union bpf_attr of the length that is given; the rest holds by the
    // contract of this function.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>())
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    RawFd::try_from(result).map_err(io::Error::other)
}

/// The part of union bpf_attr for BPF_LINK_CREATE of an iterator.
#[repr(C)]
struct IteratorLink {
    program: u32,
    target: u32,
    kind: u32,
    flags: u32,
    info: u64,
    info_bytes: u32,
    pad: u32,
}

/// union bpf_iter_link_info, its member task.
#[repr(C)]
struct TasksOf {
    tid: u32,
    pid: u32,
    pid_fd: u32,
    pad: u32,
}

/// Makes an iterator over the threads of a process, which calls a program for each thread.
///
/// # Errors
/// The error of bpf(2); before Linux 6.1 there are no iterators over one process.
pub fn iterator_of_process(program: BorrowedFd<'_>, pid: u32) -> io::Result<OwnedFd> {
    let tasks = TasksOf { tid: 0, pid, pid_fd: 0, pad: 0 };
    let link = IteratorLink {
        program: number(program),
        target: 0,
        kind: TRACE_ITER,
        flags: 0,
        info: address(&tasks),
        info_bytes: u32::try_from(size_of::<TasksOf>()).unwrap_or(0),
        pad: 0,
    };
    // SAFETY: the kernel reads `info_bytes` bytes at `info`, which outlives the call.
    let made = unsafe { call(LINK_CREATE, &link) }?;
    // SAFETY: the kernel has made this descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}
