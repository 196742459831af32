//! One message on its way: admitted, kept, delivered, and added to the batch for the journal, in this order.

use slipring_core::access::Right;
use slipring_core::ledger::{Carried, DeliveryRecord, TableRecord};
use slipring_core::{Durability, Principal, Priority, SHARED_BYTES_MIN, Way, Work};
use slipring_journal::MessageFlags;
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::event::EventKind;
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

/// A message that is being published, and who publishes it.
#[derive(Clone, Copy)]
pub(crate) struct Publication<'a> {
    pub broker: &'a Broker,
    pub from: &'a Principal<'a>,
    pub message: &'a Publish<'a>,
    /// The MQTT version of the publisher.
    pub version: Version,
}

impl Publication<'_> {
    #[cold]
    fn tell_stored(&self, why: &str) {
        let Self { broker, from, message, .. } = *self;
        if from.way != Way::Broker {
            let (kind, client) = (EventKind::MessageStored, from.client_id);
            broker.monitor.tell_message(kind, client, message.topic, why);
        }
    }
}

impl Feed {
    /// Brings one message to all its subscribers, and into the batch for the journal. The answer is the reason
    /// code of the acknowledgement.
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
        let publication = Publication { broker, from, message, version };
        self.publish_found(&publication).unwrap_or_else(|refused| refused)
    }

    /// Publishes a message whose route was found.
    #[inline]
    fn publish_found(&mut self, publication: &Publication<'_>) -> Result<Reason, Reason> {
        self.admit(publication)?;
        if let Some(asked) = self.take_request(publication) {
            return asked;
        }
        self.admit_plain(publication)?;
        if self.post.is_told {
            let Publication { broker, from, message, .. } = *publication;
            broker.monitor.tell_received(from, message);
        }
        let carried = self.keep(publication)?;
        let has_readers = self.deliver(publication, carried)?;
        self.add_to_batch(publication, carried);
        Ok(if has_readers { Reason::Success } else { Reason::NoMatchingSubscribers })
    }

    /// Refuses messages that the publisher may not publish in any way, and those that the journal cannot keep as
    /// promised.
    #[inline]
    fn admit(&self, publication: &Publication<'_>) -> Result<(), Reason> {
        let route = self.paths.found();
        let may_be_allowed = route.grant.allows_any(&[route.publishing, Right::Request]);
        if !may_be_allowed && !is_frame(publication.message) {
            return Err(Reason::NotAuthorized);
        }
        let level = route.level_of(publication.message.qos);
        publication.broker.journal.gates.refusal(level).map_or(Ok(()), Err)
    }

    /// Refuses messages that are no requests, and that the publisher may not publish. The samples of a frame are
    /// checked one by one: their publisher has declared them.
    #[inline]
    fn admit_plain(&self, publication: &Publication<'_>) -> Result<(), Reason> {
        let (Publication { message, .. }, Route { grant, publishing, .. }) =
            (*publication, self.paths.found());
        let is_allowed = grant.allows(*publishing) || is_frame(message);
        if !is_allowed || message.retain && !grant.allows(Right::Retain) {
            return Err(Reason::NotAuthorized);
        }
        Ok(())
    }

    /// Keeps samples in the table, a chunk in its buffer, a retained message, or the newest value of the topic.
    /// Returns which samples the message carries.
    #[inline]
    fn keep(&mut self, publication: &Publication<'_>) -> Result<Option<Carried>, Reason> {
        let Publication { message, .. } = *publication;
        if is_frame(message) {
            return self.take_frame(publication).map(|()| Some(Carried::Frame));
        }
        let mut carried = None;
        match self.paths.found().kind {
            TopicKind::Plain(_) => {}
            TopicKind::Parameter(parameter) => {
                self.take_sample(publication, parameter)?;
                carried = Some(Carried::Sample(parameter));
            }
            TopicKind::Stream(stream) => self.take_chunk(publication, stream)?,
        }
        if message.retain {
            self.retain(publication)?;
            if self.post.is_told {
                publication.tell_stored("as the retained message");
            }
        }
        if let TopicKind::Plain(Some(slot)) = &self.paths.found().kind {
            slot.set(message.payload, self.receive_ns);
        }
        Ok(carried)
    }

    /// Brings the message to its subscribers, or lets it wait for one. Returns whether anybody reads it. The
    /// samples of a frame went to their readers with the table.
    #[inline]
    fn deliver(
        &mut self,
        publication: &Publication<'_>,
        carried: Option<Carried>,
    ) -> Result<bool, Reason> {
        if carried == Some(Carried::Frame) {
            return Ok(true);
        }
        let Publication { broker, message, .. } = *publication;
        let Self { paths, batch, post, work, tally, .. } = self;
        let route = paths.found();
        let (level, deliveries) = (route.level_of(message.qos), route.audience.len());
        if deliveries > 0 {
            work.add(deliveries * delivery_steps(message.payload.len()));
            let index = (level > Durability::Memory).then_some(batch.len() as u32);
            post.publisher = publication.from.session;
            post.begin(broker, message, index, level, deliveries);
            post.set_topic_priority(route.priority);
            deliver_to_all(broker, route, message, post, work);
        }
        tally.add(&route.prefix, message.payload.len(), deliveries);
        let is_stream = matches!(route.kind, TopicKind::Stream(_));
        if deliveries == 0 && !message.properties.is_empty() {
            self.let_wait(publication, level)?;
        }
        Ok(deliveries > 0 || is_stream)
    }

    /// Adds the message to the batch, if its topic is journaled.
    #[inline]
    pub fn add_to_batch(&mut self, publication: &Publication<'_>, carried: Option<Carried>) {
        let route = self.paths.found();
        let (qos, is_journaled) = (publication.message.qos, route.is_journaled);
        let level = route.level_of(qos);
        if is_journaled {
            let index = self.batch.len() as u32;
            let record = carried.map(|carried| match carried {
                Carried::Frame => TableRecord::Framed { index },
                Carried::Sample(parameter) => TableRecord::Sampled { index, parameter },
            });
            if let Some(record) = record {
                record.encode(self.batch.records());
            }
            self.write(publication, level);
        }
        if qos > QoS::AtMostOnce {
            self.promised.add(level);
        }
    }

    fn write(&mut self, publication: &Publication<'_>, level: Durability) {
        let Publication { from, message, .. } = *publication;
        if !self.batch.has_messages() {
            self.batch.begin(from.client_id, self.receive_ns);
        }
        let flags = MessageFlags::new(message.qos as u8, message.retain);
        self.batch.push(flags, message.topic, message.properties.encoded(), message.payload);
        let priority = Priority::of(message.properties).unwrap_or(self.paths.found().priority);
        if priority == Priority::High {
            self.batch.hurry();
        }
        self.wait_for(level);
        let is_noted = message.qos == QoS::ExactlyOnce && from.is_durable;
        if let (true, Some(packet_id)) = (is_noted && level > Durability::Memory, message.packet_id)
        {
            let session = from.session;
            DeliveryRecord::Incoming { session, packet_id }.encode(self.records(level));
        }
    }

    /// A message that has no subscriber waits for one, if it asks to.
    fn let_wait(&mut self, publication: &Publication<'_>, level: Durability) -> Result<(), Reason> {
        let Publication { broker, from, message, .. } = *publication;
        let route = self.paths.found();
        let place = route.is_journaled.then_some((self.batch.len() as u32, level));
        match Unclaimed::new(broker, message, route.priority, place, from) {
            Ok(None) => {}
            Ok(Some(unclaimed)) => {
                if let Some(record) = unclaimed.record(broker, self.receive_ns) {
                    self.own(from.owner);
                    record.encode(self.batch.records());
                }
                if self.post.is_told {
                    publication.tell_stored("until a client subscribes");
                }
                self.unclaimed.push(unclaimed);
            }
            // The message goes on: its record as a retained message names its place in the batch.
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
        let (target, looked_at) = share.choose(route.balance);
        work.add(looked_at);
        post.deliver(broker, target, message, &route.topic);
    }
}
