//! The sampler as a Python module. `native.pyi` says what its arguments mean.

mod convert;
mod link;
mod sampler;
mod symbols;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// The objects of the eBPF programs, by the names of their sources.
const OBJECTS: [(&str, &[u8]); 4] = [
    ("task_iterator", include_bytes!("../walk/task_iterator.bpf.o")),
    ("waits", include_bytes!("../ledger/waits.bpf.o")),
    ("netacct", include_bytes!("../network/netacct.bpf.o")),
    ("groups", include_bytes!("../processes/groups.bpf.o")),
];

/// The object of an eBPF program.
#[pyfunction]
fn bpf_object<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let found = OBJECTS.iter().find(|(one, _)| *one == name);
    let (_, object) = found.ok_or_else(|| convert::value_error(format!("no program {name}")))?;
    Ok(PyBytes::new(py, object))
}

/// The module `tidscope_sampler.native`.
#[pymodule]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bpf_object, module)?)?;
    symbols::add_to(module)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    let names = OBJECTS.map(|(name, _)| name);
    module.add("BPF_OBJECTS", PyTuple::new(module.py(), names)?)?;
    module.add_class::<link::Link>()?;
    module.add_class::<sampler::Sampler>()
}
