//! What is kept of one session: enough to go on with it after the broker's end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, QoS};

use super::queue::Queue;
use super::run::Run;
use crate::{Options, Owner, WillMessage};

/// A session as the records tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Whose it is.
    pub client_id: Box<str>,
    /// Only this user may have it.
    pub user: Option<Box<str>>,
    /// Whose quota it is counted for; None in records that do not tell.
    pub owner: Option<Owner>,
    /// Seconds to keep it when the client is away. After a restart every client is away, so a session
    /// with 0 is over.
    pub expiry_s: u32,
    /// When the client went; None is a client that was connected when the records end.
    pub left_ns: Option<i64>,
    /// To be published: when its delay has passed, or at once for a client that was connected.
    pub will: Option<WillMessage>,
    /// By the filter as the client wrote it.
    pub subscriptions: BTreeMap<Box<str>, KeptSubscription>,
    /// QoS 2 messages sent and not completed, in the order sent.
    pub inflight: VecDeque<InFlight>,
    /// QoS 2 messages received and not released.
    pub incoming: BTreeSet<PacketId>,
    /// Parameters that it has declared, by index.
    pub parameters: RangeSet,
    /// Streams that it has declared, by index.
    pub streams: RangeSet,
    pub(super) queue: Queue,
}

/// A subscription of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSubscription {
    /// What it asks for.
    pub options: Options,
    /// Its retained messages that were not all on their way.
    pub replay: Option<PendingReplay>,
    /// The parameters of the list that the filter names.
    pub list: Option<RangeSet>,
}

/// Retained messages that are still to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingReplay {
    /// Those up to this topic are on their way; None is none.
    pub after: Option<Box<str>>,
}

/// A QoS 2 message between PUBLISH and PUBCOMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The identifier it was sent with, and no other message may have.
    pub packet_id: PacketId,
    /// The message, to be sent again; None when the client has it, or it is lost: only PUBREL is sent.
    pub message: Option<Run>,
}

impl Kept {
    pub(super) fn new(client_id: &str, user: Option<&str>) -> Self {
        Self {
            client_id: client_id.into(),
            user: user.map(Into::into),
            owner: None,
            expiry_s: 0,
            left_ns: None,
            will: None,
            subscriptions: BTreeMap::new(),
            inflight: VecDeque::new(),
            incoming: BTreeSet::new(),
            parameters: RangeSet::new(),
            streams: RangeSet::new(),
            queue: Queue::default(),
        }
    }

    /// QoS 1 and 2 messages that wait, the oldest first. Those sent at QoS 1 are among them.
    pub fn queue(&self) -> impl Iterator<Item = &Run> {
        self.queue.runs()
    }

    /// The lowest offset it needs.
    pub fn needed(&self) -> Option<u64> {
        let sent = self.inflight.iter().filter_map(|sent| sent.message.as_ref());
        sent.chain(self.queue()).map(|run| run.first).min()
    }

    pub(super) fn subscribe(
        &mut self,
        filter: &str,
        options: Options,
        replay: bool,
        list: Option<RangeSet>,
    ) {
        // A subscription that is replaced without a replay goes on with the one it has.
        let begun = self.subscriptions.get_mut(filter).and_then(|known| known.replay.take());
        let replay = if replay { Some(PendingReplay::default()) } else { begun };
        self.subscriptions.insert(filter.into(), KeptSubscription { options, replay, list });
    }

    pub(super) fn replayed_to(&mut self, filter: &str, topic: &str) {
        let subscription = self.subscriptions.get_mut(filter);
        if let Some(replay) = subscription.and_then(|known| known.replay.as_mut()) {
            replay.after = Some(topic.into());
        }
    }

    pub(super) fn replayed(&mut self, filter: &str) {
        if let Some(subscription) = self.subscriptions.get_mut(filter) {
            subscription.replay = None;
        }
    }

    /// A QoS 2 message leaves the queue. The identifier is taken even if the message is not known.
    pub(super) fn sent(&mut self, packet_id: PacketId, offset: Option<u64>) {
        self.completed(packet_id);
        let mut message = None;
        // The last offset there could be has no successor, and no message.
        let range = offset.and_then(|offset| Some(offset..offset.checked_add(1)?));
        if let Some(range) = range {
            self.queue.take(range, QoS::ExactlyOnce, |run| message = Some(run));
        }
        self.inflight.push_back(InFlight { packet_id, message });
    }

    pub(super) fn received(&mut self, packet_id: PacketId) {
        if let Some(at) = self.find(packet_id) {
            self.inflight[at].message = None;
        }
    }

    pub(super) fn completed(&mut self, packet_id: PacketId) {
        if let Some(at) = self.find(packet_id) {
            self.inflight.remove(at);
        }
    }

    pub(super) fn settled(&mut self, offset: u64, count: u32, qos: QoS) {
        self.queue.take(offset..offset + u64::from(count), qos, drop);
    }

    pub(super) fn incoming(&mut self, packet_id: PacketId) {
        self.incoming.insert(packet_id);
    }

    pub(super) fn released(&mut self, packet_id: PacketId) {
        self.incoming.remove(&packet_id);
    }

    fn find(&self, packet_id: PacketId) -> Option<usize> {
        self.inflight.iter().position(|sent| sent.packet_id == packet_id)
    }
}
