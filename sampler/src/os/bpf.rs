//! The commands of bpf(2) that the sampler needs for maps and programs that Python has loaded.

use std::io;
use std::mem::size_of_val;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::memory::Word;

const MAP_LOOKUP_ELEM: libc::c_int = 1;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const MAP_DELETE_ELEM: libc::c_int = 3;
const PROG_TEST_RUN: libc::c_int = 10;
const MAP_LOOKUP_BATCH: libc::c_int = 24;
const MAP_DELETE_BATCH: libc::c_int = 27;
const LINK_CREATE: libc::c_int = 28;
const ITER_CREATE: libc::c_int = 33;
const NO_EXIST: u64 = 1;
/// BPF_TRACE_ITER of enum bpf_attach_type.
const TRACE_ITER: u32 = 28;
/// Entries that one batch of a hash map holds.
const BATCH: usize = 1024;

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

/// The part of union bpf_attr for batches of elements of maps.
#[repr(C)]
#[derive(Default)]
struct Batch {
    begin: u64,
    end: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

/// The part of union bpf_attr for BPF_LINK_CREATE of an iterator.
#[repr(C)]
#[derive(Default)]
struct Link {
    program: u32,
    target: u32,
    attach_type: u32,
    flags: u32,
    iterator: u64,
    iterator_bytes: u32,
    pad: u32,
}

/// The part of union bpf_iter_link_info for tasks.
#[repr(C)]
#[derive(Default)]
struct Tasks {
    tid: u32,
    pid: u32,
    pid_descriptor: u32,
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

/// Copies all entries of a hash map, in no order.
///
/// # Errors
/// The error of bpf(2).
pub fn entries<K: Word + Default, V: Word + Default>(
    map: BorrowedFd<'_>,
) -> io::Result<Vec<(K, V)>> {
    let (mut keys, mut values) = (vec![K::default(); BATCH], vec![V::default(); BATCH]);
    let (mut found, mut at, mut first) = (Vec::new(), 0_u64, true);
    loop {
        let mut batch = Batch {
            begin: if first { 0 } else { address(&at) },
            end: std::ptr::from_mut(&mut at) as u64,
            keys: keys.as_mut_ptr() as u64,
            values: values.as_mut_ptr() as u64,
            count: BATCH as u32,
            map: number(map),
            ..Batch::default()
        };
        // SAFETY: the kernel writes at most `count` keys and values of the map's sizes, and callers give
        // maps of such keys and values; the place of a hash map has four bytes.
        let result = unsafe { call_mut(MAP_LOOKUP_BATCH, &mut batch) };
        let ended = match result {
            Ok(_) => false,
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => true,
            Err(error) => return Err(error),
        };
        let count = (batch.count as usize).min(BATCH);
        found.extend(keys[..count].iter().copied().zip(values[..count].iter().copied()));
        if ended || count == 0 {
            return Ok(found);
        }
        first = false;
    }
}

/// Removes entries of a hash map. Entries that are not there are left out.
///
/// # Errors
/// The error of bpf(2).
pub fn remove_all<K: Word>(map: BorrowedFd<'_>, keys: &[K]) -> io::Result<()> {
    let mut rest = keys;
    while !rest.is_empty() {
        let mut batch = Batch {
            keys: rest.as_ptr() as u64,
            count: u32::try_from(rest.len()).unwrap_or(u32::MAX),
            map: number(map),
            ..Batch::default()
        };
        // SAFETY: the kernel reads `count` keys of the map's size, and callers give maps of such keys.
        let result = unsafe { call_mut(MAP_DELETE_BATCH, &mut batch) };
        let removed = batch.count as usize;
        match result {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                rest = rest.get(removed + 1..).unwrap_or_default();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes a link of an iterator over the threads of a process; 0: of all processes.
///
/// # Errors
/// The error of bpf(2).
pub fn link_tasks(program: BorrowedFd<'_>, pid: u32) -> io::Result<OwnedFd> {
    let tasks = Tasks { pid, ..Tasks::default() };
    let link = Link {
        program: number(program),
        attach_type: TRACE_ITER,
        iterator: address(&tasks),
        iterator_bytes: u32::try_from(size_of_val(&tasks)).unwrap_or(0),
        ..Link::default()
    };
    // SAFETY: the command reads these words and the `iterator_bytes` that they point to.
    let made = unsafe { call(LINK_CREATE, &link) }?;
    // SAFETY: the kernel has made this descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
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
/// The contract of `call`; the command may write to the attributes themselves.
unsafe fn call_mut<T>(command: libc::c_int, attributes: &mut T) -> io::Result<RawFd> {
    // SAFETY: `attributes` is a part of union bpf_attr of the length that is given, which the kernel may
    // write to; the rest holds by the contract of this function.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>())
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    RawFd::try_from(result).map_err(io::Error::other)
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

/// Maps of the kernel for tests.
#[cfg(test)]
pub mod testing {
    use super::*;

    const MAP_CREATE: libc::c_int = 0;
    const MAP_LOOKUP_AND_DELETE_ELEM: libc::c_int = 21;
    /// BPF_MAP_TYPE_HASH.
    pub const HASH: u32 = 1;
    /// BPF_MAP_TYPE_ARRAY.
    pub const ARRAY: u32 = 2;
    /// BPF_MAP_TYPE_QUEUE.
    pub const QUEUE: u32 = 22;
    /// BPF_F_MMAPABLE.
    pub const MAPPABLE: u32 = 1 << 10;

    /// Makes a map: its type, bytes of a key, bytes of a value, entries, flags.
    pub fn create(map: [u32; 5]) -> io::Result<OwnedFd> {
        // SAFETY: the command reads nothing but these words.
        let made = unsafe { call(MAP_CREATE, &map) }?;
        // SAFETY: the kernel has made this descriptor for the caller.
        Ok(unsafe { OwnedFd::from_raw_fd(made) })
    }

    /// Takes the next value out of a queue of u32.
    pub fn pop(map: BorrowedFd<'_>) -> Option<u32> {
        let mut value = 0_u32;
        let element = Element {
            map: number(map),
            value: std::ptr::from_mut(&mut value) as u64,
            ..Element::default()
        };
        // SAFETY: the kernel writes one value of four bytes.
        unsafe { call(MAP_LOOKUP_AND_DELETE_ELEM, &element) }.is_ok().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::testing::{create, HASH};
    use super::*;

    #[test]
    fn entries_of_a_hash_map_are_read_and_removed_in_batches() {
        let Ok(map) = create([HASH, 16, 40, 4096, 0]) else {
            return; // no right to make maps here
        };
        for key in 0..3000_u64 {
            set(map.as_fd(), Some(&[key, 7]), &[key * 2, 0, 0, 0, 5]).unwrap();
        }
        let mut found: Vec<([u64; 2], [u64; 5])> = entries(map.as_fd()).unwrap();
        found.sort_unstable();
        assert_eq!(found.len(), 3000);
        assert_eq!(found[77], ([77, 7], [154, 0, 0, 0, 5]));
        let keys: Vec<[u64; 2]> = (0..3500).rev().map(|key| [key, 7]).collect();
        remove_all(map.as_fd(), &keys).unwrap();
        assert_eq!(entries::<[u64; 2], [u64; 5]>(map.as_fd()).unwrap(), []);
    }
}
