//! Reads fields from the bytes of a neighbour. Never reads past their end, and never takes memory for a count that the
//! bytes merely claim.

use crate::record::RecordError;
use crate::{BrokerId, RecordVersion, WantedRate};

/// The bytes that are not read yet.
pub(crate) struct ByteCursor<'a>(&'a [u8]);

impl<'a> ByteCursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Refuses bytes that nobody has read.
    pub fn end(self) -> Result<(), RecordError> {
        if self.0.is_empty() { Ok(()) } else { Err(RecordError::Trailing) }
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], RecordError> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(RecordError::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(RecordError::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub fn u8(&mut self) -> Result<u8, RecordError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, RecordError> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, RecordError> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, RecordError> {
        self.array().map(u64::from_be_bytes)
    }

    pub fn broker_id(&mut self) -> Result<BrokerId, RecordError> {
        self.array().map(BrokerId::from_bytes)
    }

    pub fn version(&mut self) -> Result<RecordVersion, RecordError> {
        Ok(RecordVersion::new(self.u64()?, self.u64()?))
    }

    pub fn rate(&mut self) -> Result<WantedRate, RecordError> {
        WantedRate::from_wire(self.u32()?).ok_or(RecordError::WrongNumber)
    }

    pub fn text(&mut self, length: usize) -> Result<&'a str, RecordError> {
        std::str::from_utf8(self.take(length)?).map_err(|_| RecordError::NotUtf8)
    }
}
