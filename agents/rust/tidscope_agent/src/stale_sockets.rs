//! Sockets that ended programs left: a signal such as SIGTERM gives a program no time to tidy up.

use crate::system::effective_user;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

const MOST: usize = 256;

/// Remove this user's sockets at which nobody listens any more.
///
/// A process id may be of another namespace, so that it is asked whether somebody listens; programs
/// that are there are not disturbed by that.
pub fn sweep(folder: &Path) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(_) => return,
    };
    for entry in entries.take(MOST).flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = match name.strip_suffix(".sock") {
            Some(pid) => pid,
            None => continue,
        };
        let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !Path::new("/proc").join(pid).exists() {
            remove_if_stale(&entry.path());
        }
    }
}

fn remove_if_stale(path: &Path) {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(_) => return,
    };
    if !found.file_type().is_socket() || found.uid() != effective_user() {
        return;
    }
    let refused = match UnixStream::connect(path) {
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
    };
    // A program may have taken the name meanwhile.
    let same = fs::symlink_metadata(path)
        .map(|now| (now.dev(), now.ino()) == (found.dev(), found.ino()))
        .unwrap_or(false);
    if refused && same {
        let _ = fs::remove_file(path);
    }
}
