//! Records of the audit from keyword arguments of Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipring_core::AuditKind;
use slipring_engine::AuditRecord;

/// A record of a kind with these fields; the others are unknown.
pub(crate) fn record(kind: &str, fields: Option<&Bound<'_, PyDict>>) -> PyResult<AuditRecord> {
    let unknown = || PyValueError::new_err(format!("the audit has no kind '{kind}'"));
    let mut record = AuditRecord::new(AuditKind::of(kind).ok_or_else(unknown)?);
    for (key, value) in fields.into_iter().flatten() {
        let field = match key.extract::<&str>()? {
            "user" => &mut record.user,
            "client" => &mut record.client,
            "address" => &mut record.address,
            "listener" => &mut record.listener,
            "proof" => &mut record.proof,
            "right" => &mut record.right,
            "topic" => &mut record.topic,
            "outcome" => &mut record.outcome,
            "detail" => &mut record.detail,
            "rule" => {
                record.rule = value.extract()?;
                continue;
            }
            other => return Err(PyTypeError::new_err(format!("a record has no field '{other}'"))),
        };
        *field = value.extract()?;
    }
    Ok(record)
}
