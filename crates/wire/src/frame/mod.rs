//! Frames: many samples in one message, as runs of one kind. `docs/frames.md` is the specification.
//!
//! Pure. Everything about a frame is checked when it is decoded, so that reading its runs cannot
//! fail; decoding never allocates by what a frame claims. Runs do not depend on where they lie, so
//! that a broker copies them from frame to frame.

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

pub use buf::FrameBuf;
pub use error::{Fault, FrameError, PushError};
pub use kind::Kind;
pub use quality::{Quality, Status};
pub use ranges::{RangeSet, Ranges};
pub use run::{Layout, Qualities, RunRanges, RunView};
pub use text::{TextError, parse_text, text};
pub use value::{OwnedValue, Sample, ValueView};
pub use view::FrameView;

/// The content type of a message whose payload is a frame.
pub const CONTENT_TYPE: &str = "application/vnd.slipring.frame";

/// What stands before a frame's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Which table the indices belong to.
    pub table: u32,
    /// One more for each frame of this sender or selection; after the last comes 0.
    pub sequence: u32,
    /// When the sender sent it, by its own clock.
    pub sent_ns: i64,
    /// Where the samples have been.
    pub hops: Option<Hops>,
}

/// When samples passed where on their way. A publisher leaves the first two zero.
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
pub struct Bounds {
    /// Samples in all.
    pub samples_max: usize,
    /// Bytes of an inflated body.
    pub raw_bytes_max: usize,
}
