//! One client's side of the broker: it takes decoded packets, changes the shared tables, and writes the answers.
//! It never reads or writes a socket; a carrier such as `connection` brings the packets.

use std::sync::Arc;

use slipring_core::access::Identity;
use slipring_core::ledger::DeliveryRecord;
use slipring_core::{Action, Conversation, Durability, Incoming, Opening, Outgoing, Plan};
use slipring_wire::{Packet, PacketId, Publish, QoS, Reason, Version};
use tokio::time::Instant;

use crate::admission::Check;
use crate::asking::ClientRequest;
use crate::broker::Broker;
use crate::client::Client;
use crate::connection_end::{ConnectionEnd, TAKEN_OVER};
use crate::connection_handle::ConnectionHandle;
use crate::event::{EventKind, Report};
use crate::feed::Feed;
use crate::message_events::tell_acknowledged;
use crate::outlet::{Answers, Outlet};
use crate::requests::answering::ToRequest;
use crate::returning::Returning;
use crate::session_life::{NotOpened, Opened};
use crate::subscribing::Subscribing;
use crate::table::refused::Refused;
use crate::{asking, wills};

/// A connection's conversation, and the client it turned out to be.
pub(crate) struct Party {
    pub broker: Arc<Broker>,
    pub connection: Arc<ConnectionHandle>,
    pub conversation: Conversation,
    /// None until CONNECT was accepted.
    pub client: Option<Arc<Client>>,
    /// Who the client has proved to be.
    pub identity: Arc<Identity>,
    /// The plan that has judged its proof, until it is let in.
    pub judged: Option<Arc<Plan>>,
    /// When the proof of the client ends, and its connection with it.
    pub proof_ends: Option<Instant>,
    pub keep_alive_s: u16,
    pub reply: Vec<u8>,
    pub feed: Feed,
    /// Messages for the client go after the answers of this batch.
    pub blocks: bool,
    /// A CONNECT that waits for a check; further packets wait until it is done.
    pub check: Option<Check>,
    /// A SUBSCRIBE that takes several turns.
    pub subscribing: Subscribing,
    pub returning: Returning,
    incoming: Incoming,
    /// Refused samples that were not reported yet.
    refused: Refused,
    /// Messages that it may not publish, and that were not reported yet.
    unauthorized: Refused,
    /// PUBACKs of this batch, settled together: publishers need the same lock.
    acks: Vec<PacketId>,
    /// QoS 2 identifiers that are new in this batch.
    pub received: Vec<PacketId>,
}

impl Party {
    pub fn new(broker: Arc<Broker>, connection: Arc<ConnectionHandle>) -> Self {
        let limits = *broker.plan.load().limits_of(connection.origin.listener);
        Self {
            broker,
            connection,
            conversation: Conversation::new(limits),
            client: None,
            identity: Arc::clone(Identity::anonymous()),
            judged: None,
            proof_ends: None,
            keep_alive_s: 0,
            reply: Vec::new(),
            feed: Feed::default(),
            blocks: false,
            check: None,
            subscribing: Subscribing::default(),
            returning: Returning::default(),
            incoming: Incoming::default(),
            refused: Refused::default(),
            unauthorized: Refused::default(),
            acks: Vec::new(),
            received: Vec::new(),
        }
    }

    /// The client identifier, or the address while there is none.
    pub fn name(&self) -> &str {
        self.client.as_ref().map_or(&self.connection.origin.address, |client| &client.name)
    }

    /// Takes one packet. Returns false if the turn ended before the packet was done: then take it again.
    ///
    /// A party does not know whether the packet came by a byte stream or in a datagram.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a PUBLISH stays in registers")]
    pub fn take(&mut self, packet: Packet<'_>) -> Result<bool, ConnectionEnd> {
        match (self.conversation.receive(packet, &mut self.reply)?, &self.client) {
            (Action::Publish(message), Some(_)) => self.publish(message),
            (Action::Acked(id), Some(_)) => {
                self.acks.push(id);
                Ok(true)
            }
            (Action::Open(opening), _) => self.admit(*opening).map(|()| true),
            (Action::Authenticate(data), _) => self.authenticate(data).map(|()| true),
            (Action::Close(goodbye), None) => Err(ConnectionEnd::Goodbye(goodbye)),
            (action, Some(client)) => {
                let client = Arc::clone(client);
                self.take_control(&client, action)
            }
            (_, None) => Ok(true),
        }
    }

