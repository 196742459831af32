//! Publishes a writer's frames: each when it is due and the one before is written to the socket.

use std::sync::Arc;
use std::time::Instant;

use slipring_protocol::{ClientEvent, ClientProtocol, FlushId, PublishOutcome, SendError};
use slipring_wire::frame::CONTENT_TYPE;
use slipring_wire::{PropertiesBuf, PropertyId, Publish, QoS, Reason, Value};
use tokio::select;

use super::Shared;
use super::sample_buffer::DEFLATED_BYTES_MAX;
use crate::clock::now_ns;
use crate::driver::until;
use crate::outbox::OutboxPosition;

/// Frames at QoS 1 without an acknowledgement; at this number the next frame waits and grows.
const UNANSWERED_MAX: u64 = 16;

/// The bytes of a frame that hold the time it was sent.
const SENT_NS: std::ops::Range<usize> = 16..24;

/// What to do next.
pub(super) enum SendStep {
    Again,
    Wait(Option<Instant>),
    Over,
}

pub(super) struct FrameSender {
    shared: Arc<Shared>,
    properties: PropertiesBuf,
    /// An encoded frame that is not published yet, and its table; empty if there is none.
    ready: Vec<u8>,
    ready_table: u32,
    /// The end of the last frame that was published.
    last_end: Option<OutboxPosition>,
    /// Flushes whose frames were published, and how many frames must be settled for each.
    leaving: Vec<(FlushId, u64)>,
}

impl FrameSender {
    pub fn new(shared: Arc<Shared>) -> Self {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
        let (ready, leaving) = (Vec::new(), Vec::new());
        Self { shared, properties, ready, ready_table: 0, last_end: None, leaving }
    }

    pub async fn run(mut self) {
        let shared = self.shared.clone();
        loop {
            // Registered before the step, so that no progress after it is missed.
            let mut progress = std::pin::pin!(shared.boxes.outbox.progress());
            progress.as_mut().enable();
            match self.step(Instant::now()) {
                SendStep::Again => {}
                SendStep::Over => break,
                SendStep::Wait(deadline) => select! {
                    () = progress => {}
                    () = shared.wake.notified() => {}
                    () = until(deadline) => {}
                },
            }
        }
        let mut state = self.shared.lock();
        (state.closed, state.over) = (true, true);
        drop(state);
        let id = self.shared.id;
        self.shared.boxes.outbox.change(|protocol| protocol.close_batch(id));
    }

    pub(super) fn step(&mut self, now: Instant) -> SendStep {
        self.report_flushes();
        if self.shared.boxes.outbox.is_over() {
            return SendStep::Over;
        }
        let state = self.shared.lock();
        let (due, connection) = (state.buffer.due(), state.connection);
        let (closed, dropped) = (state.closed, state.dropped);
        let waits = state.flushes.len() + self.leaving.len() > 0;
        drop(state);
        if self.ready.is_empty() {
            match due {
                None if closed && !waits && self.is_answered() => return SendStep::Over,
                None => return SendStep::Wait(None),
                Some(due) if due > now => return SendStep::Wait(Some(due)),
                Some(_) => {}
            }
        }
        if !self.is_free(connection) {
            let gone =
                self.shared.boxes.outbox.look(ClientProtocol::connection) != Some(connection);
            return if dropped && gone { SendStep::Over } else { SendStep::Wait(None) };
        }
        self.make_ready(now);
        self.send(connection)
    }

    /// Whether the frame before is written, and few enough frames are unacknowledged.
    fn is_free(&self, connection: u64) -> bool {
        let outbox = &self.shared.boxes.outbox;
        if !self.last_end.is_none_or(|end| outbox.is_past(end)) {
            return false;
        }
        outbox.look(|protocol| {
            protocol.connection() == Some(connection)
                && protocol.tally(self.shared.id).outstanding < UNANSWERED_MAX
        })
    }

    fn is_answered(&self) -> bool {
        let outbox = &self.shared.boxes.outbox;
        self.last_end.is_none_or(|end| outbox.is_past(end))
            && outbox.look(|protocol| protocol.tally(self.shared.id).outstanding == 0)
    }

    /// Encodes the next frame, without the lock: the owner can write meanwhile.
    fn make_ready(&mut self, now: Instant) {
        let mut state = self.shared.lock();
        let table = state.buffer.table();
        if self.ready_table != table {
            self.ready.clear();
        }
        if !self.ready.is_empty() {
            return;
        }
        let Some((mut frame, header)) = state.buffer.take(now) else { return };
        let room = state.buffer.has_room_again();
        drop(state);
        self.ready_table = table;
        let deflate = self.shared.options.deflate && frame.bytes() <= DEFLATED_BYTES_MAX;
        frame.finish(&header, deflate, &mut self.ready);
        self.shared.lock().buffer.give_back(frame);
        if room {
            self.shared.boxes.inbox.notify(ClientEvent::Room);
        }
    }

    fn send(&mut self, connection: u64) -> SendStep {
        if self.ready.is_empty() {
            return SendStep::Again;
        }
        self.ready[SENT_NS].copy_from_slice(&now_ns().to_le_bytes());
        let Shared { boxes, options, id, .. } = &*self.shared;
        let (qos, properties) = (options.qos, self.properties.borrow());
        let publish = Publish { qos, properties, ..Publish::new(&options.topic, &self.ready) };
        let sent =
            boxes.outbox.send_on(connection, |protocol| protocol.publish_frame(*id, &publish));
        match sent {
            Ok(end) => self.last_end = Some(end),
            Err(SendError::Full | SendError::Away) => return SendStep::Wait(None),
            Err(SendError::NotConnected(_)) => return SendStep::Over,
            Err(error) => self.refuse(&error),
        }
        self.ready.clear();
        self.shared.lock().frames += 1;
        SendStep::Again
    }

    /// Counts a frame as refused that this broker will never take.
    fn refuse(&self, error: &SendError) {
        let reason = match error {
            SendError::TooLarge(..) => Reason::PacketTooLarge,
            SendError::QoS(..) => Reason::QoSNotSupported,
            _ => Reason::ImplementationSpecificError,
        };
        let outcome = PublishOutcome::Refused { reason, text: Some(error.to_string()) };
        let Shared { boxes, id, .. } = &*self.shared;
        let told = boxes.outbox.change(|protocol| protocol.refuse_frame(*id, outcome));
        if let Some(event) = told {
            boxes.inbox.notify(event);
        }
    }

    /// Reports the flushes whose frames are written and acknowledged.
    fn report_flushes(&mut self) {
        let Shared { boxes, id, options, .. } = &*self.shared;
        let mut state = self.shared.lock();
        if state.flushes.is_empty() && self.leaving.is_empty() {
            return;
        }
        let frames = state.buffer.gone() - u64::from(!self.ready.is_empty());
        let (left, waiting): (Vec<_>, Vec<_>) =
            state.flushes.drain(..).partition(|flush| flush.frames <= frames);
        state.flushes = waiting;
        drop(state);
        let (accepted, settled) = boxes.outbox.look(|protocol| {
            let tally = protocol.tally(*id);
            (tally.accepted, tally.settled)
        });
        self.leaving.extend(left.into_iter().map(|flush| (flush.id, accepted)));
        let written = self.last_end.is_none_or(|end| boxes.outbox.is_past(end));
        let answered = |count: u64| options.qos == QoS::AtMostOnce || settled >= count;
        self.leaving.retain(|(id, count)| {
            let done = written && answered(*count);
            if done {
                boxes.inbox.notify(ClientEvent::Flushed(*id));
            }
            !done
        });
    }
}
