//! Reads single messages by their offsets, which is how a session's queue names them.

use std::sync::Arc;

use super::{JournalReader, avoid};
use crate::error::ReadError;
use crate::format::{BatchHeader, Flaw};
use crate::message::{FoundMessage, Messages, StoredMessage};
use crate::scan::{CheckDepth, ScanStep};
use crate::segment::JournalPosition;

type Each<'a> = &'a mut dyn FnMut(Result<FoundMessage<'_>, ReadError>);

impl JournalReader {
    /// The messages at some offsets, which ascend: one result for each. Those of one batch are read
    /// together.
    pub fn messages(&mut self, offsets: &[u64]) -> Vec<Result<StoredMessage, ReadError>> {
        let mut answers = Vec::with_capacity(offsets.len());
        let mut publisher: Arc<str> = Arc::default();
        self.visit(offsets, &mut |found| {
            answers.push(found.map(|found| {
                if *publisher != *found.publisher {
                    publisher = found.publisher.into();
                }
                found.to_stored(Arc::clone(&publisher))
            }));
        });
        answers
    }

    /// Calls `each` once for each of some offsets, which ascend, with the message there. Copies nothing.
    pub fn visit(&mut self, offsets: &[u64], each: Each<'_>) {
        let (mut taken, mut near) = (0, None);
        while taken < offsets.len() {
            let wanted = &offsets[taken..];
            let mut take = |found: Result<FoundMessage<'_>, ReadError>| {
                taken += 1;
                each(found);
            };
            match self.take_stored(wanted, near, &mut take) {
                Ok(next) => near = Some(next),
                Err(ReadError::Beyond { end, written, .. }) => {
                    // The other offsets are larger, so they are beyond the end too.
                    let beyond =
                        |asked: &u64| Err(ReadError::Beyond { asked: *asked, end, written });
                    wanted.iter().map(beyond).for_each(take);
                }
                Err(error) => take(Err(error)),
            }
        }
    }

    /// Reads the first offset and those after it that are in the same batch. Returns the position of the
    /// next batch. An error belongs to the first offset without a result.
    fn take_stored(
        &mut self,
        wanted: &[u64],
        near: Option<JournalPosition>,
        each: Each<'_>,
    ) -> Result<JournalPosition, ReadError> {
        let found = self.find(wanted[0], near);
        let (at, header) = found.map_err(|error| self.gap(wanted[0], error))?;
        let end = header.offsets().end;
        let mut scan = self.scan();
        let body = match scan.body(at, &header)? {
            Ok(body) => header.split(body).0,
            Err(flaw) => return Err(at.damage(end, flaw).into()),
        };
        let malformed = || at.damage(end, Flaw::BodyMalformed);
        let messages = Messages::new(&header, body).ok_or_else(malformed)?;
        let here = &wanted[..wanted.partition_point(|offset| *offset < end)];
        if take_wanted(messages, &header, here, each) < here.len() {
            return Err(malformed().into());
        }
        Ok(at.after(&header))
    }

    /// The batch that holds an offset. The search begins at `near`, if that is closer than the index.
    fn find(
        &mut self,
        offset: u64,
        near: Option<JournalPosition>,
    ) -> Result<(JournalPosition, BatchHeader), ReadError> {
        let range = offset..offset.saturating_add(1);
        self.check_range(&range)?;
        let near = near.filter(|near| near.offset <= offset);
        let mut at = near.unwrap_or_default().max(self.seek(offset)?);
        while at.offset <= offset {
            match self.step(at, CheckDepth::Headers)? {
                ScanStep::Batch(header) if header.offsets().contains(&offset) => {
                    return Ok((at, header));
                }
                ScanStep::Batch(header) => {
                    self.indexes.pass(at, &header);
                    at = at.after(&header);
                }
                ScanStep::Damage(damage, resume) => {
                    self.indexes.skip(at, resume);
                    at = avoid(damage, &range, resume)?;
                }
                ScanStep::Tail(flaw) => at = self.leave_segment(at, flaw, &range)?,
            }
        }
        Err(at.damage(range.end, Flaw::Missing).into())
    }
}

/// Takes the messages at the wanted offsets. Returns how many of them were found.
fn take_wanted(
    messages: Messages<'_>,
    header: &BatchHeader,
    wanted: &[u64],
    each: Each<'_>,
) -> usize {
    let (publisher, receive_ns) = (messages.publisher, header.receive_ns);
    let mut taken = 0;
    for (offset, message) in messages {
        while wanted.get(taken) == Some(&offset) {
            each(Ok(FoundMessage { offset, receive_ns, publisher, message }));
            taken += 1;
        }
        if taken == wanted.len() {
            break;
        }
    }
    taken
}
