//! Encoded batches one after the other, as the committer hands them to the log. Pure.

use std::iter;

use crate::format::BatchHeader;

/// The bytes of whole batches, and how many messages they hold.
pub(crate) struct EncodedBatches<'a> {
    pub bytes: &'a [u8],
    pub messages: u64,
}

impl<'a> EncodedBatches<'a> {
    /// The first of `batches`, up to the one for which `fits(start, end)` is false. Both are bytes from the
    /// start of `batches`.
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
