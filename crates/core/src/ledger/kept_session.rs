//! A session as the records describe it: enough to continue it after a restart of the broker.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, QoS};

use super::queue::KeptQueue;
use super::span::DeliverySpan;
use super::{RecordedIdentity, RecordedSubscription, RecordedWill};
use crate::access::Identity;
use crate::{Offset, Options, Owner, WillMessage};

/// A session as the records describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSession {
    /// The client it belongs to.
    pub client_id: Box<str>,
    /// Only this user may have the session.
    pub user: Option<Box<str>>,
    /// Whose quota it counts for; None if the records do not say.
    pub owner: Option<Owner>,
    /// Roles and claims that the client has proved.
    pub proven: Identity,
    /// Seconds to keep the session while the client is away. After a restart every client is away, so a
    /// session with 0 is over.
    pub expiry_s: u32,
    /// When the client disconnected; None if it was connected when the records end.
    pub left_ns: Option<i64>,
    /// The will, which is published when its delay has passed.
    pub will: Option<WillMessage>,
    /// By the filter as the client wrote it.
    pub subscriptions: BTreeMap<Box<str>, KeptSubscription>,
    /// QoS 2 messages that were sent and are not completed, in the order sent.
    pub inflight: VecDeque<InFlight>,
    /// QoS 2 messages that came from the client and are not released.
    pub incoming: BTreeSet<PacketId>,
    /// The indices of the parameters it has declared.
    pub parameters: RangeSet,
    /// The indices of the streams it has declared.
    pub streams: RangeSet,
    pub(super) queue: KeptQueue,
}

/// A subscription of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSubscription {
    /// What it asks for.
    pub options: Options,
    /// Its retained messages, if not all of them were sent.
    pub replay: Option<PendingReplay>,
    /// The parameters of the list, if the filter names one.
    pub list: Option<RangeSet>,
}

/// Retained messages that are still to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingReplay {
    /// They were sent up to this topic; None if none was sent.
    pub after: Option<Box<str>>,
}

/// A QoS 2 message between PUBLISH and PUBCOMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The identifier it was sent with; no other message may have it.
    pub packet_id: PacketId,
    /// The message, to be sent again; None if the client has it or it is lost: then only PUBREL is sent.
    pub message: Option<DeliverySpan>,
}

impl KeptSession {
    pub(super) fn new(client_id: &str, user: Option<&str>, owner: Option<&Owner>) -> Self {
        Self {
            client_id: client_id.into(),
            user: user.map(Into::into),
            owner: owner.cloned(),
            ..Self::default()
        }
    }

    /// Who the client has proved to be. A name that nobody checked is none: then the owner is an address.
    pub fn identity(&self) -> Identity {
        let is_proven = |user: &&str| self.owner.as_ref() == Some(&Owner::of(Some(user), ""));
        match self.user.as_deref().filter(is_proven) {
            Some(user) => Identity { user: Some(user.into()), ..self.proven.clone() },
            None => Identity::default(),
        }
    }

    pub(super) fn identify(&mut self, proven: &RecordedIdentity<'_>) {
        self.proven = Identity {
            user: None,
            roles: proven.roles.iter().map(|role| (*role).into()).collect(),
            claims: proven
                .claims
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        };
    }

    /// The queued QoS 1 and 2 messages, the oldest first. Those sent at QoS 1 and not settled are included.
    pub fn queue(&self) -> impl Iterator<Item = &DeliverySpan> {
        self.queue.spans.iter()
    }

    /// The lowest offset that the session still needs.
    pub fn needed(&self) -> Option<Offset> {
        let sent = self.inflight.iter().filter_map(|sent| sent.message.as_ref());
        sent.chain(self.queue()).map(|span| span.first).min()
    }

    /// The client is connected, or has just disconnected.
    pub(super) fn stay(&mut self, left_ns: Option<i64>, expiry_s: u32, will: RecordedWill<'_>) {
        self.left_ns = left_ns;
        self.expiry_s = expiry_s;
        self.will = will.map(Cow::into_owned);
    }

    pub(super) fn subscribe(&mut self, subscription: RecordedSubscription<'_>) {
        let RecordedSubscription { filter, options, replay, list } = subscription;
        let list = list.map(Cow::into_owned);
        // A subscription that is replaced without a replay continues the replay it has.
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

    /// A QoS 2 message leaves the queue. Its identifier is in use even if the message is not known.
    pub(super) fn sent(&mut self, packet_id: PacketId, offset: Option<Offset>) {
        self.completed(packet_id);
        let mut message = None;
        if let Some(offset) = offset {
            self.queue.take(offset..offset.plus(1), QoS::ExactlyOnce, |span| message = Some(span));
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

    pub(super) fn settled(&mut self, offset: Offset, count: u32, qos: QoS) {
        self.queue.take(offset..offset.plus(count), qos, drop);
    }

    fn find(&self, packet_id: PacketId) -> Option<usize> {
        self.inflight.iter().position(|sent| sent.packet_id == packet_id)
    }
}
