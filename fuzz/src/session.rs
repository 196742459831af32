//! The broker's side of a client: any packets on any number of connections, and messages of others. A
//! broker of one client, made of `core`'s parts as the engine puts them together.

use std::sync::{Arc, LazyLock};

use arbitrary::{Arbitrary, Unstructured};
use slipring_core::{
    Action, ConnectionKey, Conversation, Delivery, Incoming, Leaf, Limits, Message, NONCE_BYTES,
    Opening, Outgoing, Owner, Packets, Replay, Retained, Secret, Session, Stop, Tree, Users,
    Verifier,
};
use slipring_wire::{
    Packet, PacketSplit, PropertiesBuf, PropertyId, Publish, QoS, Reason, Subscribe, Value,
    Version, matches, shared, split_packet,
};

use crate::client_packet::ClientPacket;
use crate::length_chooser::LengthChooser;

/// One user, so that an enhanced authentication has somebody to look for.
static USERS: LazyLock<Users> = LazyLock::new(|| {
    let verifier = Verifier::new(b"pencil", b"a salt of 18 bytes", 4096).expect("a good verifier");
    Users::new([("user".to_owned(), verifier)]).expect("a good name")
});

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// A packet that is well-formed, whether it makes sense here or not.
    Speaks(ClientPacket<'a>),
    /// A message from somebody else.
    Message {
        topic: &'a str,
        payload: &'a [u8],
        qos: u8,
        retain: bool,
        expiry_s: Option<u8>,
    },
    /// The client takes what waits for it.
    Reads,
    Waits(u16),
    /// The connection breaks, and another begins.
    Loses,
}

/// The one subscriber, at one of its filters.
#[derive(Clone)]
struct Subscriber;

impl Leaf for Subscriber {
    type Key = ();

    fn key(&self) {}
}

struct FuzzedSession {
    limits: Limits,
    secret: Secret,
    now_ms: u64,
    connection: u64,
    conversation: Conversation,
    incoming: Incoming,
    open: bool,
    over: bool,
    session: Session,
    outgoing: Outgoing,
    retained: Retained,
    tree: Tree<Subscriber>,
    reply: Vec<u8>,
}

/// The bytes are the steps of a client's life.
pub fn session(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let mut run = FuzzedSession::new();
    while let Ok(step) = Step::arbitrary(&mut source) {
        run.take(&step);
        run.check();
        if source.is_empty() {
            break;
        }
    }
}

fn limits() -> Limits {
    Limits {
        packet_bytes: 2048,
        connect_bytes: 1024,
        topic_levels: 8,
        user_properties: 4,
        topic_aliases: 4,
        subscriptions: 8,
        receive_max: 4,
        inflight: 4,
        queue_messages: 8,
        queue_bytes: 4096,
        outbox_bytes: 4096,
        retained_messages: 8,
        retained_bytes: 4096,
        ..Limits::default()
    }
}

impl FuzzedSession {
    fn new() -> Self {
        let limits = limits();
        Self {
            secret: Secret::from([7; 32]),
            now_ms: 1,
            connection: 0,
            conversation: Conversation::new(limits),
            incoming: Incoming::default(),
            open: false,
            over: false,
            session: Session::default(),
            outgoing: Outgoing::new(&limits),
            retained: Retained::default(),
            tree: Tree::default(),
            reply: Vec::new(),
            limits,
        }
    }

    fn take(&mut self, step: &Step<'_>) {
        match step {
            Step::Bytes(bytes) => self.hear(bytes),
            Step::Speaks(spoken) => self.hear(&spoken.bytes(self.conversation.version())),
            Step::Message { topic, payload, qos, retain, expiry_s } => {
                self.message(topic, payload, *qos, *retain, *expiry_s);
            }
            Step::Reads => self.read(),
            Step::Waits(ms) => {
                self.now_ms += u64::from(*ms);
                self.retained.expire(self.now_ms);
            }
            Step::Loses => self.lose(),
        }
    }

    fn lose(&mut self) {
        self.outgoing.detach(ConnectionKey::new(self.connection));
        self.conversation = Conversation::new(self.limits);
        self.incoming = Incoming::default();
        (self.open, self.over) = (false, false);
    }

