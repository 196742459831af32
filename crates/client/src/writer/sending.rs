//! Moves frames from a writer to its connection, when they are due and the one before is written.

use std::sync::Arc;
use std::time::Instant;

use slipring_wire::frame::CONTENT_TYPE;
use slipring_wire::{PropertiesBuf, PropertyId, Publish, QoS, Reason, Value};
use tokio::select;

use super::Shared;
use super::gathering::DEFLATED_BYTES_MAX;
use crate::clock::now_ns;
use crate::driver::until;
use crate::machine::{FlushId, Machine, Notice, Outcome, SendError};
use crate::outbox::Mark;

/// Frames at QoS 1 that may be without an answer; then the next one grows.
const UNANSWERED_MAX: u64 = 16;

/// Where a frame says when it was sent.
const SENT_NS: std::ops::Range<usize> = 16..24;

/// What to do next.
pub(super) enum Next {
    Again,
    Wait(Option<Instant>),
    Over,
}

pub(super) struct Sending {
    shared: Arc<Shared>,
    properties: PropertiesBuf,
    /// A frame that is not a message yet, and the table it is of; empty if there is none.
    ready: Vec<u8>,
    ready_table: u32,
    /// The end of the last frame that became one.
    mark: Option<Mark>,
    /// Flushes whose frames have left, and how many answers there must be.
    leaving: Vec<(FlushId, u64)>,
}

impl Sending {
    pub fn new(shared: Arc<Shared>) -> Self {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
        let (ready, leaving) = (Vec::new(), Vec::new());
        Self { shared, properties, ready, ready_table: 0, mark: None, leaving }
    }

    pub async fn run(mut self) {
        let shared = self.shared.clone();
        loop {
            // What happens after the look below is not missed.
            let mut progress = std::pin::pin!(shared.boxes.outbox.progress());
            progress.as_mut().enable();
            match self.step(Instant::now()) {
                Next::Again => {}
                Next::Over => break,
                Next::Wait(deadline) => select! {
                    () = progress => {}
                    () = shared.wake.notified() => {}
                    () = until(deadline) => {}
                },
            }
        }
        let mut state = self.shared.lock();
        (state.closed, state.over) = (true, true);
        drop(state);
        let stream = self.shared.stream;
        self.shared.boxes.outbox.change(|machine| machine.close_batch(stream));
    }

    pub(super) fn step(&mut self, now: Instant) -> Next {
        self.tell_flushed();
        if self.shared.boxes.outbox.is_over() {
            return Next::Over;
        }
        let state = self.shared.lock();
        let (due, connection) = (state.gathering.due(), state.connection);
        let (closed, dropped) = (state.closed, state.dropped);
        let waits = state.flushes.len() + self.leaving.len() > 0;
        drop(state);
        if self.ready.is_empty() {
            match due {
                None if closed && !waits && self.is_answered() => return Next::Over,
                None => return Next::Wait(None),
                Some(due) if due > now => return Next::Wait(Some(due)),
                Some(_) => {}
            }
        }
        if !self.is_free(connection) {
            let gone = self.shared.boxes.outbox.look(Machine::connection) != Some(connection);
            return if dropped && gone { Next::Over } else { Next::Wait(None) };
        }
        self.make_ready(now);
        self.send(connection)
    }

    /// Whether the frame before is written, and enough of them are answered.
    fn is_free(&self, connection: u64) -> bool {
        let outbox = &self.shared.boxes.outbox;
        if !self.mark.is_none_or(|mark| outbox.is_past(mark)) {
            return false;
        }
        outbox.look(|machine| {
            machine.connection() == Some(connection)
                && machine.tally(self.shared.stream).outstanding < UNANSWERED_MAX
        })
    }

    fn is_answered(&self) -> bool {
        let outbox = &self.shared.boxes.outbox;
        self.mark.is_none_or(|mark| outbox.is_past(mark))
            && outbox.look(|machine| machine.tally(self.shared.stream).outstanding == 0)
    }

    /// Encodes the next frame; the writer is free for its owner meanwhile.
    fn make_ready(&mut self, now: Instant) {
        let mut state = self.shared.lock();
        let table = state.gathering.table();
        if self.ready_table != table {
            self.ready.clear();
        }
        if !self.ready.is_empty() {
            return;
        }
        let Some((mut frame, header)) = state.gathering.take(now) else { return };
        let room = state.gathering.has_room_again();
        drop(state);
        self.ready_table = table;
        let deflate = self.shared.options.deflate && frame.bytes() <= DEFLATED_BYTES_MAX;
        frame.finish(&header, deflate, &mut self.ready);
        self.shared.lock().gathering.give_back(frame);
        if room {
            self.shared.boxes.inbox.notify(Notice::Room);
        }
    }

    fn send(&mut self, connection: u64) -> Next {
        if self.ready.is_empty() {
            return Next::Again;
        }
        self.ready[SENT_NS].copy_from_slice(&now_ns().to_le_bytes());
        let Shared { boxes, options, stream, .. } = &*self.shared;
        let (qos, properties) = (options.qos, self.properties.borrow());
        let publish = Publish { qos, properties, ..Publish::new(&options.topic, &self.ready) };
        let sent =
            boxes.outbox.send_on(connection, |machine| machine.publish_on(*stream, &publish));
        match sent {
            Ok(mark) => self.mark = Some(mark),
            Err(SendError::Full | SendError::Away) => return Next::Wait(None),
            Err(SendError::NotConnected(_)) => return Next::Over,
            Err(error) => self.refuse(&error),
        }
        self.ready.clear();
        self.shared.lock().frames += 1;
        Next::Again
    }

    /// A frame that this broker would not take, and that no other moment makes better.
    fn refuse(&self, error: &SendError) {
        let reason = match error {
            SendError::TooLarge(..) => Reason::PacketTooLarge,
            SendError::QoS(..) => Reason::QoSNotSupported,
            _ => Reason::ImplementationSpecificError,
        };
        let outcome = Outcome::Refused { reason, text: Some(error.to_string()) };
        let Shared { boxes, stream, .. } = &*self.shared;
        let told = boxes.outbox.change(|machine| machine.refuse_on(*stream, outcome));
        if let Some(notice) = told {
            boxes.inbox.notify(notice);
        }
    }

    /// Tells of the flushes whose frames are written and answered.
    fn tell_flushed(&mut self) {
        let Shared { boxes, stream, options, .. } = &*self.shared;
        let mut state = self.shared.lock();
        if state.flushes.is_empty() && self.leaving.is_empty() {
            return;
        }
        let frames = state.gathering.gone() - u64::from(!self.ready.is_empty());
        let (left, waiting): (Vec<_>, Vec<_>) =
            state.flushes.drain(..).partition(|flush| flush.frames <= frames);
        state.flushes = waiting;
        drop(state);
        let (accepted, settled) = boxes.outbox.look(|machine| {
            let tally = machine.tally(*stream);
            (tally.accepted, tally.settled)
        });
        self.leaving.extend(left.into_iter().map(|flush| (flush.id, accepted)));
        let written = self.mark.is_none_or(|mark| boxes.outbox.is_past(mark));
        let answered = |count: u64| options.qos == QoS::AtMostOnce || settled >= count;
        self.leaving.retain(|(id, count)| {
            let done = written && answered(*count);
            if done {
                boxes.inbox.notify(Notice::Flushed(*id));
            }
            !done
        });
    }
}
