//! Finds the subscribers of a topic: subscriptions in the tree, merged to one delivery for each client.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use slipring_core::access::{AccessPolicy, Right};
use slipring_core::memory::Counted;
use slipring_core::requests::Balance;
use slipring_core::table::PlainRoom;
use slipring_core::{
    Identifiers, Leaf, Options, Priority, SessionKey, Tree, choose_member, memory,
};
use slipring_wire::{QoS, served, shared};

use crate::client::Client;

/// A subscription in the tree.
#[derive(Clone, Debug)]
struct Subscriber {
    client: Arc<Client>,
    options: Options,
    share: Option<Arc<ShareTurn>>,
    /// Its filter begins with a wildcard: it watches, and serves no requests.
    is_watcher: bool,
    /// The number in the filter by which it is a service; 0 if it is a subscriber of messages.
    served: u16,
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
    /// The session, and the share it is subscribed by; 0 is none. Of a service, the number in its filter.
    type Key = (SessionKey, u64);

    fn key(&self) -> Self::Key {
        let number = self.share.as_ref().map_or(u64::from(self.served), |share| share.number);
        (self.client.key, number)
    }
}

/// All subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    tree: Tree<Subscriber>,
    /// Those that get requests only, by the filter of the requests' topics: no message meets them.
    services: Tree<Subscriber>,
    /// By the whole filter.
    shares: HashMap<Box<str>, (Arc<ShareTurn>, Members)>,
    shares_made: u64,
    /// Bytes of the whole filters, one for each subscription.
    filter_bytes: usize,
    /// The memory of the trees and of the filters.
    counted: Counted,
}

/// Topics on which the broker tells each client what concerns it; nobody else may publish there.
const OWN_TOPICS: &str = "$slipring/";

/// The part of the memory budget that the subscriptions of all clients may take.
const SUBSCRIPTIONS_SHARE: usize = 4;
/// The text of a filter is in the session, and in the tree or among the shares.
const FILTER_COPIES: usize = 2;

/// One delivery: a client, and the merged options of all its subscriptions that match.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub client: Arc<Client>,
    pub qos: QoS,
    pub retain_as_published: bool,
    pub identifiers: Identifiers,
    /// Requests that the client computes at once, if it says that it is a service.
    pub serve: u16,
    /// The priority of messages that name none.
    pub priority: Option<Priority>,
    /// It only watches, and serves no requests.
    pub is_watcher: bool,
    /// It does not get what it publishes itself.
    pub no_local: bool,
}

/// A shared subscription: one of its members gets each message.
#[derive(Debug)]
pub(crate) struct Share {
    turn: Arc<ShareTurn>,
    pub members: Box<[Target]>,
}

/// The subscribers of one topic.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    pub targets: Box<[Target]>,
    pub shares: Box<[Share]>,
}

impl Routes {
    pub fn len(&self) -> usize {
        self.tree.len() + self.services.len()
    }

    /// Enters a subscription, in place of the client's earlier one with the same filter.
    pub fn insert(&mut self, client: &Arc<Client>, filter: &str, options: Options) {
        let (share, topics) = match shared(filter) {
            Some(Ok((_, topics))) => (Some(self.share(filter)), topics),
            _ => (None, filter),
        };
        let client = Arc::clone(client);
        if let Some(Ok((served, topics))) = served(filter) {
            let (share, is_watcher) = (None, false);
            let service = Subscriber { client, options, share, is_watcher, served };
            let is_added = self.services.insert(topics, service);
            return self.added(filter, is_added);
        }
        let is_watcher = topics.starts_with(['#', '+']);
        let subscriber = Subscriber { client, options, share, is_watcher, served: 0 };
        if subscriber.share.is_some() {
            let (_, members) = self.shares.get_mut(filter).expect("entered with the share");
            members.insert(subscriber.client.key, subscriber.clone());
        }
        let is_added = self.tree.insert(topics, subscriber);
        self.added(filter, is_added);
    }

    fn added(&mut self, filter: &str, is_added: bool) {
        self.filter_bytes += if is_added { filter.len() } else { 0 };
        self.count();
    }

    fn removed(&mut self, filter: &str, is_removed: bool) {
        self.filter_bytes -= if is_removed { filter.len() } else { 0 };
        self.count();
    }

    fn count(&mut self) {
        self.counted.set(self.bytes());
    }

    fn bytes(&self) -> usize {
        self.tree.bytes() + self.services.bytes() + FILTER_COPIES * self.filter_bytes
    }

