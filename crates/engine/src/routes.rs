//! Finds the subscribers of a topic: subscriptions in the tree, merged to one delivery for each client.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use slipring_core::table::PlainRoom;
use slipring_core::{Identifiers, Leaf, Options, Readiness, SessionKey, Tree, choose_member};
use slipring_wire::{QoS, shared};

use crate::client::Client;

/// A subscription in the tree.
#[derive(Clone, Debug)]
struct Subscriber {
    client: Arc<Client>,
    options: Options,
    share: Option<Arc<ShareTurn>>,
}

/// The members of a shared subscription by session.
type Members = BTreeMap<SessionKey, Subscriber>;

/// Which member of a shared subscription is next.
#[derive(Debug)]
struct ShareTurn {
    number: u64,
    next: AtomicUsize,
}

impl Leaf for Subscriber {
    /// The session, and the share it is subscribed by; 0 is none.
    type Key = (SessionKey, u64);

    fn key(&self) -> Self::Key {
        (self.client.key, self.share.as_ref().map_or(0, |share| share.number))
    }
}

/// All subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    tree: Tree<Subscriber>,
    /// By the whole filter.
    shares: HashMap<Box<str>, (Arc<ShareTurn>, Members)>,
    shares_made: u64,
}

/// One delivery: a client, and the merged options of all its subscriptions that match.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub client: Arc<Client>,
    pub qos: QoS,
    pub retain_as_published: bool,
    pub identifiers: Identifiers,
}

/// A shared subscription: one of its members gets each message.
#[derive(Debug)]
pub(crate) struct Share {
    turn: Arc<ShareTurn>,
    members: Box<[Target]>,
}

/// The subscribers of one topic.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    pub targets: Box<[Target]>,
    pub shares: Box<[Share]>,
}

impl Routes {
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Enters a subscription, in place of the client's earlier one with the same filter.
    pub fn insert(&mut self, client: &Arc<Client>, filter: &str, options: Options) {
        let (share, topics) = match shared(filter) {
            Some(Ok((_, topics))) => (Some(self.share(filter)), topics),
            _ => (None, filter),
        };
        let subscriber = Subscriber { client: Arc::clone(client), options, share };
        if subscriber.share.is_some() {
            let (_, members) = self.shares.get_mut(filter).expect("entered with the share");
            members.insert(client.key, subscriber.clone());
        }
        self.tree.insert(topics, subscriber);
    }

    /// Removes a client's subscription.
    pub fn remove(&mut self, client: &Client, filter: &str) {
        let Some(Ok((_, topics))) = shared(filter) else {
            self.tree.remove(filter, &(client.key, 0));
            return;
        };
        let Some((share, members)) = self.shares.get_mut(filter) else { return };
        self.tree.remove(topics, &(client.key, share.number));
        members.remove(&client.key);
        if members.is_empty() {
            self.shares.remove(filter);
        }
    }

    fn share(&mut self, filter: &str) -> Arc<ShareTurn> {
        if let Some((share, _)) = self.shares.get(filter) {
            return Arc::clone(share);
        }
        self.shares_made += 1;
        let share = Arc::new(ShareTurn { number: self.shares_made, next: AtomicUsize::new(0) });
        self.shares.insert(filter.into(), (Arc::clone(&share), Members::new()));
        share
    }

    /// The number of a shared subscription; None if it has no member.
    pub fn share_number(&self, filter: &str) -> Option<u64> {
        self.shares.get(filter).map(|(share, _)| share.number)
    }

    /// The members of a shared subscription.
    pub fn share_of(&self, filter: &str) -> Option<Share> {
        let (share, members) = self.shares.get(filter)?;
        let members = members.values().map(|member| merge(std::slice::from_ref(member))).collect();
        Some(Share { turn: Arc::clone(share), members })
    }

    /// The subscribers that get what this session publishes to a topic.
    pub fn audience(&self, topic: &str, publisher: SessionKey) -> Audience {
        let mut found = self.tree.subscribers(topic);
        // MQTT-3.8.3-3
        found.retain(|found| !(found.options.no_local && found.client.key == publisher));
        found.sort_unstable_by_key(|found| {
            let (client, share) = found.key();
            (share, client)
        });
        let split = found.partition_point(|found| found.share.is_none());
        let shares = found[split..].chunk_by(|a, b| a.key().1 == b.key().1).filter_map(|members| {
            let turn = members.first()?.share.clone()?;
            let members = members.iter().map(|member| merge(std::slice::from_ref(member)));
            Some(Share { turn, members: members.collect() })
        });
        let targets = found[..split].chunk_by(|a, b| a.client.key == b.client.key).map(merge);
        Audience { targets: targets.collect(), shares: shares.collect() }
    }
}

/// The filter of topics in a subscription's filter, which may be shared.
pub(crate) fn topics_of(filter: &str) -> &str {
    match shared(filter) {
        Some(Ok((_, topics))) => topics,
        _ => filter,
    }
}

/// One delivery for all subscriptions of a client that match (MQTT-3.3.4-2, MQTT-3.3.4-4).
fn merge(subscriptions: &[Subscriber]) -> Target {
    let identifiers = subscriptions.iter().map(|found| found.options.identifier);
    let identifiers: Arc<[u32]> = identifiers.filter(|identifier| *identifier > 0).collect();
    Target {
        client: Arc::clone(&subscriptions[0].client),
        qos: subscriptions.iter().map(|found| found.options.qos).max().unwrap_or(QoS::AtMostOnce),
        retain_as_published: subscriptions.iter().any(|found| found.options.retain_as_published),
        identifiers: (!identifiers.is_empty()).then_some(identifiers),
    }
}

impl Audience {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let members: usize = self.shares.iter().map(|share| share.members.len()).sum();
        (self.targets.len() + members) * size_of::<Target>()
    }

    /// How many deliveries a message makes.
    pub fn len(&self) -> usize {
        self.targets.len() + self.shares.len()
    }
}

impl Share {
    /// The room for samples of the member that has most.
    pub fn plain_room(&self) -> PlainRoom {
        let rooms = self.members.iter().map(|member| member.client.outgoing().plain_room());
        rooms.max_by_key(|room| (room.newest, room.every)).unwrap_or_default()
    }

    /// The member for the next message, and how many members were passed over for it.
    pub fn choose(&self) -> (&Target, usize) {
        let turn = self.turn.next.fetch_add(1, Ordering::Relaxed);
        let (member, passed) = choose_member(turn, self.members.len(), |member| {
            let outgoing = self.members[member].client.outgoing();
            match outgoing.version() {
                None => Readiness::Away,
                Some(_) if outgoing.is_busy() => Readiness::Busy,
                Some(_) => Readiness::Ready,
            }
        });
        (&self.members[member], passed)
    }
}