    fn hear(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !self.over {
            let (most, _) = self.conversation.packet_bytes_max();
            let heard = match split_packet(rest, most) {
                Ok(PacketSplit::Whole(whole)) => {
                    rest = &rest[whole.length..];
                    Packet::decode(&whole, self.conversation.version())
                        .map_err(Stop::from)
                        .and_then(|packet| self.packet(packet))
                }
                Ok(PacketSplit::Incomplete(_)) => break,
                Err(violation) => Err(violation.into()),
            };
            if let Err(stop) = heard {
                let violation = stop.violation;
                self.conversation.farewell(violation.reason, violation.what, &mut self.reply);
                self.over = true;
            }
            self.check_reply();
        }
    }

    fn packet(&mut self, packet: Packet<'_>) -> Result<(), Stop> {
        let action = self.conversation.receive(packet, &mut self.reply)?;
        match action {
            Action::Open(opening) => self.open(&opening),
            Action::Authenticate(data) => {
                let nonce = [9; NONCE_BYTES];
                let (users, secret) = (&*USERS, &self.secret);
                let after =
                    self.conversation.authenticate(data, users, secret, nonce, &mut self.reply)?;
                if let Action::Open(opening) = after {
                    self.open(&opening);
                }
            }
            Action::Publish(publish) => self.publish(publish)?,
            Action::Subscribe(packet) => self.subscribe(&packet),
            Action::Unsubscribe(packet) => {
                let version = self.conversation.version();
                for filter in self.session.unsubscribe(&packet, version, &mut self.reply) {
                    assert!(self.tree.remove(topics(&filter), &()), "{filter} was not there");
                    self.outgoing.cancel_replay(&filter);
                    self.enter();
                }
            }
            Action::Release(id) => {
                let known = self.session.release(id);
                self.conversation.complete(id, known, &mut self.reply);
            }
            Action::Acked(id) => drop(self.outgoing.acked(id)),
            Action::Received(id, refused) => {
                let settled = self.outgoing.received(id, refused);
                if !refused {
                    self.conversation.release(id, settled, &mut self.reply);
                }
            }
            Action::Completed(id) => drop(self.outgoing.completed(id)),
            Action::Close(_) => self.over = true,
            Action::Nothing => {}
        }
        Ok(())
    }

    fn open(&mut self, opening: &Opening) {
        assert!(!self.open, "let in twice");
        self.open = true;
        let present = !opening.clean_start;
        if opening.clean_start {
            self.session = Session::default();
            self.outgoing = Outgoing::new(&self.limits);
            self.tree = Tree::default();
        }
        self.connection += 1;
        self.outgoing.attach(ConnectionKey::new(self.connection), opening.terms, &self.limits);
        self.outgoing.restart_replays(self.retained.newest());
        self.conversation.accept(opening, "client", present, &mut self.reply);
    }

    /// Two filters of one session can lead to one place in the tree: with a share and without.
    fn enter(&mut self) {
        for filter in self.session.filters() {
            self.tree.insert(topics(filter), Subscriber);
        }
    }

    fn subscribe(&mut self, packet: &Subscribe<'_>) {
        let (version, reply) = (self.conversation.version(), &mut self.reply);
        let done = self.session.subscribe(packet, &self.limits, version, &mut LengthChooser, reply);
        assert_eq!(done.changes.len() + done.refused.len(), packet.subscriptions.len());
        self.enter();
        for change in done.changes.iter().filter(|change| change.replay) {
            let (filter, qos, until) =
                (change.filter.clone(), change.options.qos, self.retained.newest());
            self.outgoing.push_replay(Replay { filter, qos, identifiers: None, until });
        }
    }

