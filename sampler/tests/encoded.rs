//! Frames are read by what reads them: pyarrow and the models of `shared/tidscope_wire`.

use std::path::Path;
use std::process::Command;

#[test]
fn python_reads_what_is_encoded_and_would_have_written_the_same() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join("../.venv/bin/python");
    if !python.exists() {
        eprintln!("skipped: no {}", python.display());
        return;
    }
    // Cargo builds examples beside the tests.
    let own = std::env::current_exe().unwrap();
    let example = own.parent().unwrap().parent().unwrap().join("examples/encode");
    let status = Command::new(python)
        .arg(here.join("tests/encoded.py"))
        .arg(example)
        .env("PYTHONPATH", here.join("../shared"))
        .status()
        .unwrap();
    assert!(status.success());
}
