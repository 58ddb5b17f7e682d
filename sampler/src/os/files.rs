//! Files below an open folder, and the list of their names: /proc is read by these two.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::path::Path;

/// Offsets in struct linux_dirent64: inode, position, length of the record, type, name.
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 19;
/// Bytes that are read of a file at most: the longest one of a thread has up to 700,000.
const MAX_BYTES: usize = 1 << 20;
/// Most files are read at once into a buffer of this size.
const FIRST_BYTES: usize = 8192;
/// A buffer with less room grows before it is read into.
const MIN_BYTES: usize = 1024;

/// Opens a folder.
///
/// # Errors
/// The error of open(2).
pub fn open_folder(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_DIRECTORY).open(path)
}

/// Reads a whole file below a folder into `buffer`, which grows up to `MAX_BYTES`, and returns what was
/// read. A read(2) that does not fill the buffer is the last one.
///
/// # Errors
/// The error of openat(2) or read(2).
pub fn read_at<'a>(
    folder: BorrowedFd<'_>,
    name: &CStr,
    buffer: &'a mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the name ends with a zero, and the kernel only reads it.
    let opened = unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags) };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has made this descriptor for the caller.
    let mut file = unsafe { File::from_raw_fd(opened) };
    let mut filled = 0;
    loop {
        if buffer.len() - filled < MIN_BYTES && buffer.len() < MAX_BYTES {
            buffer.resize((2 * buffer.len()).clamp(FIRST_BYTES, MAX_BYTES), 0);
        }
        match file.read(&mut buffer[filled..]) {
            Ok(got) => {
                filled += got;
                if filled < buffer.len() || buffer.len() == MAX_BYTES {
                    return Ok(&buffer[..filled]);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Calls `each` with the name of every entry of a folder, from the first one on.
///
/// # Errors
/// The error of lseek(2) or getdents64(2); InvalidData if an entry does not fit into what was read.
pub fn list(folder: &File, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    { folder }.seek(SeekFrom::Start(0))?;
    loop {
        // SAFETY: the kernel writes at most `buffer.len()` bytes to the buffer.
        let got = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                folder.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        };
        let Ok(got) = usize::try_from(got) else {
            return Err(io::Error::last_os_error());
        };
        if got == 0 {
            return Ok(());
        }
        entries(&buffer[..got.min(buffer.len())], &mut each)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "an entry is cut off"))?;
    }
}

/// Walks what getdents64(2) has written; None if an entry does not fit into it.
fn entries(mut records: &[u8], each: &mut impl FnMut(&[u8])) -> Option<()> {
    while !records.is_empty() {
        let length = records.get(LENGTH_AT..LENGTH_AT + 2)?;
        let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
        let name = records.get(NAME_AT..length)?;
        let end = name.iter().position(|&byte| byte == 0)?;
        each(&name[..end]);
        records = &records[length..];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_folder_is_listed_each_time_from_its_beginning() {
        let folder = open_folder(Path::new("/proc/self/task")).unwrap();
        let mut buffer = [0; 64];
        for _ in 0..2 {
            let mut names = Vec::new();
            list(&folder, &mut buffer, |name| names.push(name.to_vec())).unwrap();
            assert!(names.contains(&std::process::id().to_string().into_bytes()));
            assert!(names.contains(&b"..".to_vec()));
        }
        assert!(list(&folder, &mut [0; 8], |_| ()).is_err());
        assert!(open_folder(Path::new("/proc/self/stat")).is_err());
    }

    #[test]
    fn a_file_is_read_to_its_end_or_the_most_bytes() {
        let folder = open_folder(Path::new("/proc/self")).unwrap();
        let mut buffer = Vec::new();
        let comm = read_at(folder.as_fd(), c"comm", &mut buffer).unwrap();
        assert_eq!(comm, std::fs::read("/proc/self/comm").unwrap());
        let program = std::fs::read("/proc/self/exe").unwrap();
        let most = read_at(folder.as_fd(), c"exe", &mut buffer).unwrap();
        assert_eq!(most, &program[..program.len().min(MAX_BYTES)]);
        assert_eq!(read_at(folder.as_fd(), c"comm", &mut buffer).unwrap().last(), Some(&b'\n'));
        let error = read_at(folder.as_fd(), c"nothing", &mut buffer).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }

    proptest! {
        #[test]
        fn any_bytes_as_entries_are_walked_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut count = 0;
            entries(&bytes, &mut |name| count += name.len());
            prop_assert!(count <= bytes.len());
        }
    }
}