    fn publish(&mut self, publish: Publish<'_>) -> Result<(), Stop> {
        let (version, incoming) = (self.conversation.version(), &mut self.incoming);
        let message = incoming.admit(publish, &self.limits)?;
        assert!(!message.topic.is_empty() && !message.topic.contains(['+', '#']));
        let (qos, id, retain) = (message.qos, message.packet_id, message.retain);
        let new = match id {
            Some(id) if qos == QoS::ExactlyOnce => {
                self.session.receive(id, &self.limits, version)?
            }
            _ => true,
        };
        let kept = Arc::new(Message::new(&message, message.topic.into(), self.now_ms));
        if new {
            self.deliver(&kept, qos, retain);
        }
        self.conversation.acknowledge(qos, id, Reason::Success, &mut self.reply);
        Ok(())
    }

    fn message(&mut self, topic: &str, payload: &[u8], qos: u8, retain: bool, expiry: Option<u8>) {
        if slipring_wire::check_topic(topic).is_err() {
            return;
        }
        let mut properties = PropertiesBuf::new();
        if let Some(seconds) = expiry {
            properties.push(PropertyId::MessageExpiryInterval, Value::Four(seconds.into()));
        }
        let properties = properties.borrow();
        let publish = Publish { properties, ..Publish::new(topic, payload) };
        let message = Arc::new(Message::new(&publish, topic.into(), self.now_ms));
        let qos = QoS::from_bits(qos % 3).expect("0, 1 or 2");
        self.deliver(&message, qos, retain);
    }

    /// To the subscriber if a filter matches, as the naive matcher says too.
    fn deliver(&mut self, message: &Arc<Message>, qos: QoS, retain: bool) {
        if retain && message.payload().is_empty() {
            self.retained.remove(message.topic());
        } else if retain {
            let _ = self.retained.set(Arc::clone(message), Owner::broker(), &self.limits);
        }
        let topic = &**message.topic();
        let wanted = self.session.filters().any(|filter| matches(topics(filter), topic));
        assert_eq!(wanted, !self.tree.subscribers(topic).is_empty(), "the tree on {topic:?}");
        if wanted && qos != QoS::AtMostOnce {
            let message = Arc::clone(message);
            self.outgoing.push(Delivery::plain(message, qos));
        }
    }

    fn read(&mut self) {
        let mut out = Packets::default();
        let mut find = |asked: &Replay, after: Option<&str>| {
            self.retained.page(topics(&asked.filter), after, asked.until)
        };
        self.outgoing.take(self.now_ms, &mut find, &mut out);
        let version = self.outgoing.version().unwrap_or(Version::V5);
        for_each_packet(&out.to_vec(), version, |packet| {
            assert!(matches!(packet, Packet::Publish(_) | Packet::PubRel(_)), "{packet:?}");
        });
    }

    fn check_reply(&mut self) {
        let reply = std::mem::take(&mut self.reply);
        for_each_packet(&reply, self.conversation.version(), |packet| {
            let of_a_client = matches!(
                packet,
                Packet::Connect(_)
                    | Packet::Publish(_)
                    | Packet::Subscribe(_)
                    | Packet::Unsubscribe(_)
                    | Packet::PingReq
            );
            assert!(!of_a_client, "a broker answers with {packet:?}");
        });
    }

    /// No bound is exceeded, whatever the client sent.
    fn check(&self) {
        let Limits { subscriptions, queue_messages, inflight, .. } = self.limits;
        assert!(self.session.filters().count() <= subscriptions);
        assert!(self.outgoing.inflight() <= inflight);
        assert!(self.outgoing.waiting().0 <= queue_messages + inflight);
        assert!(self.retained.len() <= self.limits.retained_messages);
        assert!(self.retained.bytes() <= self.limits.retained_bytes);
    }
}

/// The topics of a filter, without the share.
fn topics(filter: &str) -> &str {
    shared(filter).and_then(Result::ok).map_or(filter, |(_, topics)| topics)
}

fn for_each_packet(bytes: &[u8], version: Version, mut look: impl FnMut(&Packet<'_>)) {
    let mut rest = bytes;
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        // A version that nobody knows is refused in the words of MQTT 3.1.1.
        let plain = whole.first == 0x20 && whole.body.len() == 2;
        let version = if plain { Version::V311 } else { version };
        let packet = Packet::decode(&whole, version).expect("a broker sends valid packets");
        look(&packet);
        rest = &rest[whole.length..];
    }
    assert!(rest.is_empty(), "half a packet was sent");
}
