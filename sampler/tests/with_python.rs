//! Encoded frames are read by Python: pyarrow, the models of `shared/tidscope_wire`, and a backend.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program of this folder, which drives an example; without a virtual environment none.
fn run(program: &str, example: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("..");
    let python = root.join(".venv/bin/python");
    if !python.exists() {
        eprintln!("skipped: no {}", python.display());
        return;
    }
    let folders = ["shared", "backend", "collector", "tests"].map(|folder| root.join(folder));
    let status = Command::new(python)
        .arg(here.join("tests").join(program))
        .arg(built(example))
        .env("PYTHONPATH", std::env::join_paths(folders).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Builds an example, as `cargo test --test` does not, and returns where cargo puts it: beside this
/// test, which shares its compiled dependencies.
fn built(example: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().unwrap().parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    // Variables about this package: with them, build scripts of dependencies would run again.
    for (name, _) in std::env::vars()
        .filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
    {
        cargo.env_remove(name);
    }
    let status = cargo
        .args(["build", "--quiet", "--locked", "--example", example, "--target-dir"])
        .arg(profile.parent().unwrap())
        .status();
    assert!(status.unwrap().success());
    profile.join("examples").join(example)
}

#[test]
fn python_reads_what_is_encoded_and_would_have_written_the_same() {
    run("encoded.py", "encode");
}

#[test]
fn a_backend_takes_the_frames_of_the_uplink() {
    run("backend.py", "uplink");
}
