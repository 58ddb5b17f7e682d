//! The sampler as a Python module. `native.pyi` says what its arguments mean.

mod convert;
mod queue;
mod sampler;

use pyo3::prelude::*;

/// The module `tidscope_sampler.native`.
#[pymodule]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<sampler::Sampler>()
}