    /// Ends a batch: settles the PUBACKs. Returns the number of messages.
    pub fn finish(&mut self) -> u64 {
        if let (Some(client), false) = (&self.client, self.acks.is_empty()) {
            let mut outgoing = client.outgoing();
            for id in self.acks.drain(..) {
                if self.feed.post.is_told {
                    tell_acknowledged(&self.broker.monitor, client, &outgoing, id, false);
                }
                outgoing.acked(id);
            }
            outgoing.time_settled(self.broker.clock.now_ms());
            if outgoing.is_durable() {
                outgoing.take_records(self.feed.records(Durability::Memory));
            }
        }
        self.feed.finish()
    }

    /// Hands the batch to the journal. Its answers go to the outlet, which sends them once their gate is open.
    pub async fn journal(&mut self, outlet: &mut Outlet) -> Result<(), ConnectionEnd> {
        match self.feed.journal(&self.broker).await {
            Ok(gate) => {
                let promised = std::mem::take(&mut self.feed.promised);
                let blocks = std::mem::take(&mut self.blocks);
                let answers = Answers { gate, promised, blocks };
                outlet.hold(&self.broker.journal.gates, &mut self.reply, answers);
                self.received.clear();
                Ok(())
            }
            Err(reason) => {
                self.forget_batch();
                Err(ConnectionEnd::Closed(reason))
            }
        }
    }

    #[inline]
    fn publish(&mut self, publish: Publish<'_>) -> Result<bool, ConnectionEnd> {
        let Some(client) = &self.client else { return Ok(true) };
        let message = self.incoming.admit(publish, self.conversation.limits())?;
        let (qos, id) = (message.qos, message.packet_id);
        self.feed.work.add_text(message.properties.encoded().len());
        let from = &client.principal(&self.connection, &self.identity);
        let is_own = message.topic.starts_with('$');
        let to_request = if is_own { ToRequest::of(message.topic) } else { None };
        let reason = if is_own && to_request.is_none() {
            let (broker, connection, message) = (&self.broker, &*self.connection, &message);
            let asked = ClientRequest { broker, client, connection, from, message };
            match asking::ask(&asked, &mut self.feed, &mut self.reply) {
                Some(reason) => reason,
                None => return Ok(false),
            }
        } else if qos == QoS::ExactlyOnce
            && !client.is_new(&self.connection, &self.conversation, id)?
        {
            // It came before, and may not have its durability yet.
            let level = match to_request {
                Some(_) => Durability::Disk,
                None => self.feed.paths.find(&self.broker, from, message.topic).level,
            };
            self.feed.wait_for(level);
            Reason::Success
        } else if let Some(to) = to_request {
            self.received.extend(id.filter(|_| qos == QoS::ExactlyOnce));
            self.feed.take_for_request(&self.broker, from, to, &message)
        } else {
            self.connection.publishes();
            self.received.extend(id.filter(|_| qos == QoS::ExactlyOnce));
            self.feed.publish(&self.broker, from, &message, self.conversation.version())
        };
        if reason == Reason::NotAuthorized {
            self.unauthorized.add_unauthorized(&self.broker, &self.connection, from, &message);
        }
        if let (true, Some(id)) = (reason.is_error() && qos == QoS::ExactlyOnce, id) {
            client.state().session.release(id);
        }
        match self.feed.refusal.take() {
            None if is_refused_by_journal(reason) && self.conversation.version() != Version::V5 => {
                return Err(ConnectionEnd::Closed(reason)); // MQTT 3 has no other way to refuse
            }
            None => self.conversation.acknowledge(qos, id, reason, &mut self.reply),
            Some(why) => {
                self.feed.tell_quota(&self.broker, client, &self.connection);
                self.conversation.refuse_publish(qos, id, reason, &why, &mut self.reply);
                let post = &mut self.feed.post;
                self.refused.add(&self.broker, client, message.topic, &why, post);
            }
        }
        Ok(true)
    }

