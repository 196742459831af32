//! What can be wrong with a frame, and where.

use super::Kind;

/// Why bytes are not a frame. A frame is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}, at byte {at}{}", if *.inflated { " of the inflated frame" } else { "" })]
pub struct FrameError {
    /// What is wrong.
    pub fault: Fault,
    /// The byte, counted from the frame's start as if the body were not compressed.
    pub at: usize,
    /// Whether that byte is in a body that was inflated.
    pub inflated: bool,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It does not begin with `SRF`.
    #[error("not a frame: it does not begin with SRF")]
    Magic,
    /// Another version of the format.
    #[error("frames of version {0} are not known, only 1")]
    Version(u8),
    /// An unknown flag.
    #[error("flags {0:#04x} are not known")]
    Flags(u8),
    /// It ends inside a header or a run.
    #[error("the frame ends too early")]
    Cut,
    /// Bytes follow the last run.
    #[error("bytes follow the last run")]
    Excess,
    /// The zlib stream is broken.
    #[error("the deflated body is damaged")]
    Deflate,
    /// The inflated body does not have the claimed length.
    #[error("the inflated body is not as long as it says")]
    RawLength,
    /// The inflated body is longer than the limit.
    #[error("the inflated body has {0} bytes, more than is accepted")]
    RawBytes(u32),
    /// A number that is not in its shortest form, or too large.
    #[error("a number is too large or not in its shortest form")]
    Varint,
    /// An unknown kind.
    #[error("kind {0} is not known")]
    Kind(u8),
    /// An unknown layout.
    #[error("layout {0} is not known")]
    Layout(u8),
    /// An unknown form of qualities.
    #[error("form {0} of qualities is not known")]
    Qualities(u8),
    /// Something that must be zero is not.
    #[error("a reserved or padding bit is set")]
    NotZero,
    /// A run's length is not a multiple of 8, or not the sum of its parts.
    #[error("a run says {0} bytes, its parts have others")]
    RunBytes(u32),
    /// A run without a parameter, range or time.
    #[error("a run is empty")]
    Empty,
    /// Ranges touch, pass the last index, or do not add up to the run's number of parameters.
    #[error("ranges touch, pass the last index or do not make up the run's parameters")]
    Ranges,
    /// A parameter's samples go back in time.
    #[error("times of a parameter go back")]
    Times,
    /// More samples than the limit.
    #[error("more samples than are accepted")]
    Samples,
    /// Text that is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
}

/// Why samples cannot be put into a frame: the caller's arrays do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// No parameter, or no time.
    #[error("there is nothing to push")]
    Empty,
    /// Ranges not ascending, or empty.
    #[error("ranges of parameters must ascend and not overlap")]
    Ranges,
    /// Times not ascending.
    #[error("times of a parameter must not go back")]
    Times,
    /// Too many or too few qualities.
    #[error("{found} qualities for {samples} samples")]
    Qualities {
        /// How many there are.
        found: usize,
        /// How many there must be.
        samples: usize,
    },
    /// Too many or too few bytes, or bytes that are not values of this kind.
    #[error("{bytes} bytes are not {samples} values of {kind}")]
    Values {
        /// How many bytes there are.
        bytes: usize,
        /// How many values there must be.
        samples: usize,
        /// Their kind.
        kind: Kind,
    },
    /// One of the values is of another kind.
    #[error("a value of {found} among values of {kind}")]
    Kind {
        /// What was found.
        found: Kind,
        /// What was asked for.
        kind: Kind,
    },
    /// A run of 4 GiB or more.
    #[error("a run must be smaller than 4 GiB")]
    TooLarge,
}
