//! The Python module slipring._native: convert, call, translate errors; no logic.