    fn take_control(
        &mut self,
        client: &Arc<Client>,
        action: Action<'_>,
    ) -> Result<bool, ConnectionEnd> {
        match action {
            Action::Subscribe(packet) => return self.subscribe(client, &packet),
            Action::Unsubscribe(packet) => self.unsubscribe(client, &packet)?,
            Action::Release(id) => {
                let mut state = client.state_of(&self.connection).ok_or(TAKEN_OVER)?;
                let known = state.session.release(id);
                self.conversation.complete(id, known, &mut self.reply);
                if client.is_durable {
                    // Without the record, the next message with this identifier would be taken for this one.
                    let released = DeliveryRecord::Released { session: client.key, packet_id: id };
                    released.encode(self.feed.records(Durability::Disk));
                }
            }
            Action::Received(id, refused) => {
                let mut outgoing = client.outgoing();
                if refused || self.feed.post.is_told {
                    tell_acknowledged(&self.broker.monitor, client, &outgoing, id, refused);
                }
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
            Action::Close(goodbye) => return Err(ConnectionEnd::Goodbye(goodbye)),
            Action::Nothing
            | Action::Open(_)
            | Action::Authenticate(_)
            | Action::Publish(_)
            | Action::Acked(_) => {}
        }
        Ok(true)
    }

    /// Adds records of changes in the client's queue to the batch; the answers wait for them.
    fn take_records(&mut self, outgoing: &mut Outgoing) {
        if outgoing.is_durable() {
            let level = outgoing.take_records(self.feed.records(Durability::Memory));
            self.feed.wait_for(level.unwrap_or_default());
        }
    }

    /// Lets a client in, if there is room.
    pub fn open(&mut self, opening: Opening, force: bool) -> Result<(), ConnectionEnd> {
        if let Err(refusal) = self.check_will(&opening) {
            return Err(self.refuse(refusal));
        }
        let opened = match self.broker.open_session(&opening, &self.connection, force) {
            Ok(opened) => opened,
            Err(NotOpened::Refused(refusal)) => return Err(self.refuse(refusal)),
            Err(NotOpened::Held(held)) => {
                self.check = Some(Check::handover(opening, held));
                return Ok(());
            }
            Err(NotOpened::WillUnderway(appended)) => {
                self.check = Some(Check::after_will(opening, appended, force));
                return Ok(());
            }
        };
        let Opened { client, session_present, promise, will } = opened;
        self.client = Some(Arc::clone(&client)); // from here on `leave` must be called for it
        self.identity = Arc::clone(self.connection.identity());
        self.broker.set_flow(&self.broker.plan.load(), &client, &self.connection);
        self.feed.requests.client = Some(Arc::clone(&client));
        if let Some(will) = will {
            wills::add(&self.broker, &mut self.feed, &will); // in one batch with the record below
        }
        self.broker.identify(&client, self.connection.identity());
        self.record_opening(&client, &opening, session_present);
        self.feed.wait_for(promise);
        self.blocks = true; // no packet goes before CONNACK
        client.welcome(&self.connection, opening.terms.version);
        opening.cut().for_each(|limit| self.broker.monitor.reached.count(limit));
        self.conversation.accept(&opening, &client.name, session_present, &mut self.reply);
        self.keep_alive_s = opening.keep_alive_s;
        let detail = self.arrival(&opening, session_present);
        if let Some(user) = self.connection.proven() {
            let detail = format!("as {user}");
            self.broker.monitor.report(EventKind::Authenticated, &client.name, detail);
        }
        let connected = Report::new(EventKind::Connected, &client.name).by(&self.connection);
        self.broker.monitor.tell(&connected.detail(&detail));
        if session_present {
            self.tell_waited(&client);
            self.broker.table.come_back(&client);
            self.feed.come_back(&self.broker, &client);
            self.returning = Returning::of(&self.broker, &client);
        }
        if let Some(judged) = self.judged.take() {
            self.check_proof(&judged);
        }
        if self.broker.stopping.is_set() {
            self.connection.close(Reason::ServerShuttingDown);
        }
        Ok(())
    }

    /// Ends the client's connection: its session ends or waits, and its will is published or waits.
    pub async fn leave(&mut self, end: &ConnectionEnd) {
        let Some(client) = self.client.clone() else { return };
        let (with_will, goodbye) = match end {
            ConnectionEnd::Goodbye(goodbye) => (goodbye.with_will, Some(goodbye)),
            ConnectionEnd::Closed(Reason::ServerShuttingDown) => {
                (self.broker.journal.exists(), None)
            }
            _ => (true, None),
        };
        let will = self.broker.leave(&client, &self.connection, with_will, goodbye);
        if client.connection().is_none() {
            self.feed.begin(&self.broker, self.broker.clock.now_ns());
            for (_, desk) in self.broker.desks() {
                desk.leave(&self.broker, &client, &mut self.feed);
            }
            self.feed.finish(); // wakes the subscribers of those messages
        }
        self.connection.left.set();
        if let Some(will) = will {
            wills::publish(&self.broker, &mut self.feed, will).await;
        }
    }
}

/// Whether the reason says that the journal cannot take a message now.
fn is_refused_by_journal(reason: Reason) -> bool {
    matches!(reason, Reason::QuotaExceeded | Reason::UnspecifiedError)
}

#[cfg(test)]
#[path = "party_tests.rs"]
mod tests;
