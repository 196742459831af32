//! Samples on their way in: frames, and plain values on the topics of parameters.

use std::sync::atomic::Ordering::Relaxed;

use slipring_core::ledger::Record;
use slipring_core::table::{SampleRefused, frame_steps, read_frame};
use slipring_core::{Durability, Limit};
use slipring_wire::frame::{CONTENT_TYPE, FrameView};
use slipring_wire::{PropertyId, Publish, QoS, Reason};

use crate::broker::Broker;
use crate::feed::{Feed, Publisher};

/// Memory for inflated frames that a connection keeps from one to the next.
const INFLATED_KEPT: usize = 64 << 10;

/// Whether a message is a frame.
pub(crate) fn is_frame(message: &Publish<'_>) -> bool {
    !message.properties.is_empty()
        && message.properties.text(PropertyId::ContentType) == Some(CONTENT_TYPE)
}

/// What a refused sample is answered.
fn reason_of(refused: &SampleRefused) -> Reason {
    match refused {
        SampleRefused::NotDeclared { .. } => Reason::NotAuthorized,
        SampleRefused::Full { .. }
        | SampleRefused::Samples { .. }
        | SampleRefused::Runs { .. }
        | SampleRefused::Inflated { .. } => Reason::QuotaExceeded,
        _ => Reason::PayloadFormatInvalid,
    }
}

impl Feed {
    /// Takes a frame apart, as a whole or not at all: its samples go to the table and to whoever chose
    /// them.
    pub fn publish_frame(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
    ) -> Reason {
        let route = self.paths.find(broker, from.key, message.topic);
        let (level, journaled) = (route.level_of(message.qos), route.journaled);
        self.tally.add(&route.prefix, message.payload.len(), 0);
        if let Some(reason) = broker.gates.refusal(level) {
            return reason;
        }
        let mut inflated = std::mem::take(&mut self.inflated);
        // Read before the table is locked: it is the larger part of the work.
        let taken = read_frame(message.payload, &mut inflated).and_then(|view| {
            self.work.add(frame_steps(&view));
            broker.take_frame(from.key, &view, self)
        });
        self.work.add_text(inflated.len());
        inflated.clear();
        inflated.shrink_to(INFLATED_KEPT); // each connection has its own
        self.inflated = inflated;
        match taken {
            Ok(()) => {
                self.keep_frame(from, message, level, journaled);
                Reason::Success
            }
            Err(refused) => self.refuse(broker, &refused),
        }
    }

    /// A message on a topic that was declared is a sample of a parameter, which is returned, or a chunk
    /// of a stream.
    pub fn take_declared(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
    ) -> Result<Option<u32>, Reason> {
        let route = self.paths.find(broker, from.key, message.topic);
        match (route.parameter, route.stream) {
            (Some(parameter), _) => {
                self.take_sample(broker, from, message, parameter).map(|()| Some(parameter))
            }
            (None, Some(_)) => self.take_chunk(broker, from, message).map(|()| None),
            (None, None) => Ok(None),
        }
    }

    /// A plain message on the topic of a parameter is a sample of it.
    fn take_sample(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        parameter: u32,
    ) -> Result<(), Reason> {
        let route = self.paths.find(broker, from.key, message.topic);
        if let Some(reason) = broker.gates.refusal(route.level_of(message.qos)) {
            return Err(reason);
        }
        let taken = broker.take_sample(parameter, message, self);
        taken.map_err(|refused| self.refuse(broker, &refused))
    }

    fn refuse(&mut self, broker: &Broker, refused: &SampleRefused) -> Reason {
        broker.table.counters.refused.fetch_add(1, Relaxed);
        if matches!(refused, SampleRefused::Full { .. }) {
            broker.reached.count(Limit::ParameterBytes);
        }
        self.refusal = Some(refused.to_string());
        reason_of(refused)
    }

    fn keep_frame(
        &mut self,
        from: Publisher<'_>,
        message: &Publish<'_>,
        level: Durability,
        journaled: bool,
    ) {
        if journaled {
            Record::Framed { index: self.batch.len() as u32 }.encode(self.batch.records());
            self.write(from, message, level);
        }
        if message.qos > QoS::AtMostOnce {
            self.promised.add(level);
        }
    }
}

impl Broker {
    /// Takes a frame of one publisher.
    fn take_frame(
        &self,
        session: u64,
        view: &FrameView<'_>,
        feed: &mut Feed,
    ) -> Result<(), SampleRefused> {
        let rules = self.plan.load();
        let mut inner = self.table.lock();
        let at = self.arrival(feed.receive_ns);
        inner.table.take_frame(session, view, at, &rules)?;
        feed.work.add_bytes(self.sent_on(&mut inner, &mut feed.post));
        feed.work.add(inner.read_on(self, &mut feed.post));
        drop(inner);
        self.table.counters.frames.fetch_add(1, Relaxed);
        self.table.counters.samples.fetch_add(view.samples() as u64, Relaxed);
        Ok(())
    }

    fn take_sample(
        &self,
        parameter: u32,
        message: &Publish<'_>,
        feed: &mut Feed,
    ) -> Result<(), SampleRefused> {
        let plan = self.plan.load();
        let mut inner = self.table.lock();
        inner.table.take_text(parameter, message, self.arrival(feed.receive_ns), &plan)?;
        feed.work.add_bytes(self.sent_on(&mut inner, &mut feed.post));
        drop(inner);
        self.table.counters.samples.fetch_add(1, Relaxed);
        Ok(())
    }
}
