//! Memory of Rust that Python reads without a copy, and of Python that Rust reads. The only unsafe
//! code of the project.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::ffi::{c_int, c_void};
use std::ops::Deref;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use slipring_journal::{BytesColumn, MessageColumns};

/// Memory that is neither written nor moved while this exists.
trait Memory: Send + Sync {
    fn memory(&self) -> (*const c_void, usize);
}

impl<T: Copy + Send + Sync> Memory for Vec<T> {
    fn memory(&self) -> (*const c_void, usize) {
        (self.as_ptr().cast(), size_of_val(self.as_slice()))
    }
}

/// Which of the `MessageColumns` a buffer shows.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    Numbers(fn(&MessageColumns) -> &Vec<i64>),
    Octets(fn(&MessageColumns) -> &Vec<u8>),
    Ends(fn(&MessageColumns) -> &BytesColumn),
    Data(fn(&MessageColumns) -> &BytesColumn),
}

/// A column of messages, which keeps all of them alive.
struct MessageColumn {
    columns: Arc<MessageColumns>,
    column: Column,
}

impl Memory for MessageColumn {
    fn memory(&self) -> (*const c_void, usize) {
        match self.column {
            Column::Numbers(of) => of(&self.columns).memory(),
            Column::Octets(of) => of(&self.columns).memory(),
            Column::Ends(of) => of(&self.columns).ends.memory(),
            Column::Data(of) => of(&self.columns).data.memory(),
        }
    }
}

/// One column, readable through Python's buffer protocol.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Buffer(Box<dyn Memory>);

impl Buffer {
    /// A column of messages.
    pub fn new(columns: Arc<MessageColumns>, column: Column) -> Self {
        Self(Box::new(MessageColumn { columns, column }))
    }

    /// These values.
    pub fn of<T: Copy + Send + Sync + 'static>(values: Vec<T>) -> Self {
        Self(Box::new(values))
    }
}

#[pymethods]
impl Buffer {
    pub(crate) fn __len__(&self) -> usize {
        self.0.memory().1
    }

    #[allow(unsafe_code, reason = "the buffer protocol is a C interface")]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        let (start, length) = slf.get().0.memory();
        let length = ffi::Py_ssize_t::try_from(length)?;
        // SAFETY: `view` is Python's to fill. `slf` owns the memory, which is never written or moved (the
        // class is frozen), and the view holds a reference to `slf`.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast_mut(), length, 1, flags)
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// Contiguous memory of a Python object, lent as bytes. The type of its items does not matter.
pub(crate) struct Lent<'py> {
    view: ffi::Py_buffer,
    /// While this exists, we hold the interpreter: no Python code changes the memory.
    _py: Python<'py>,
}

impl<'py> Lent<'py> {
    /// Raises `BufferError` or `TypeError` if the object has no contiguous memory.
    #[allow(unsafe_code, reason = "the buffer protocol is a C interface")]
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut view = ffi::Py_buffer::new();
        // SAFETY: the object is alive, and the view is released when this value is dropped.
        let got = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut view, SIMPLE) };
        if got == 0 { Ok(Self { view, _py: object.py() }) } else { Err(PyErr::fetch(object.py())) }
    }
}

/// Contiguous bytes, only to be read.
const SIMPLE: c_int = ffi::PyBUF_SIMPLE;

impl Deref for Lent<'_> {
    type Target = [u8];

    #[allow(unsafe_code, reason = "the buffer protocol is a C interface")]
    fn deref(&self) -> &[u8] {
        if self.view.buf.is_null() {
            return &[];
        }
        let length = usize::try_from(self.view.len).unwrap_or(0);
        // SAFETY: a simple view has `len` contiguous bytes at `buf`, which the exporter neither frees
        // nor moves before it is released. Nothing of Python runs while a slice of it is lent.
        unsafe { std::slice::from_raw_parts(self.view.buf.cast::<u8>(), length) }
    }
}

impl Drop for Lent<'_> {
    #[allow(unsafe_code, reason = "the buffer protocol is a C interface")]
    fn drop(&mut self) {
        // SAFETY: the view was filled by `PyObject_GetBuffer`, and is released once.
        unsafe { ffi::PyBuffer_Release(&raw mut self.view) };
    }
}
