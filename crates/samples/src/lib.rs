//! Messages of a journal as columns: a row for each sample, for each frame, or for each parameter and window (D1).
//!
//! The columns are in Arrow's layout, so that Python hands them on without a step per row. Pure: messages come in as
//! `MessageColumns`, from a folder or from a broker elsewhere.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "Arrow's and Spark's numbers have signs: indices and counts are bounded far below, and a 64-bit integer is \
              also given exactly"
)]

mod bits;
mod columns;
mod decode;
mod few_texts;
mod file;
mod flaw;
mod frames;
mod optional;
mod order;
mod parameters;
mod rollup;
mod runs;
mod selection;

pub use columns::{SampleColumns, WantedColumns};
pub use decode::{Decoded, SampleDecoder};
pub use file::{FileLayout, SampleFile, TextBounds};
pub use flaw::Flaw;
pub use frames::{FrameColumns, frame_columns};
pub use optional::{OptionalBytes, OptionalColumn};
pub use parameters::{KnownParameters, ParametersError};
pub use rollup::{RollupColumns, rollup};
pub use selection::SampleSelection;
