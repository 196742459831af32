//! What the streams answer to each request.

use slipring_wire::matches;

use super::answer::{DeclaredStreams, RemovedStreams, StreamsEvent, told};
use super::declare::{BUFFERS_BYTES_MAX, StreamsChange};
use super::request::StreamsRequest;
use super::state::Streams;
use crate::desk::{
    ChangeMessages, Desk, DeskBounds, ENVELOPE_BYTES, INDEX_BYTES, RequestRefusal, Requester, json,
    page,
};
use crate::ledger::{OwnerWriter, StreamRecord};
use crate::table::ClockReading;
use crate::{Limit, Limits, SessionKey, StreamIndex};

impl Desk for Streams {
    type Request = StreamsRequest;
    type Change = StreamsChange;

    const CHANGES: &'static str = "$slipring/streams/changes";
    const QUESTIONS: &'static [&'static str] = &["list"];
    const LIMITS: [Limit; 2] = [Limit::Streams, Limit::OwnerStreams];
    const ANSWER_WORK: usize = 4; // all streams may be looked at

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
        let refuse = |problems| RequestRefusal::of(problems).expect("there is a problem");
        match request {
            StreamsRequest::Declare(asked) => {
                requester.expect_whole(ENVELOPE_BYTES + INDEX_BYTES * asked.len())?;
                let (indices, change) = self.declare(&asked, requester).map_err(refuse)?;
                Ok((json(&DeclaredStreams { revision: self.revision(), indices }), change))
            }
            StreamsRequest::Remove { names } => {
                requester.expect_whole(ENVELOPE_BYTES)?;
                let change = self.remove(requester.from.session, &names).map_err(refuse)?;
                let removed = change.removed.len();
                Ok((json(&RemovedStreams { revision: self.revision(), removed }), change))
            }
            StreamsRequest::List { filter, from, count } => {
                let there = self.catalog.iter_from(from);
                let there = there.filter(|(_, entry)| matches(&filter, &entry.name));
                let listed = there.filter_map(|(index, _)| Some((index, self.listed(index)?)));
                let (rows, next) = requester.rows(count, listed)?;
                let fields = format!("\"revision\":{}", self.revision());
                Ok((page(&fields, next, "streams", &rows), StreamsChange::default()))
            }
        }
    }

    fn record(&self, change: &StreamsChange, kept: Option<SessionKey>, out: &mut Vec<u8>) {
        for (stream, _) in &change.removed {
            StreamRecord::Removed { stream: *stream }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for stream in change.added.iter().chain(&change.changed) {
            if let Some(entry) = self.catalog.get(*stream) {
                owners.write(entry.owner.as_ref(), out);
                entry.record(*stream, out);
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
            (StreamsEvent::Added, self.named(change.added.iter().copied())),
            (StreamsEvent::Changed, self.named(change.changed.iter().copied())),
            (StreamsEvent::Removed, change.removed.clone()),
            (StreamsEvent::Live, self.named(change.live.iter().copied())),
        ];
        let told = events.iter().flat_map(|(event, some)| told(self.revision, *event, some));
        Some(told.collect())
    }

    fn take_reached(&mut self) -> (Limit, u64) {
        (Limit::Streams, self.take_unread())
    }

    fn leave(&mut self, session: SessionKey, is_kept: bool, _: ClockReading) -> ChangeMessages {
        self.follows.leave_all(session);
        let silent = self.publishers.leave(session, is_kept);
        let silent = self.named(silent.indices().map(StreamIndex::new));
        told(self.revision, StreamsEvent::Silent, &silent)
    }

    fn end(&mut self, session: SessionKey) {
        self.publishers.end(session);
    }
}

impl Streams {
    /// Those of these streams that are there, with their names.
    fn named(&self, streams: impl Iterator<Item = StreamIndex>) -> Vec<(StreamIndex, String)> {
        let name = |index| Some((index, self.catalog.get(index)?.name.to_string()));
        streams.filter_map(name).collect()
    }
}
