//! Functions that read ELF files: names of native code.

use std::ops::{ControlFlow, Deref};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::convert::{os_error, value_error};
use crate::os::file_bytes::FileBytes;
use crate::symbols::{elf, lines, tables, Damaged};

/// An open file, or bytes that were one.
#[derive(FromPyObject)]
enum Source {
    File(i32),
    Bytes(PyBackedBytes),
}

/// Bytes of a source.
enum Opened {
    File(FileBytes),
    Bytes(PyBackedBytes),
}

impl Source {
    fn open(self) -> PyResult<Opened> {
        Ok(match self {
            Self::File(file) => {
                Opened::File(FileBytes::map(file).map_err(|error| os_error(&error))?)
            }
            Self::Bytes(bytes) => Opened::Bytes(bytes),
        })
    }
}

impl Deref for Opened {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::File(bytes) => bytes,
            Self::Bytes(bytes) => bytes,
        }
    }
}

fn damaged(error: Damaged) -> PyErr {
    value_error(error.0)
}

/// Links of an ELF file: a dict with the members of `Links`.
#[pyfunction]
fn elf_links<'py>(py: Python<'py>, file: Source) -> PyResult<Bound<'py, PyDict>> {
    let found = elf::links(&file.open()?).map_err(damaged)?;
    let made = PyDict::new(py);
    made.set_item("build_id", PyBytes::new(py, &found.build_id))?;
    made.set_item("debug_name", PyBytes::new(py, &found.debug_name))?;
    made.set_item("debug_crc", found.debug_crc)?;
    made.set_item("shared_path", PyBytes::new(py, &found.shared_path))?;
    made.set_item("shared_id", PyBytes::new(py, &found.shared_id))?;
    made.set_item("base", found.base)?;
    made.set_item("lines", found.lines)?;
    made.set_item("symbols", found.symbols)?;
    Ok(made)
}

/// Bytes of a section.
#[pyfunction]
fn elf_section<'py>(
    py: Python<'py>,
    file: Source,
    name: &str,
    most: usize,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let found = elf::section(&file.open()?, name, most).map_err(damaged)?;
    Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
}

/// Functions at addresses, by symbol tables.
#[pyfunction]
fn elf_functions(file: Source, addresses: Vec<u64>) -> PyResult<Vec<(u64, String)>> {
    tables::functions(&file.open()?, &addresses).map_err(damaged)
}

/// Lines and inlined functions at addresses, by DWARF.
#[pyfunction]
fn elf_lines(
    file: Source,
    shared: Option<Source>,
    addresses: Vec<u64>,
    each: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (file, shared) = (file.open()?, shared.map(Source::open).transpose()?);
    let mut failed = Ok(());
    lines::places(&file, shared.as_deref(), &addresses, |address, places| {
        let rows: Vec<_> =
            places.into_iter().map(|place| (place.function, place.file, place.line)).collect();
        match each.call1((address, rows)) {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Err(error);
                ControlFlow::Break(())
            }
        }
    })
    .map_err(damaged)?;
    failed
}

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(elf_links, module)?)?;
    module.add_function(wrap_pyfunction!(elf_section, module)?)?;
    module.add_function(wrap_pyfunction!(elf_functions, module)?)?;
    module.add_function(wrap_pyfunction!(elf_lines, module)?)
}
