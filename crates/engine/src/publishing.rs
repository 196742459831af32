//! One message on its way: admitted, kept, delivered, and added to the batch for the journal, in this order.

use slipring_core::ledger::TableRecord;
use slipring_core::{Durability, ParameterIndex, Principal, SHARED_BYTES_MIN, Work};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::feed::Feed;
use crate::paths::{Route, TopicKind};
use crate::post::Post;
use crate::table::samples::is_frame;
use crate::waiting::Unclaimed;

/// Bytes of a message that are copied to a subscriber in one step of work.
const COPIED_STEP: usize = 128;
/// Steps of sharing a payload with one subscriber, whatever its size.
const SHARED_STEPS: usize = 4;

/// Steps of work to bring a payload of so many bytes to one subscriber.
fn delivery_steps(payload_bytes: usize) -> usize {
    let is_shared = payload_bytes >= SHARED_BYTES_MIN;
    Work::DELIVERY + if is_shared { SHARED_STEPS } else { payload_bytes / COPIED_STEP }
}

impl Feed {
    /// Brings one message to everyone who wants it, and into the batch for the journal. The answer
    /// is what an acknowledgement says.
    ///
    /// QoS 0 goes at once; the rest when the batch has its offsets, see [`Feed::journal`].
    pub fn publish(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Reason {
        self.messages += 1;
        self.paths.find(broker, from, message.topic);
        let published = self.admit(broker, message).and_then(|()| {
            if is_frame(message) {
                self.publish_frame(broker, from, message)
            } else {
                self.publish_message(broker, from, message, version)
            }
        });
        published.unwrap_or_else(|refused| refused)
    }

    /// Refuses what the publisher may not publish, and what the journal could not keep as promised.
    #[inline]
    fn admit(&self, broker: &Broker, message: &Publish<'_>) -> Result<(), Reason> {
        let route = self.paths.found();
        if !route.is_allowed {
            return Err(Reason::NotAuthorized);
        }
        broker.journal.gates.refusal(route.level_of(message.qos)).map_or(Ok(()), Err)
    }

    #[inline]
    fn publish_message(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Result<Reason, Reason> {
        let sample_of = self.keep(broker, from, message, version)?;
        let deliveries = self.deliver(broker, from, message)?;
        self.add_to_batch(from, message, sample_of);
        let is_stream = matches!(self.paths.found().kind, TopicKind::Stream(_));
        Ok(if deliveries > 0 || is_stream {
            Reason::Success
        } else {
            Reason::NoMatchingSubscribers
        })
    }

    /// Keeps what outlives the delivery: a sample in the table, a chunk in its buffer, a retained message, the newest
    /// value of the topic. The parameter that the message is a sample of is returned.
    #[inline]
    fn keep(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Result<Option<ParameterIndex>, Reason> {
        let sample_of = match self.paths.found().kind {
            TopicKind::Plain(_) => None,
            TopicKind::Parameter(parameter) => Some(self.take_sample(broker, parameter, message)?),
            TopicKind::Stream(stream) => {
                self.take_chunk(broker, from, stream, message)?;
                // The chunk may have told others, with routes of their own.
                self.paths.find(broker, from, message.topic);
                None
            }
        };
        if message.retain {
            self.retain(broker, from, message, version)?;
            self.paths.find(broker, from, message.topic);
        }
        if let TopicKind::Plain(Some(slot)) = &self.paths.found().kind {
            slot.set(message.payload, self.receive_ns);
        }
        Ok(sample_of)
    }

    /// Brings the message to its subscribers, or lets it wait for one; to how many.
    #[inline]
    fn deliver(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
    ) -> Result<usize, Reason> {
        let Self { paths, batch, post, work, tally, .. } = self;
        let route = paths.found();
        let (level, deliveries) = (route.level_of(message.qos), route.audience.len());
        if deliveries > 0 {
            work.add(deliveries * delivery_steps(message.payload.len()));
            let index = (level > Durability::Memory).then_some(batch.len() as u32);
            post.begin(broker, message, index, level, deliveries);
            deliver_to_all(broker, route, message, post, work);
        }
        tally.add(&route.prefix, message.payload.len(), deliveries);
        if deliveries == 0 && !message.properties.is_empty() {
            self.let_wait(broker, from, message, level)?;
        }
        Ok(deliveries)
    }

    /// Adds the message to the batch, if its topic is journaled.
    #[inline]
    fn add_to_batch(
        &mut self,
        from: &Principal<'_>,
        message: &Publish<'_>,
        sample_of: Option<ParameterIndex>,
    ) {
        let route = self.paths.found();
        let level = route.level_of(message.qos);
        if route.journaled {
            if let Some(parameter) = sample_of {
                let index = self.batch.len() as u32;
                TableRecord::Sampled { index, parameter }.encode(self.batch.records());
            }
            self.write(from, message, level);
        }
        if message.qos > QoS::AtMostOnce {
            self.promised.add(level);
        }
    }

    /// A message that has no subscriber waits for one, if it asks to.
    fn let_wait(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
        level: Durability,
    ) -> Result<(), Reason> {
        let journaled = self.paths.found().journaled;
        let place = journaled.then_some((self.batch.len() as u32, level));
        match Unclaimed::new(broker, message, place, from) {
            Ok(None) => {}
            Ok(Some(unclaimed)) => {
                if let Some(record) = unclaimed.record(broker, self.receive_ns) {
                    self.own(from.owner);
                    record.encode(self.batch.records());
                }
                self.unclaimed.push(unclaimed);
            }
            // It goes on: what was noted of it as a retained message names its place in the batch.
            Err(limit) if message.retain => broker.monitor.reached.count(limit),
            Err(limit) => return Err(self.refuse_to_keep(broker, limit)),
        }
        Ok(())
    }
}

/// Brings a message to each of its subscribers, and to one member of each share.
#[inline]
fn deliver_to_all(
    broker: &Broker,
    route: &Route,
    message: &Publish<'_>,
    post: &mut Post,
    work: &mut Work,
) {
    for target in &route.audience.targets {
        post.deliver(broker, target, message, &route.topic);
    }
    for share in &route.audience.shares {
        let (target, looked_at) = share.choose();
        work.add(looked_at);
        post.deliver(broker, target, message, &route.topic);
    }
}
