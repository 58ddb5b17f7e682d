//! Searches all files of a tree for a text, pass after pass, with rayon. An operation is a file.

#[path = "../../driver/lines.rs"]
mod lines;

use lines::{done, serve};
use memchr::memmem::Finder;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

const TEXT: &str = "io_uring_setup";

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (tree, size) = (arguments.next().unwrap_or_default(), arguments.next());
    let size: usize = size.and_then(|text| text.parse().ok()).unwrap_or(1);
    let tree = PathBuf::from(tree);
    if fs::read_dir(&tree)?.next().is_none() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is empty", tree.display())));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(size)
        .thread_name(|number| format!("find-{number}"))
        .build_global()
        .map_err(io::Error::other)?;
    let _pool = tidscope_agent::rayon::watch_global("find");
    let _agent = tidscope_agent::report_pools()?;
    thread::spawn(move || loop {
        rayon::scope(|scope| search(scope, tree.clone()));
    });
    serve("", || None)
}

/// Search a folder; each folder below it is a job that another worker may steal.
fn search(scope: &rayon::Scope<'_>, folder: PathBuf) {
    let finder = Finder::new(TEXT);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                let below = entry.path();
                scope.spawn(move |scope| search(scope, below));
            }
            Ok(kind) if kind.is_file() => {
                std::hint::black_box(has(&entry.path(), &finder));
                done();
            }
            _ => {}
        }
    }
}

fn has(path: &Path, finder: &Finder<'_>) -> bool {
    fs::read(path).is_ok_and(|content| finder.find(&content).is_some())
}
