//! The native part of the Python package `formulanet`: `formulanet/*.py` has the public interface and its documentation.
//!
//! Arguments come as dictionaries that a Python function made of its keywords, because most have a dozen. Everything that
//! may take long runs without the interpreter's lock, and ends on Ctrl-C: see [`interrupt`].

mod data;
mod embed;
mod errors;
mod graph;
mod input;
mod interrupt;
mod library;
mod measure;
mod models;
mod rank;
mod select;
mod train;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<library::Library>()?;
    module.add_class::<models::Model>()?;
    module.add_function(wrap_pyfunction!(data::arrays, module)?)?;
    module.add_function(wrap_pyfunction!(data::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(embed::embed, module)?)?;
    module.add_function(wrap_pyfunction!(embed::read, module)?)?;
    module.add_function(wrap_pyfunction!(measure::eval, module)?)?;
    module.add_function(wrap_pyfunction!(models::models, module)?)?;
    module.add_function(wrap_pyfunction!(rank::rank, module)?)?;
    module.add_function(wrap_pyfunction!(select::select, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    Ok(())
}
