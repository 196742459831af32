//! The quality of a sample in one byte: its status, and the reason.

/// Bits 7 and 6 are the status, bits 5 to 0 the reason. Every byte is a valid quality. Reasons from 32 on are
/// for users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quality(pub u8);

/// How far a sample can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum QualityStatus {
    /// Fully.
    Good = 0,
    /// Perhaps.
    Uncertain = 1,
    /// Not at all.
    Bad = 2,
    /// It was good, but it is old.
    Stale = 3,
}

impl QualityStatus {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Uncertain => "uncertain",
            Self::Bad => "bad",
            Self::Stale => "stale",
        }
    }
}

impl Quality {
    /// Good, without a reason.
    pub const GOOD: Self = Self(0);
    /// Reason: none.
    pub const NONE: u8 = 0;
    /// Reason: there was no sample for several periods.
    pub const SILENT: u8 = 1;
    /// Reason: the last publisher has disconnected.
    pub const PUBLISHER_GONE: u8 = 2;
    /// Reason: restored after a restart, and nobody publishes it yet.
    pub const RESTORED: u8 = 3;
    /// Reason: outside the range of the parameter.
    const OUT_OF_RANGE: u8 = 4;
    /// Reason: the sensor has failed.
    pub const SENSOR_FAILED: u8 = 5;
    /// Reason: simulated.
    const SIMULATED: u8 = 6;
    /// Reason: calculated from bad inputs.
    const BAD_INPUTS: u8 = 7;

    /// A quality. Only the low six bits of the reason count.
    pub const fn new(status: QualityStatus, reason: u8) -> Self {
        Self((status as u8) << 6 | reason & 0x3f)
    }

    /// The status.
    pub const fn status(self) -> QualityStatus {
        match self.0 >> 6 {
            0 => QualityStatus::Good,
            1 => QualityStatus::Uncertain,
            2 => QualityStatus::Bad,
            _ => QualityStatus::Stale,
        }
    }

    /// The reason: 0 to 63.
    pub const fn reason(self) -> u8 {
        self.0 & 0x3f
    }

    /// The name of the reason, if it has one.
    pub fn why(self) -> Option<&'static str> {
        match self.reason() {
            Self::SILENT => Some("silent"),
            Self::PUBLISHER_GONE => Some("publisher-gone"),
            Self::RESTORED => Some("restored"),
            Self::OUT_OF_RANGE => Some("out-of-range"),
            Self::SENSOR_FAILED => Some("sensor-failed"),
            Self::SIMULATED => Some("simulated"),
            Self::BAD_INPUTS => Some("bad-inputs"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_status_and_a_reason() {
        for byte in 0..=255 {
            let quality = Quality(byte);
            assert_eq!(Quality::new(quality.status(), quality.reason()), quality);
        }
    }
}
