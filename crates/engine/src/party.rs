//! One client's side of the broker: what each of its packets does to the shared tables.

use std::borrow::Cow;
use std::sync::Arc;

use slipring_core::ledger::Record;
use slipring_core::{
    Action, Conversation, Durability, Goodbye, Incoming, Opening, Outgoing, Stop, WillMessage,
};
use slipring_wire::{Packet, PacketId, Publish, QoS, RawPacket, Reason, Version};

use crate::admission::Check;
use crate::asking::Asked;
use crate::broker::Broker;
use crate::client::{Client, Link};
use crate::event::{EventKind, now_ns};
use crate::feed::{Feed, Publisher};
use crate::registry::{NotOpened, Opened, Refusal};
use crate::returning::Returning;
use crate::subscribing::Subscribing;
use crate::table::refused::Refused;
use crate::{asking, keeper};

/// Why a connection ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The client said goodbye.
    Goodbye(Goodbye),
    /// The client closed the socket, or the network did.
    Lost(String),
    /// The client broke a rule or reached a limit.
    Stopped(Stop),
    /// There is no room for the client, or it is not let in.
    Refused(Refusal),
    /// No CONNECT came in time, or its authentication did not go on.
    Silent,
    /// The broker ends it.
    Closed(Reason),
    /// What served it panicked, and said this.
    Panicked(String),
}

/// Another connection has the session.
pub(crate) const TAKEN_OVER: End = End::Closed(Reason::SessionTakenOver);

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Goodbye(goodbye) if goodbye.with_will => {
                f.write_str("said goodbye with its will")
            }
            Self::Goodbye(_) => f.write_str("said goodbye"),
            Self::Lost(why) => f.write_str(why),
            Self::Stopped(stop) => stop.fmt(f),
            Self::Refused(refusal) => write!(f, "{}: {}", refusal.reason, refusal.why),
            Self::Silent => {
                f.write_str("no whole CONNECT, or no proof, in time (limits.connect_ms)")
            }
            Self::Closed(reason) => reason.fmt(f),
            Self::Panicked(_) => f.write_str("what served it panicked"),
        }
    }
}

/// A connection's conversation, and the client it turned out to be.
pub(crate) struct Party {
    pub broker: Arc<Broker>,
    pub link: Arc<Link>,
    pub conversation: Conversation,
    /// None until CONNECT was accepted.
    pub client: Option<Arc<Client>>,
    pub keep_alive_s: u16,
    pub reply: Vec<u8>,
    pub feed: Feed,
    /// Messages for the client go after the answers of this batch.
    pub blocks: bool,
    /// What must be before the client is let in; until it is, its further packets wait.
    pub check: Option<Check>,
    /// A SUBSCRIBE that takes several turns.
    pub subscribing: Subscribing,
    pub returning: Returning,
    incoming: Incoming,
    /// Samples that were refused, to be told.
    refused: Refused,
    /// PUBACKs of this batch, settled together: publishers wait for the same lock.
    acks: Vec<PacketId>,
    /// QoS 2 identifiers that are new in this batch.
    pub received: Vec<PacketId>,
    will: Option<WillMessage>,
    /// Wills of sessions that this client's clean start ended.
    pub inherited: Vec<(Arc<Client>, WillMessage)>,
}

impl Party {
    pub fn new(broker: Arc<Broker>, link: Arc<Link>) -> Self {
        let limits = *broker.plan.load().limits_of(link.origin.listener);
        Self {
            broker,
            link,
            conversation: Conversation::new(limits),
            client: None,
            keep_alive_s: 0,
            reply: Vec::new(),
            feed: Feed::new(),
            blocks: false,
            check: None,
            subscribing: Subscribing::default(),
            returning: Returning::default(),
            incoming: Incoming::default(),
            refused: Refused::default(),
            acks: Vec::new(),
            received: Vec::new(),
            will: None,
            inherited: Vec::new(),
        }
    }

    /// The client identifier, or the address while there is none.
    pub fn name(&self) -> &str {
        self.client.as_ref().map_or(&self.link.origin.address, |client| &client.name)
    }

