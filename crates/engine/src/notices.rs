//! Notices: messages from one node to all nodes of a role (G10). Connected clients that subscribe to
//! `$slipring/notices` get them; they are not kept and not journaled. `docs/notices.md` has the topics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use slipring_core::requests::Balance;
use slipring_core::{Durability, Millis, Offset, Principal};
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, Reason, Value};

use crate::asking::ClientRequest;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::feed::Feed;
use crate::gates::Gate;
use crate::post::Post;
use crate::status::NoticeCounts;

/// The topic that clients subscribe to.
const TOPIC: &str = "$slipring/notices";
/// What the broker's own topics begin with.
const OWN: &str = "$slipring/";
/// Bytes of a notice at most.
const PAYLOAD_BYTES_MAX: usize = 4 << 10;
/// Bytes of a notice to the broker that its event shows.
const SHOWN_BYTES_MAX: usize = 200;
/// Milliseconds between two notices of one connection, on average.
const EACH_MS: Millis = 100;
/// How many notices may come at once.
const AT_ONCE: u64 = 20;
const TOO_LARGE: &str = "a notice has at most 4096 bytes";
const TOO_MANY: &str = "more than 10 notices a second of one client; say it again a little later";
/// The notice that the broker is stopping.
const SHUTDOWN: &[u8] = br#"{"event":"shutdown","reason":"the broker is stopping"}"#;

/// The nodes that a notice is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role<'a> {
    All,
    Publishers,
    Subscribers,
    Brokers,
    Node(&'a str),
}

impl<'a> Role<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        match name {
            "all" => Some(Self::All),
            "publishers" => Some(Self::Publishers),
            "subscribers" => Some(Self::Subscribers),
            "brokers" => Some(Self::Brokers),
            _ => name.strip_prefix("node/").filter(|id| !id.is_empty()).map(Self::Node),
        }
    }

    /// Whether a client has this role now.
    fn is_of(self, client: &Client) -> bool {
        let Some(connection) = client.connection() else { return false };
        match self {
            Self::All => true,
            Self::Publishers => connection.has_published(),
            Self::Subscribers => {
                client.state().session.filters().any(|filter| !filter.starts_with(OWN))
            }
            Self::Brokers => false,
            Self::Node(id) => *client.name == *id,
        }
    }

    fn is_for_brokers(self) -> bool {
        matches!(self, Self::All | Self::Brokers)
    }
}

/// Notices since the start.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    pub accepted: AtomicU64,
    /// One for each client that got it.
    pub delivered: AtomicU64,
    pub refused: AtomicU64,
}

