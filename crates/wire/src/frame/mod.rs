//! Frames: many samples in one message. `docs/frames.md` is the specification.
//!
//! A frame is a list of runs, and a run holds samples of one kind. An example: at 12:00:00 the parameters 0
//! to 99, all `f64`, have one sample each. That is one run of the layout *one*: the range 0 to 99 (2 bytes), one
//! time (8 bytes) and 100 values (800 bytes). Two more samples of parameter 7, at other times, can follow as a
//! second run, of the layout *ragged*: a count for each parameter, and a time for each sample.
//!
//! Pure. Decoding checks everything, so that reading the runs cannot fail, and it never allocates what a
//! frame only claims. The bytes of a run do not depend on their position, so that the broker copies runs
//! from frame to frame.

mod bits;
mod buf;
mod check;
mod deflate;
mod error;
mod kind;
mod part;
mod quality;
mod ranges;
mod run;
mod samples;
mod text;
mod value;
mod varint;
mod view;
mod visit;
mod write;

pub use buf::{FrameBuf, check_grid};
pub use error::{Fault, FrameError, PushError};
pub use kind::Kind;
pub use quality::{Quality, QualityStatus};
pub use ranges::RangeSet;
pub use run::{Layout, Qualities, RunRanges, RunView};
pub use text::{TextError, parse_text, write_text};
pub use value::{OwnedValue, Sample, ValueView};
pub use view::FrameView;

/// The content type of a message whose payload is a frame.
pub const CONTENT_TYPE: &str = "application/vnd.slipring.frame";

/// The header of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The table that the indices belong to.
    pub table: u32,
    /// Counts the frames of this sender or selection; 0 follows the largest number.
    pub sequence: u32,
    /// When the sender sent it, by its own clock.
    pub sent_ns: i64,
    /// When the samples passed publisher and broker.
    pub hops: Option<Hops>,
}

/// When samples passed publisher and broker. A publisher sets only `skew_ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hops {
    /// When the publisher of the newest sample sent it, by the broker's clock.
    pub published_ns: i64,
    /// When the broker received it.
    pub received_ns: i64,
    /// The broker's clock minus that publisher's, as the publisher estimates it.
    pub skew_ns: i64,
}

/// How much a frame may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBounds {
    /// Samples in all.
    pub samples_max: usize,
    /// Bytes of an inflated body.
    pub raw_bytes_max: usize,
}

impl FrameBounds {
    /// No bounds, for frames of our own.
    pub const NONE: Self = Self { samples_max: usize::MAX, raw_bytes_max: usize::MAX };
}