    /// The memory that a filter may take.
    pub fn bytes_of(filter: &str) -> usize {
        Tree::<Subscriber>::bytes_of(topics_of(filter)) + FILTER_COPIES * filter.len()
    }

    /// Whether the subscriptions of all clients may take so many bytes more.
    pub fn has_memory_for(&self, bytes: usize) -> bool {
        self.bytes().saturating_add(bytes) <= memory::part(SUBSCRIPTIONS_SHARE)
    }

    /// Removes a client's subscription.
    pub fn remove(&mut self, client: &Client, filter: &str) {
        if let Some(Ok((served, topics))) = served(filter) {
            let is_removed = self.services.remove(topics, &(client.key, u64::from(served)));
            return self.removed(filter, is_removed);
        }
        let Some(Ok((_, topics))) = shared(filter) else {
            let is_removed = self.tree.remove(filter, &(client.key, 0));
            return self.removed(filter, is_removed);
        };
        let Some((share, members)) = self.shares.get_mut(filter) else { return };
        let is_removed = self.tree.remove(topics, &(client.key, share.number));
        members.remove(&client.key);
        if members.is_empty() {
            self.shares.remove(filter);
        }
        self.removed(filter, is_removed);
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

    /// At most so many clients that are subscribed to a topic, and how many subscriptions match it.
    pub fn subscribed(&self, topic: &str, most: usize) -> (Vec<Arc<Client>>, usize) {
        let mut found = self.tree.subscribers(topic);
        found.extend(self.services.subscribers(topic));
        let total = found.len();
        found.sort_unstable_by_key(|found| found.client.key);
        found.dedup_by_key(|found| found.client.key);
        (found.into_iter().take(most).map(|found| found.client).collect(), total)
    }

    /// The clients that serve the requests of a topic by the filters that they subscribed to.
    pub fn services(&self, topic: &str, policy: &Arc<AccessPolicy>) -> Vec<Target> {
        let mut found = self.services.subscribers(topic);
        found.retain(|found| found.client.may(policy, Right::Serve, topic));
        found.sort_unstable_by_key(|found| found.client.key);
        found.chunk_by(|a, b| a.client.key == b.client.key).map(merge).collect()
    }

    /// The subscribers that get what this session publishes to a topic: those that may have it.
    pub fn audience(
        &self,
        topic: &str,
        publisher: SessionKey,
        policy: &Arc<AccessPolicy>,
    ) -> Audience {
        let mut found = self.tree.subscribers(topic);
        // MQTT-3.8.3-3
        found.retain(|found| !(found.options.no_local && found.client.key == publisher));
        if policy.is_enforced() && !topic.starts_with(OWN_TOPICS) {
            found.retain(|found| found.client.may(policy, Right::Subscribe, topic));
        }
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

/// The filter of topics in a subscription's filter, which may be shared or that of a service.
pub(crate) fn topics_of(filter: &str) -> &str {
    match (shared(filter), served(filter)) {
        (Some(Ok((_, topics))), _) | (_, Some(Ok((_, topics)))) => topics,
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
        serve: subscriptions.iter().map(|found| found.options.serve).max().unwrap_or(0),
        priority: subscriptions.iter().filter_map(|found| found.options.priority).max(),
        is_watcher: subscriptions.iter().all(|found| found.is_watcher),
        no_local: subscriptions.iter().all(|found| found.options.no_local),
    }
}

impl Audience {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let members: usize = self.shares.iter().map(|share| share.members.len()).sum();
        (self.targets.len() + members) * size_of::<Target>()
    }

    /// Keeps the targets, and the members of shares, that pass.
    pub fn keep(&mut self, is_kept: impl Fn(&Target) -> bool) {
        let some = |all: &mut Box<[Target]>| {
            *all = std::mem::take(all).into_iter().filter(&is_kept).collect();
        };
        some(&mut self.targets);
        self.shares.iter_mut().for_each(|share| some(&mut share.members));
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

    /// The member for the next message, by a strategy, and how many members were looked at for it.
    pub fn choose(&self, balance: Balance) -> (&Target, usize) {
        let turn = self.turn.next.fetch_add(1, Ordering::Relaxed);
        if balance != Balance::RoundRobin {
            let view = |member: usize| self.members[member].client.as_member();
            if let (Some(member), looked_at) = balance.choose(turn, self.members.len(), view) {
                return (&self.members[member], looked_at);
            }
        }
        let (member, passed) = choose_member(turn, self.members.len(), |member| {
            self.members[member].client.as_member().readiness
        });
        (&self.members[member], passed)
    }
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
