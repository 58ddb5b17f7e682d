//! Memory that the kernel's programs write to while it is read here: maps of eBPF programs.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// A shared mapping of a map, page by page.
///
/// Invariant: `base` is the start of a mapping of `len` bytes that lives until the value is dropped.
pub struct Mapped {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process and not to a thread; it is read and written by volatile
// accesses of whole words only, as programs in the kernel change it at any time.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps the first `len` bytes of a map.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: BorrowedFd<'_>, len: usize, writable: bool) -> io::Result<Self> {
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let len = len.next_multiple_of(4096);
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, map.as_raw_fd(), 0)
        };
        Self::of(base, len)
    }

    /// Memory of no map, filled with zeros.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn anonymous(len: usize) -> io::Result<Self> {
        let len = len.next_multiple_of(4096);
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        Self::of(base, len)
    }

    fn of(base: *mut libc::c_void, len: usize) -> io::Result<Self> {
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base =
            NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mmap gave no address"))?;
        Ok(Self { base, len })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a mapping of no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn at<T>(&self, offset: usize) -> *mut T {
        assert!(
            offset.is_multiple_of(align_of::<T>())
                && offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.len),
            "offset {offset} of {} bytes",
            self.len
        );
        self.base.as_ptr().wrapping_add(offset).cast()
    }

    /// Reads a word at a multiple of its size.
    ///
    /// # Panics
    /// Panics outside of the mapping.
    pub fn load<T: Word>(&self, offset: usize) -> T {
        // SAFETY: `at` has checked bounds and alignment; every bit pattern is a T.
        unsafe { self.at::<T>(offset).read_volatile() }
    }

    /// Writes a word at a multiple of its size.
    ///
    /// # Panics
    /// Panics outside of the mapping.
    pub fn store<T: Word>(&mut self, offset: usize, value: T) {
        // SAFETY: `at` has checked bounds and alignment.
        unsafe { self.at::<T>(offset).write_volatile(value) }
    }

    /// Sets `count` words of eight bytes to 0.
    ///
    /// # Panics
    /// Panics outside of the mapping.
    pub fn clear(&mut self, offset: usize, count: usize) {
        for word in 0..count {
            self.store(offset + word * 8, 0_u64);
        }
    }

    /// Copies words out of the mapping, the first one at `offset`. The kernel may write meanwhile: then
    /// some words are older than others.
    ///
    /// # Panics
    /// Panics outside of the mapping.
    pub fn copy_to<T: Word>(&self, offset: usize, into: &mut [T]) {
        let Some(last) = into.len().checked_sub(1) else {
            return;
        };
        self.at::<T>(offset + last * size_of::<T>());
        let from: *const T = self.at(offset);
        // SAFETY: bounds and alignment of the first and of the last word were checked, so all words lie
        // in the mapping; `into` is memory of this process outside of it. A word that the kernel writes
        // at the same time has its old or its new value on the machines that are supported.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Integers of which every bit pattern is a value.
///
/// # Safety
/// Implemented for such types only.
pub unsafe trait Word: Copy {}

// SAFETY: every bit pattern is a value.
unsafe impl Word for u8 {}
// SAFETY: every bit pattern is a value.
unsafe impl Word for u16 {}
// SAFETY: every bit pattern is a value.
unsafe impl Word for u32 {}
// SAFETY: every bit pattern is a value.
unsafe impl Word for u64 {}
// SAFETY: every bit pattern is a value.
unsafe impl Word for i64 {}
// SAFETY: every bit pattern is a value.
unsafe impl<const N: usize> Word for [u8; N] {}
// SAFETY: every bit pattern is a value.
unsafe impl<const N: usize> Word for [u32; N] {}
// SAFETY: every bit pattern is a value.
unsafe impl<const N: usize> Word for [u64; N] {}

/// Makes a file in memory that stands for a map in tests.
#[cfg(test)]
pub fn scratch(len: usize) -> std::os::fd::OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: the name is a string that ends with a zero.
    let made = unsafe { libc::memfd_create(c"map".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(made >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the kernel has made this descriptor for the caller.
    let file = unsafe { std::fs::File::from_raw_fd(made) };
    file.set_len(len.next_multiple_of(4096) as u64).unwrap();
    file.into()
}

/// The ring of a map of type ringbuf: the kernel writes, and this process takes.
///
/// Invariant: `data` maps the ring twice in a row behind the page of the producer's position, so that no
/// record is in two pieces; all accesses of it are below the second end.
pub struct Ring {
    consumer: Mapped,
    data: Mapped,
    len: usize,
    page: usize,
}

/// Bytes of a page, and so of the part of a ring with a position: 4 KiB, on some aarch64 kernels more.
fn page_size() -> io::Result<usize> {
    // SAFETY: the call takes a number and touches no memory.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)
}

impl Ring {
    /// Maps a ring of `len` bytes, a power of two.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        let page = page_size()?;
        let consumer = Mapped::new(map, page, true)?;
        let whole = page + 2 * len;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                whole,
                libc::PROT_READ,
                libc::MAP_SHARED,
                map.as_raw_fd(),
                page as libc::off_t,
            )
        };
        Ok(Self { consumer, data: Mapped::of(base, whole)?, len, page })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a ring of no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Position up to which records were taken.
    pub fn taken(&self) -> u64 {
        self.consumer.load(0)
    }

    /// Position up to which records were written.
    pub fn written(&self) -> u64 {
        let written = self.data.load(0);
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        written
    }

    /// First word of the record at a position: its length and two bits.
    pub fn length_at(&self, position: u64) -> u32 {
        let length = self.data.load(self.page + self.place(position));
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        length
    }

    /// Copies bytes from a position on; not more than the ring has.
    pub fn copy<const N: usize>(&self, position: u64, into: &mut [u8; N]) {
        assert!(N <= self.len, "{N} bytes of a ring of {}", self.len);
        self.data.copy_to(self.page + self.place(position), into.as_mut_slice());
    }

    /// Takes all records up to a position: the kernel may write over them.
    pub fn take(&mut self, position: u64) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
        self.consumer.store(0, position);
    }

    fn place(&self, position: u64) -> usize {
        (position & (self.len as u64 - 1)) as usize & !7
    }

    /// A ring with these bytes, for tests.
    #[cfg(test)]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let page = page_size().expect("a size");
        let len = bytes.len().next_power_of_two().max(page);
        let mut data = Mapped::anonymous(page + 2 * len).expect("memory");
        data.store(0, bytes.len() as u64);
        for (place, &byte) in bytes.iter().enumerate() {
            data.store(page + place, byte);
            data.store(page + len + place, byte);
        }
        Self { consumer: Mapped::anonymous(page).expect("memory"), data, len, page }
    }

    /// Writes a word of eight bytes at a position, as the kernel does, for tests.
    #[cfg(test)]
    pub fn put(&mut self, position: u64, word: u64) {
        let place = self.place(position);
        self.data.store(self.page + place, word);
        self.data.store(self.page + self.len + place, word);
    }

    /// Sets both positions, for tests.
    #[cfg(test)]
    pub fn set_positions(&mut self, taken: u64, written: u64) {
        self.consumer.store(0, taken);
        self.data.store(0, written);
    }
}