    /// Takes one packet; false where the turn is over before that is done, and it is to be taken again.
    #[inline]
    pub fn take(&mut self, frame: &RawPacket<'_>) -> Result<bool, End> {
        let packet = Packet::decode(frame, self.conversation.version()).map_err(Stop::from)?;
        match (self.conversation.receive(packet, &mut self.reply)?, &self.client) {
            (Action::Publish(message), Some(_)) => self.publish(message),
            (Action::Acked(id), Some(_)) => {
                self.acks.push(id);
                Ok(true)
            }
            (Action::Open(opening), _) => self.admit(*opening).map(|()| true),
            (Action::Authenticate(data), _) => self.authenticate(data).map(|()| true),
            (Action::Close(goodbye), None) => Err(End::Goodbye(goodbye)),
            (action, Some(client)) => {
                let client = Arc::clone(client);
                self.take_control(&client, action)
            }
            (_, None) => Ok(true),
        }
    }

    /// Ends a batch: settles what was acknowledged. Gives the number of messages.
    pub fn finish(&mut self) -> u64 {
        if let (Some(client), false) = (&self.client, self.acks.is_empty()) {
            let mut outgoing = client.outgoing();
            for id in self.acks.drain(..) {
                outgoing.acked(id);
            }
            if outgoing.is_durable() {
                outgoing.take_records(self.feed.records(Durability::Memory));
            }
        }
        self.feed.finish()
    }

    #[inline]
    fn publish(&mut self, publish: Publish<'_>) -> Result<bool, End> {
        let Some(client) = &self.client else { return Ok(true) };
        let message = self.incoming.admit(publish, self.conversation.limits())?;
        let (qos, id) = (message.qos, message.packet_id);
        self.feed.work.add_text(message.properties.encoded().len());
        let from = Publisher::of(client, self.link.owner());
        let reason = if message.topic.starts_with('$') {
            let (broker, link, message) = (&self.broker, &*self.link, &message);
            let asked = Asked { broker, client, link, message };
            match asking::ask(&asked, &mut self.feed, &mut self.reply) {
                Some(reason) => reason,
                None => return Ok(false),
            }
        } else if qos == QoS::ExactlyOnce && !is_new(client, &self.link, &self.conversation, id)? {
            // It came before; what it was promised may not be true yet.
            let level = self.feed.level(&self.broker, from, message.topic);
            self.feed.wait_for(level);
            Reason::Success
        } else {
            self.link.publishes();
            self.received.extend(id.filter(|_| qos == QoS::ExactlyOnce));
            self.feed.publish(&self.broker, from, &message, self.conversation.version())
        };
        if let (true, Some(id)) = (reason.is_error() && qos == QoS::ExactlyOnce, id) {
            client.state().session.release(id);
        }
        match self.feed.refusal.take() {
            None if is_refused_by_journal(reason) && self.conversation.version() != Version::V5 => {
                return Err(End::Closed(reason)); // it knows no other way to be refused
            }
            None => self.conversation.acknowledge(qos, id, reason, &mut self.reply),
            Some(why) => {
                self.conversation.refuse_publish(qos, id, reason, &why, &mut self.reply);
                let post = &mut self.feed.post;
                self.refused.add(&self.broker, client, message.topic, &why, post);
            }
        }
        Ok(true)
    }

    fn take_control(&mut self, client: &Arc<Client>, action: Action<'_>) -> Result<bool, End> {
        match action {
            Action::Subscribe(packet) => return self.subscribe(client, &packet),
            Action::Unsubscribe(packet) => self.unsubscribe(client, &packet)?,
            Action::Release(id) => {
                let mut state = client.state_of(&self.link).ok_or(TAKEN_OVER)?;
                let known = state.session.release(id);
                self.conversation.complete(id, known, &mut self.reply);
                if client.is_durable() {
                    // Else the identifier's next message would be taken for this one again.
                    let released = Record::Released { session: client.key, packet_id: id };
                    self.feed.record(&released, Durability::Disk);
                }
            }
            Action::Received(id, refused) => {
                let mut outgoing = client.outgoing();
                let settled = outgoing.received(id, refused);
                self.take_records(&mut outgoing);
                drop(outgoing);
                if !refused {
                    self.conversation.release(id, settled, &mut self.reply);
                }
            }
            Action::Completed(id) => {
                let mut outgoing = client.outgoing();
                outgoing.completed(id);
                self.take_records(&mut outgoing);
            }
            Action::Close(goodbye) => return Err(End::Goodbye(goodbye)),
            Action::Nothing
            | Action::Open(_)
            | Action::Authenticate(_)
            | Action::Publish(_)
            | Action::Acked(_) => {}
        }
        Ok(true)
    }

