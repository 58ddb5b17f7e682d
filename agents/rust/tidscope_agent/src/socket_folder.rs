//! The agent's socket: its folder, its creation, and the removal of stale ones.

use crate::system::effective_user;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::{env, process};

const FOLDER_VARIABLE: &str = "TIDSCOPE_AGENT_DIR";
const SYSTEM_FOLDER: &str = "/run/tidscope";
/// Maximum directory entries checked per cleanup.
const MAX_FILES: usize = 256;

/// Create the socket of this process in the first usable folder; the error says why none is usable.
pub fn listen() -> io::Result<(UnixListener, PathBuf)> {
    let mut wrong = Vec::new();
    for folder in folders() {
        let path = folder.join(format!("{}.sock", process::id()));
        match prepare(&folder).and_then(|()| bind(&path)) {
            Ok(listener) => {
                sweep(&folder);
                return Ok((listener, path));
            }
            Err(error) => wrong.push(format!("{}: {}", folder.display(), error)),
        }
    }
    let why = format!("no folder for a socket: {}", wrong.join("; "));
    Err(Error::new(ErrorKind::NotFound, why))
}

/// Folders that a collector searches, in order.
fn folders() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(FOLDER_VARIABLE).filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let user = effective_user();
    // sudo may leave another user's folder in the environment.
    let runtime = PathBuf::from(env::var_os("XDG_RUNTIME_DIR").unwrap_or_default());
    let mut found: Vec<PathBuf> = [runtime, PathBuf::from(format!("/run/user/{}", user))]
        .iter()
        .filter(|base| base.is_absolute() && owner(base) == Some(user))
        .map(|base| base.join("tidscope"))
        .collect();
    found.dedup();
    found.push(PathBuf::from(SYSTEM_FOLDER));
    found
}

/// Create a folder if it is missing, and reject one that other users can change.
fn prepare(folder: &Path) -> io::Result<()> {
    let refused = |why: &str| Err(Error::new(ErrorKind::PermissionDenied, why));
    if !folder.is_absolute() {
        return refused("not an absolute path");
    }
    // All users share the system's folder.
    let mode = if folder == Path::new(SYSTEM_FOLDER) { 0o755 } else { 0o700 };
    match DirBuilder::new().mode(mode).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let status = fs::symlink_metadata(folder)?;
    if !status.is_dir() {
        return refused("not a folder");
    }
    if status.uid() != 0 && status.uid() != effective_user() {
        return refused("belongs to another user");
    }
    if status.mode() & 0o022 != 0 && status.mode() & 0o1000 == 0 {
        return refused("others may write to it");
    }
    Ok(())
}

fn owner(path: &Path) -> Option<u32> {
    fs::symlink_metadata(path).ok().map(|status| status.uid())
}

/// Listen with mode 0600.
///
/// The socket is renamed into place when it is ready, so that other users can never connect. The
/// stale socket of an ended process with this ID is replaced.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let unnamed = path.with_extension("sock.new");
    let _ = fs::remove_file(&unnamed);
    let listener = UnixListener::bind(&unnamed)?;
    let ready = listener
        .set_nonblocking(true)
        .and_then(|()| fs::set_permissions(&unnamed, Permissions::from_mode(0o600)))
        .and_then(|()| fs::rename(&unnamed, path));
    if let Err(error) = ready {
        let _ = fs::remove_file(&unnamed);
        return Err(error);
    }
    Ok(listener)
}

/// Remove this user's stale sockets, which killed programs leave behind.
///
/// A process ID may belong to another namespace, so a connection attempt decides. It does not
/// disturb a listening program.
fn sweep(folder: &Path) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(_) => return,
    };
    for entry in entries.take(MAX_FILES).flatten() {
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
    // A new program may have reused the name.
    let same = fs::symlink_metadata(path)
        .map(|now| (now.dev(), now.ino()) == (found.dev(), found.ino()))
        .unwrap_or(false);
    if refused && same {
        let _ = fs::remove_file(path);
    }
}
