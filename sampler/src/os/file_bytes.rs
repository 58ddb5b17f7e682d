//! A file as bytes in memory, of which only those that are read become resident.

use std::io;
use std::ops::Deref;
use std::os::fd::RawFd;
use std::ptr::NonNull;

/// A read-only mapping of a regular file.
///
/// A file that becomes shorter ends the process with SIGBUS, and one that is written to changes under
/// the reader. So only processes map files of others that may end at any time: limited children.
///
/// Invariant: `base` is the start of a mapping of `len` bytes that lives until the value is dropped; a
/// file of no byte has none.
pub struct FileBytes {
    base: NonNull<u8>,
    len: usize,
}

impl FileBytes {
    /// Maps an open file as long as it is now.
    ///
    /// Limited children may neither duplicate a descriptor nor ask for its status: only lseek(2) and
    /// mmap(2) are called.
    ///
    /// # Errors
    /// The error of lseek(2) or mmap(2): EBADF if the descriptor is not open, ENODEV for a folder.
    pub fn map(file: RawFd) -> io::Result<Self> {
        // SAFETY: the call takes no pointers; a number that is no open descriptor is refused.
        let end = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
        let len = usize::try_from(end).map_err(|_| io::Error::last_os_error())?;
        if len == 0 {
            return Ok(Self { base: NonNull::dangling(), len });
        }
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base =
            NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mmap gave no address"))?;
        Ok(Self { base, len })
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable and lives as long as `self`; a `dangling` pointer is valid
        // for no byte. Nobody in this process writes to it. Somebody else may write to the file: bytes
        // then differ between two readings, each of which is checked against `len` alone.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl Drop for FileBytes {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the mapping was made by `map`, and nothing refers to it any more.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_file_is_mapped_whole() {
        let program = File::open("/proc/self/exe").unwrap();
        let mapped = FileBytes::map(program.as_raw_fd()).unwrap();
        assert_eq!(*mapped, std::fs::read("/proc/self/exe").unwrap());
    }

    #[test]
    fn a_file_without_bytes_is_empty() {
        let path = std::env::temp_dir().join(format!("empty-{}", std::process::id()));
        let file = File::create_new(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(FileBytes::map(file.as_raw_fd()).unwrap().is_empty());
    }

    #[test]
    fn what_has_no_bytes_is_refused() {
        let folder = File::open("/").unwrap();
        assert!(FileBytes::map(folder.as_raw_fd()).is_err());
        let refused = FileBytes::map(-1).err().unwrap();
        assert_eq!(refused.raw_os_error(), Some(libc::EBADF));
    }
}