    /// What a packet changed in the client's queue goes to the journal; the answer waits for it.
    fn take_records(&mut self, outgoing: &mut Outgoing) {
        if outgoing.is_durable() {
            let level = outgoing.take_records(self.feed.records(Durability::Memory));
            self.feed.wait_for(level.unwrap_or_default());
        }
    }

    /// Lets a client in, if there is room.
    pub fn open(&mut self, opening: Opening, force: bool) -> Result<(), End> {
        let opened = match self.broker.open_session(&opening, &self.link, force) {
            Ok(opened) => opened,
            Err(NotOpened::Refused(refusal)) => return Err(self.refuse(refusal)),
            Err(NotOpened::Held(held)) => {
                self.check = Some(Check::handover(opening, held));
                return Ok(());
            }
        };
        let Opened { client, session_present, promise, will } = opened;
        self.client = Some(Arc::clone(&client)); // who leaves, whatever happens from here on
        self.record_opening(&client, &opening, session_present);
        self.feed.wait_for(promise);
        self.blocks = true; // nothing comes before CONNACK
        let _ = self.link.version.set(opening.terms.version);
        opening.cut().for_each(|limit| self.broker.reached.count(limit));
        self.conversation.accept(&opening, &client.name, session_present, &mut self.reply);
        self.keep_alive_s = opening.keep_alive_s;
        let kept = if session_present { ", its session goes on" } else { "" };
        let detail =
            format!("from {} with {}{kept}", self.link.origin.address, opening.terms.version);
        self.broker.report(EventKind::Connected, &client.name, detail);
        self.will = opening.will;
        self.inherited.extend(will);
        if session_present {
            self.broker.come_back(&client);
            self.returning = Returning::of(&self.broker, &client);
        }
        if self.broker.is_stopping() {
            self.link.close(Reason::ServerShuttingDown);
        }
        Ok(())
    }

    /// Tells the journal of a session that outlives the broker, or of a will that does.
    fn record_opening(&mut self, client: &Client, opening: &Opening, resumed: bool) {
        if !client.state().recorded {
            return;
        }
        let (session, expiry_s) = (client.key, opening.expiry_s);
        let will = opening.will.as_ref().map(Cow::Borrowed);
        if resumed {
            return self
                .feed
                .record(&Record::Resumed { session, expiry_s, will }, Durability::Memory);
        }
        let (client_id, user) = (&*client.name, client.user.as_deref());
        self.feed.own(&client.owner);
        let opened = Record::Opened { session, client_id, user, expiry_s, will };
        let level = if expiry_s > 0 { Durability::Disk } else { Durability::Memory };
        self.feed.record(&opened, level);
    }

    /// The connection is over: its session waits or ends, its will is published or waits.
    pub async fn leave(&mut self, end: &End) {
        let Some(client) = self.client.clone() else { return };
        let (with_will, goodbye) = match end {
            End::Goodbye(goodbye) => (goodbye.with_will, Some(goodbye)),
            End::Closed(Reason::ServerShuttingDown) => (self.broker.journal.is_some(), None),
            _ => (true, None),
        };
        let will = self.will.take().filter(|_| with_will);
        let will = self.broker.leave(&client, &self.link, will, goodbye);
        if client.link().is_none() {
            self.feed.begin(&self.broker, now_ns());
            self.broker.leave_table(&client, &mut self.feed);
            self.broker.leave_streams(&client, &mut self.feed);
            self.feed.finish(); // who was told is woken: its connection may have nothing else to do
        }
        self.link.leave();
        if let Some(will) = will {
            keeper::publish(&self.broker, &mut self.feed, &client, &will).await;
        }
    }
}

/// Whether the journal cannot take a message now.
fn is_refused_by_journal(reason: Reason) -> bool {
    matches!(reason, Reason::QuotaExceeded | Reason::UnspecifiedError)
}

/// Whether a QoS 2 message has not come before (MQTT-4.3.3-10).
fn is_new(
    client: &Client,
    link: &Link,
    conversation: &Conversation,
    id: Option<PacketId>,
) -> Result<bool, End> {
    let mut state = client.state_of(link).ok_or(TAKEN_OVER)?;
    Ok(id.map_or(Ok(true), |id| {
        state.session.receive(id, conversation.limits(), conversation.version())
    })?)
}
