//! Encoded batches one after the other, as they are handed from the queue to the log. Pure.

use std::iter;

use crate::format::BatchHeader;

/// Encoded batches, the first of some.
pub(crate) struct Run<'a> {
    pub bytes: &'a [u8],
    pub messages: u64,
}

impl<'a> Run<'a> {
    /// As many as `fits(start, end)` holds for, in bytes from the first.
    pub fn first(batches: &'a [u8], fits: impl Fn(usize, usize) -> bool) -> Self {
        let (mut start, mut messages) = (0, 0);
        while start < batches.len() {
            let header = BatchHeader::decode(&batches[start..]).expect("the journal encoded it");
            let end = start + header.batch_bytes() as usize;
            if !fits(start, end) {
                break;
            }
            (start, messages) = (end, messages + u64::from(header.count));
        }
        Self { bytes: &batches[..start], messages }
    }

    pub fn headers(&self) -> impl Iterator<Item = BatchHeader> {
        let mut rest = self.bytes;
        iter::from_fn(move || {
            let header = BatchHeader::decode(rest).ok()?;
            rest = &rest[header.batch_bytes() as usize..];
            Some(header)
        })
    }
}
