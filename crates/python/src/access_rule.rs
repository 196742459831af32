//! A rule of access that was checked. Python keeps it, so that a plan of very many rules is quickly made again.

use std::sync::Arc;

use pyo3::prelude::*;
use slipring_core::access::AccessRule;

use crate::plan::refused;

/// A rule, immutable.
#[pyclass(frozen, eq, module = "slipring._native")]
#[derive(PartialEq)]
pub(crate) struct NativeRule(pub(crate) Arc<AccessRule>);

#[pymethods]
impl NativeRule {
    /// Raises if this is not a rule, and says why.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "made from Python's values")]
    fn new(
        who: Vec<String>,
        is_allowed: bool,
        rights: Vec<String>,
        topics: Vec<String>,
    ) -> PyResult<Self> {
        let rule = AccessRule::parse(&who, is_allowed, &rights, &topics).map_err(refused)?;
        Ok(Self(Arc::new(rule)))
    }
}
