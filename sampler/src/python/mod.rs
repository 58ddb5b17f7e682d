//! The sampler as a Python module.

use pyo3::prelude::*;

/// The module `tidscope_sampler.native`.
#[pymodule]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))
}
