//! The desk of the streams: what each request does.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::answer::RemovedStreams;
use super::declare::StreamsChange;
use super::request::StreamsRequest;
use super::state::Streams;
use crate::access::Right;
use crate::desk::{
    ChangeEvent, ChangeMessages, Desk, DeskBounds, ENVELOPE_BYTES, FoundIndices, INDEX_BYTES,
    Problem, ProblemCode, RequestRefusal, Requester, json, page, refuse,
};
use crate::ledger::{OwnerWriter, StreamRecord};
use crate::table::ClockReading;
use crate::{Limit, Limits, SessionKey, StreamIndex};

const NOT_ALLOWED: &str = "you have no right to send this stream";

/// The most bytes of all buffers, as declared.
const BUFFERS_BYTES_MAX: usize = 256 << 20;

impl Desk for Streams {
    type Request = StreamsRequest;
    type Change = StreamsChange;

    const CHANGES: &'static str = "$slipring/streams/changes";
    const QUESTIONS: &'static [&'static str] = &["list"];
    const LIMITS: [Limit; 2] = [Limit::Streams, Limit::OwnerStreams];
    const BYTES_OF: &'static str = "buffers of all streams";
    const ANSWER_WORK: usize = 4; // a list may have to look at all streams

    fn bounds(limits: &Limits) -> DeskBounds {
        let quotas = limits.streams_quotas(BUFFERS_BYTES_MAX);
        DeskBounds::of(limits, limits.streams, BUFFERS_BYTES_MAX, quotas)
    }

    fn parse(name: &str, body: &[u8]) -> Result<StreamsRequest, RequestRefusal> {
        StreamsRequest::parse(name, body)
    }

    fn act(
        &mut self,
        request: StreamsRequest,
        requester: &Requester<'_>,
    ) -> Result<(Vec<u8>, StreamsChange), RequestRefusal> {
        match request {
            StreamsRequest::Declare(asked) => {
                let denied = asked.iter().filter(|one| !requester.may(Right::Stream, &one.name));
                let denied = denied.map(|one| one.problem(ProblemCode::NotAllowed, NOT_ALLOWED));
                refuse(denied.collect())?;
                requester.expect_whole(ENVELOPE_BYTES + INDEX_BYTES * asked.len())?;
                let (indices, change) =
                    self.declare(&asked, requester).map_err(RequestRefusal::of)?;
                let (table, revision) = (None, self.revision);
                Ok((json(&FoundIndices { table, revision, indices }), change))
            }
            StreamsRequest::Remove { names } => {
                let denied = names.iter().enumerate();
                let denied = denied.filter(|(_, name)| !requester.may(Right::Stream, name));
                let denied = denied
                    .map(|(at, name)| Problem::new(at, name, ProblemCode::NotAllowed, NOT_ALLOWED));
                refuse(denied.collect())?;
                requester.expect_whole(ENVELOPE_BYTES)?;
                let change = self.remove(requester.from.session, &names);
                let change = change.map_err(RequestRefusal::of)?;
                let removed = change.removed.len();
                Ok((json(&RemovedStreams { revision: self.revision, removed }), change))
            }
            StreamsRequest::List { filter, from, count } => {
                let there = self.catalog.iter_from(from);
                let there = there.filter(|(_, entry)| {
                    matches(&filter, &entry.name) && requester.may(Right::Stream, &entry.name)
                });
                let listed = there.filter_map(|(index, _)| Some((index, self.listed(index)?)));
                let (rows, next) = requester.rows(count, listed)?;
                let fields = format!("\"revision\":{}", self.revision);
                Ok((page(&fields, next, "streams", &rows), StreamsChange::default()))
            }
        }
    }

    fn record(&self, change: &StreamsChange, kept: Option<SessionKey>, out: &mut Vec<u8>) {
        for (stream, _) in &change.removed {
            StreamRecord::Removed { stream: *stream }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for stream in change.added.indices().chain(change.changed.indices()).map(StreamIndex::new) {
            if let Some(entry) = self.catalog.get(stream) {
                owners.write(entry.owner.as_ref(), out);
                entry.record(stream, out);
            }
        }
        if let Some(session) = kept {
            change.record_entered(session, out);
        }
    }

    fn changed(&mut self, change: &StreamsChange, _: ClockReading) -> Option<ChangeMessages> {
        if change.is_empty() {
            return None;
        }
        let events = [
            (ChangeEvent::Added, self.named(&change.added)),
            (ChangeEvent::Changed, self.named(&change.changed)),
            (ChangeEvent::Removed, change.removed.clone()),
            (ChangeEvent::Live, self.named(&change.live)),
        ];
        Some(events.iter().flat_map(|(event, some)| self.announce(*event, some)).collect())
    }

    const SEEING: Right = Right::Stream;

    fn narrowed(&self, message: &[u8], may_see: &dyn Fn(&str) -> bool) -> Option<Vec<u8>> {
        let mut told: serde_json::Value = serde_json::from_slice(message).ok()?;
        let indices: Vec<u32> = serde_json::from_value(told["indices"].take()).ok()?;
        let names: Vec<String> = serde_json::from_value(told["names"].take()).ok()?;
        let seen = indices.into_iter().zip(names).filter(|(_, name)| may_see(name));
        let (indices, names): (Vec<u32>, Vec<String>) = seen.unzip();
        let is_empty = names.is_empty();
        (told["indices"], told["names"]) = (indices.into(), names.into());
        (!is_empty).then(|| json(&told))
    }

    fn take_reached(&mut self) -> (Limit, u64) {
        (Limit::Streams, self.take_unread())
    }

    fn restore(&mut self, session: SessionKey, client_id: &str, declared: &RangeSet) {
        let Self { catalog, publishers, .. } = self;
        let exists = |index: &u32| catalog.get(StreamIndex::new(*index)).is_some();
        publishers.restore(session, client_id, declared, catalog.end().get(), exists);
    }

    fn leave(&mut self, session: SessionKey, is_kept: bool, _: ClockReading) -> ChangeMessages {
        self.readers.leave_all(session);
        let silent = self.publishers.leave(session, is_kept);
        self.announce(ChangeEvent::Silent, &self.named(&silent))
    }

    fn end(&mut self, session: SessionKey) {
        self.publishers.end(session);
    }
}

impl Streams {
    /// Those of these streams that exist, with their names.
    fn named(&self, streams: &RangeSet) -> Vec<(StreamIndex, Arc<str>)> {
        let name = |index| Some((index, Arc::clone(&self.catalog.get(index)?.name)));
        streams.indices().map(StreamIndex::new).filter_map(name).collect()
    }
}
