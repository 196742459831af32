//! Takes inbound samples: frames, and plain values on the topics of parameters.

use std::sync::atomic::Ordering::Relaxed;

use slipring_core::table::{SampleRefused, frame_steps, read_frame};
use slipring_core::{Limit, ParameterIndex, SessionKey};
use slipring_wire::frame::{CONTENT_TYPE, FrameView};
use slipring_wire::{PropertyId, Publish, Reason};

use crate::broker::Broker;
use crate::feed::Feed;
use crate::publishing::Publication;
use crate::table::SharedTable;

/// Bytes of the buffer for inflated frames that a connection keeps.
const INFLATED_KEPT: usize = 64 << 10;

/// Whether a message is a frame.
pub(crate) fn is_frame(message: &Publish<'_>) -> bool {
    !message.properties.is_empty()
        && message.properties.text(PropertyId::ContentType) == Some(CONTENT_TYPE)
}

/// The reason code for a refused sample.
fn reason_of(refused: &SampleRefused) -> Reason {
    match refused {
        SampleRefused::NotDeclared { .. } | SampleRefused::NotAllowed => Reason::NotAuthorized,
        SampleRefused::Full { .. }
        | SampleRefused::Samples { .. }
        | SampleRefused::Runs { .. }
        | SampleRefused::Inflated { .. } => Reason::QuotaExceeded,
        _ => Reason::PayloadFormatInvalid,
    }
}

impl Feed {
    /// Takes a frame apart: all its samples go to the table and to the clients that chose them, or none does.
    pub fn take_frame(&mut self, publication: &Publication<'_>) -> Result<(), Reason> {
        let Publication { broker, from, message, .. } = *publication;
        self.tally.add(&self.paths.found().prefix, message.payload.len(), 0);
        let mut inflated = std::mem::take(&mut self.inflated);
        // Read before the table is locked: it is the larger part of the work.
        let taken = read_frame(message.payload, &mut inflated).and_then(|view| {
            self.work.add(frame_steps(&view));
            // A frame without samples is a message like any other: its topic decides.
            let route = self.paths.found();
            if view.samples() == 0 && !route.grant.allows(route.publishing) {
                return Err(SampleRefused::NotAllowed);
            }
            broker.table.take_frame(broker, from.session, &view, self)
        });
        self.work.add_text(inflated.len());
        inflated.clear();
        inflated.shrink_to(INFLATED_KEPT); // each connection has its own
        self.inflated = inflated;
        taken.map_err(|refused| self.refuse(broker, &refused))
    }

    /// Takes a plain message on the topic of a parameter: it is a sample of the parameter.
    pub fn take_sample(
        &mut self,
        publication: &Publication<'_>,
        parameter: ParameterIndex,
    ) -> Result<(), Reason> {
        let Publication { broker, message, .. } = *publication;
        let taken = broker.table.take_sample(broker, parameter, message, self);
        taken.map_err(|refused| self.refuse(broker, &refused))
    }

    fn refuse(&mut self, broker: &Broker, refused: &SampleRefused) -> Reason {
        broker.table.unlocked.refused.fetch_add(1, Relaxed);
        if matches!(refused, SampleRefused::Full { .. }) {
            broker.monitor.reached.count(Limit::ParameterBytes);
        }
        self.refusal = Some(refused.to_string());
        reason_of(refused)
    }
}

impl SharedTable {
    /// Takes a frame of one publisher.
    fn take_frame(
        &self,
        broker: &Broker,
        session: SessionKey,
        view: &FrameView<'_>,
        feed: &mut Feed,
    ) -> Result<(), SampleRefused> {
        let rules = broker.plan.load();
        let mut inner = self.lock();
        let at = broker.clock.arrival_at(feed.receive_ns);
        inner.table.take_frame(session, view, at, &rules)?;
        feed.work.add_bytes(self.sent_on(broker, &mut inner, &mut feed.post));
        feed.work.add(inner.read_on(broker, &mut feed.post));
        drop(inner);
        self.unlocked.frames.fetch_add(1, Relaxed);
        self.unlocked.samples.fetch_add(view.samples() as u64, Relaxed);
        feed.samples += view.samples() as u64;
        Ok(())
    }

    fn take_sample(
        &self,
        broker: &Broker,
        parameter: ParameterIndex,
        message: &Publish<'_>,
        feed: &mut Feed,
    ) -> Result<(), SampleRefused> {
        let plan = broker.plan.load();
        let mut inner = self.lock();
        let at = broker.clock.arrival_at(feed.receive_ns);
        inner.table.take_text(parameter, message, at, &plan)?;
        feed.work.add_bytes(self.sent_on(broker, &mut inner, &mut feed.post));
        drop(inner);
        self.unlocked.samples.fetch_add(1, Relaxed);
        feed.samples += 1;
        Ok(())
    }
}
