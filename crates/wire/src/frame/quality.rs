//! How far a sample can be trusted, and why not further: one byte.

/// Bits 7 and 6 are the status, bits 5 to 0 the reason. Every byte is a quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quality(pub u8);

/// How far a sample can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// As measured.
    Good = 0,
    /// Perhaps.
    Uncertain = 1,
    /// Not at all.
    Bad = 2,
    /// It was good once; nothing newer has come.
    Stale = 3,
}

impl Status {
    /// How people call it.
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
    /// Good, and nothing to say.
    pub const GOOD: Self = Self(0);
    /// Reason: there is none.
    pub const NONE: u8 = 0;
    /// Reason: no sample came for several periods.
    pub const SILENT: u8 = 1;
    /// Reason: its last publisher's connection is gone.
    pub const PUBLISHER_GONE: u8 = 2;
    /// Reason: restored after a restart, nobody publishes it yet.
    pub const RESTORED: u8 = 3;
    /// Reason: outside of what the parameter can be.
    pub const OUT_OF_RANGE: u8 = 4;
    /// Reason: the sensor has failed.
    pub const SENSOR_FAILED: u8 = 5;
    /// Reason: simulated.
    pub const SIMULATED: u8 = 6;
    /// Reason: calculated from bad inputs.
    pub const BAD_INPUTS: u8 = 7;
    /// The first reason that is free for users; the last is 63.
    pub const USER_FIRST: u8 = 32;

    /// Of a reason only the low six bits count.
    pub const fn new(status: Status, reason: u8) -> Self {
        Self((status as u8) << 6 | reason & 0x3f)
    }

    /// How far it can be trusted.
    pub const fn status(self) -> Status {
        match self.0 >> 6 {
            0 => Status::Good,
            1 => Status::Uncertain,
            2 => Status::Bad,
            _ => Status::Stale,
        }
    }

    /// Why not further: 0 to 63.
    pub const fn reason(self) -> u8 {
        self.0 & 0x3f
    }

    /// Its reason in a word, where it has a name.
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