impl Notices {
    pub fn counts(&self) -> NoticeCounts {
        NoticeCounts {
            accepted: self.accepted.load(Ordering::Relaxed),
            delivered: self.delivered.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

/// How many notices one connection may still send. Each notice moves the stored time on by `EACH_MS`; it may be at
/// most `AT_ONCE` notices ahead of the clock.
#[derive(Debug, Default)]
pub(crate) struct Allowance(AtomicU64);

impl Allowance {
    /// Takes one notice from the allowance; false if there is none. Only the connection's own task calls this.
    fn take(&self, now_ms: Millis) -> bool {
        let paid_ms = self.0.load(Ordering::Relaxed).max(now_ms) + EACH_MS;
        let within = paid_ms <= now_ms + AT_ONCE * EACH_MS;
        if within {
            self.0.store(paid_ms, Ordering::Relaxed);
        }
        within
    }
}

/// Takes a notice that a client publishes to `$slipring/to/` and a role. Returns the reason code of the
/// acknowledgement.
pub(crate) fn ask(asked: &ClientRequest<'_>, role: &str, feed: &mut Feed) -> Reason {
    let ClientRequest { broker, client, message, .. } = *asked;
    let Some(to) = Role::parse(role) else { return Reason::TopicNameInvalid };
    let publishing = asked.from.way.publishing();
    if !broker.plan.load().allows(asked.from, publishing, message.topic) {
        return Reason::NotAuthorized;
    }
    if let Some(why) = refusal(asked) {
        broker.monitor.notices.refused.fetch_add(1, Ordering::Relaxed);
        feed.refusal = Some(why.to_owned());
        return Reason::ImplementationSpecificError;
    }
    broker.monitor.notices.accepted.fetch_add(1, Ordering::Relaxed);
    let properties = with_names(message.properties, role, &client.name);
    let notice = Publish {
        topic: TOPIC,
        properties: properties.borrow(),
        dup: false,
        retain: false,
        packet_id: None,
        ..*message
    };
    let delivered = deliver(broker, &notice, asked.from, to, &mut feed.post);
    if to.is_for_brokers() {
        broker.monitor.report(EventKind::Notice, &client.name, shown(message.payload));
    }
    if delivered > 0 || to.is_for_brokers() {
        Reason::Success
    } else {
        Reason::NoMatchingSubscribers
    }
}

/// Why a notice is refused, if it is.
fn refusal(asked: &ClientRequest<'_>) -> Option<&'static str> {
    if asked.message.payload.len() > PAYLOAD_BYTES_MAX {
        return Some(TOO_LARGE);
    }
    (!asked.connection.notices.take(asked.broker.clock.now_ms())).then_some(TOO_MANY)
}

/// Delivers a notice to the clients of a role that subscribe to notices. Returns how many they are.
fn deliver(
    broker: &Broker,
    notice: &Publish<'_>,
    from: &Principal<'_>,
    to: Role<'_>,
    post: &mut Post,
) -> usize {
    let audience = broker.topics.audience(TOPIC, from.session, &broker.plan.load().access);
    let topic: Arc<str> = TOPIC.into();
    post.publisher = from.session;
    post.begin(broker, notice, None, Durability::Memory, audience.len());
    let mut delivered = 0;
    let shares = audience.shares.iter().map(|share| share.choose(Balance::default()).0);
    for target in audience.targets.iter().chain(shares) {
        if to.is_of(&target.client) {
            post.deliver(broker, target, notice, &topic);
            delivered += 1;
        }
    }
    broker.monitor.notices.delivered.fetch_add(delivered as u64, Ordering::Relaxed);
    delivered
}

/// Sends the notice that the broker is stopping.
pub(crate) fn tell_shutdown(broker: &Broker) {
    let properties = with_names(Properties::NONE, "all", "");
    let notice = Publish { properties: properties.borrow(), ..Publish::new(TOPIC, SHUTDOWN) };
    let mut post = Post::default();
    deliver(broker, &notice, &Principal::broker(), Role::All, &mut post);
    post.send(broker, Offset::default(), Gate::OPEN);
}

/// The properties of a notice, with `to` and `from` set by the broker alone.
fn with_names(given: Properties<'_>, to: &str, from: &str) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    for (id, value) in given.iter() {
        if !matches!(value, Value::Pair("to" | "from", _)) {
            properties.push(id, value);
        }
    }
    properties.push(PropertyId::UserProperty, Value::Pair("to", to));
    properties.push(PropertyId::UserProperty, Value::Pair("from", from));
    properties
}

/// The beginning of a notice, as text.
fn shown(payload: &[u8]) -> String {
    let cut = payload.len().min(SHOWN_BYTES_MAX);
    let text = String::from_utf8_lossy(&payload[..cut]).into_owned();
    if cut < payload.len() { text + "..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_from_the_topic() {
        assert_eq!(Role::parse("all"), Some(Role::All));
        assert_eq!(Role::parse("node/a/b"), Some(Role::Node("a/b")));
        for wrong in ["", "All", "node", "node/", "everyone", "all/x"] {
            assert_eq!(Role::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_connection_may_send_some_notices_at_once_and_then_one_at_a_time() {
        let allowance = Allowance::default();
        let at = |now_ms| (0..100).filter(|_| allowance.take(now_ms)).count() as u64;
        assert_eq!(at(0), AT_ONCE);
        assert_eq!((at(EACH_MS - 1), at(EACH_MS), at(3 * EACH_MS)), (0, 1, 2));
        assert_eq!(at(1_000_000), AT_ONCE);
    }

    #[test]
    fn only_the_broker_says_whom_a_notice_is_from() {
        let mut given = PropertiesBuf::new();
        for pair in [("from", "admin"), ("why", "test"), ("to", "nobody")] {
            given.push(PropertyId::UserProperty, Value::Pair(pair.0, pair.1));
        }
        let told = with_names(given.borrow(), "all", "gripen");
        let pairs: Vec<Value<'_>> = told.borrow().iter().map(|(_, value)| value).collect();
        let expected = [("why", "test"), ("to", "all"), ("from", "gripen")];
        assert_eq!(pairs, expected.map(|(name, value)| Value::Pair(name, value)));
    }

    #[test]
    fn a_long_notice_to_the_broker_is_cut_where_it_is_shown() {
        assert_eq!(shown(b"stop"), "stop");
        assert_eq!(shown(&[b'x'; 4096]).len(), SHOWN_BYTES_MAX + 3);
        assert_eq!(shown(&[0xff]), "\u{fffd}");
    }
}
