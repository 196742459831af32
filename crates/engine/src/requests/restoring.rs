//! Restores the requests that were not over when the broker stopped.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use slipring_core::ledger::{KeptRequest, RequestManner, RequestRecord};
use slipring_core::requests::{
    BookRestorer, NewRequest, PreparedRequest, RequestKey, RestoredRequest,
};
use slipring_core::{
    InternedTexts, JournalPlace, Message, Millis, Offset, Plan, SessionKey, Stored,
};
use slipring_journal::{FoundMessage, JournalReader};
use slipring_wire::{PropertyId, QoS};

use super::Job;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;

/// Requests that go from one thread to the other at a time.
const CHUNK: usize = 1_024;
/// Chunks that wait to be entered.
const CHUNKS_MAX: usize = 4;

/// A request of the journal, ready to be entered; or the key of one that nobody is told about any more.
type Read = Result<PreparedRequest<Client>, RequestKey>;

/// Restores requests. Returns how many go on. A thread reads and makes them while this one enters them into the book.
pub(crate) fn restore<'a>(
    broker: &Broker,
    reader: &mut JournalReader,
    requests: impl Iterator<Item = (RequestKey, &'a KeptRequest)>,
) -> usize {
    let mut kept: Vec<(RequestKey, &KeptRequest)> = requests.collect();
    if kept.is_empty() {
        return 0;
    }
    kept.sort_unstable_by_key(|(_, kept)| kept.offset);
    let clients = broker.sessions.clients().into_iter().map(|client| (client.key, client));
    let plan = broker.plan.load();
    let mut reading = RequestReading {
        plan: &plan,
        clients: clients.collect(),
        now_ms: broker.clock.now_ms(),
        now_ns: broker.clock.now_ns(),
        topics: InternedTexts::default(),
    };
    let mut book = broker.requests.book(); // nobody else needs it yet
    let mut restoring = Restoring {
        broker,
        book: book.restorer(kept.len()),
        orphans: VecDeque::new(),
        closed: Vec::new(),
        restored: 0,
    };
    let (chunks, received) = sync_channel(CHUNKS_MAX);
    thread::scope(|threads| {
        threads.spawn(move || reading.read_all(reader, &kept, &chunks));
        received.into_iter().flatten().for_each(|read| restoring.take(read));
    });
    restoring.finish()
}

/// Makes requests of what the journal has of them.
struct RequestReading<'a> {
    plan: &'a Plan,
    clients: HashMap<SessionKey, Arc<Client>>,
    /// When it began, by both clocks.
    now_ms: Millis,
    now_ns: i64,
    topics: InternedTexts,
}

impl RequestReading<'_> {
    /// Makes the requests, whose offsets ascend.
    fn read_all(
        &mut self,
        reader: &mut JournalReader,
        kept: &[(RequestKey, &KeptRequest)],
        chunks: &SyncSender<Vec<Read>>,
    ) {
        let offsets: Vec<u64> = kept.iter().map(|(_, kept)| kept.offset.get()).collect();
        let (mut kept, mut chunk) = (kept.iter(), Vec::with_capacity(CHUNK));
        reader.visit(&offsets, &mut |found| {
            let Some((key, kept)) = kept.next() else { return };
            let prepared = found.ok().and_then(|found| self.prepare(*key, kept, &found));
            chunk.push(prepared.ok_or(*key));
            if chunk.len() == CHUNK {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
                let _ = chunks.send(full); // fails only if the other thread has panicked
            }
        });
        let _ = chunks.send(chunk);
    }

    /// A request with the message that was found for it, if its asker is still there.
    fn prepare(
        &mut self,
        key: RequestKey,
        kept: &KeptRequest,
        found: &FoundMessage<'_>,
    ) -> Option<PreparedRequest<Client>> {
        let message = self.message(found)?;
        let asker = self.clients.get(&kept.asker)?;
        let request = self.request(key, kept, message, asker);
        let service = kept.service.and_then(|session| self.clients.get(&session).cloned());
        let (asked_ns, is_delivered) = (kept.asked_ns, kept.service.is_some());
        let restored = RestoredRequest { request, asked_ns, is_delivered, service };
        Some(PreparedRequest::new(restored, self.now_ms))
    }

    fn message(&mut self, found: &FoundMessage<'_>) -> Option<Message> {
        let stored = found.message;
        let (topic, offset) = (self.topics.share(stored.topic), Offset::new(found.offset));
        let durability = self.plan.durability_of(&topic);
        let stored = Stored {
            topic: stored.topic,
            properties: stored.properties,
            payload: stored.payload,
            qos: QoS::from_bits(stored.flags.qos()).ok()?,
            retain: stored.flags.retain(),
            place: JournalPlace { offset, durability },
            age_ms: 0, // the time-out of the request decides
        };
        Message::restored_on(topic, &stored, self.now_ms).ok()
    }

    fn request(
        &self,
        key: RequestKey,
        kept: &KeptRequest,
        mut message: Message,
        asker: &Arc<Client>,
    ) -> NewRequest<Client> {
        let age_ns = self.now_ns.saturating_sub(kept.asked_ns).max(0); // a clock may be set back
        let life_ns = kept.expires_ns.saturating_sub(kept.asked_ns);
        let left_ms = life_ns.saturating_sub(age_ns) / 1_000_000;
        let timeout_ms = Millis::try_from(left_ms).unwrap_or(0);
        message.expires_ms = Some(self.now_ms.saturating_add(timeout_ms));
        let correlation = message.publish().properties.binary(PropertyId::CorrelationData);
        let correlation = correlation.map(Into::into);
        let RequestManner { priority, waits, balance, retries } = kept.manner;
        NewRequest {
            key,
            asker: Arc::clone(asker),
            owner: asker.owner.clone(),
            message: Arc::new(message),
            answer_topic: Arc::clone(&kept.answer_topic),
            correlation,
            timeout_ms,
            waits,
            priority,
            retries,
            balance,
            is_recorded: true,
        }
    }
}

/// The requests on their way into the book.
struct Restoring<'a> {
    broker: &'a Broker,
    book: BookRestorer<'a, Client>,
    /// Requests that a service had whose session is gone.
    orphans: VecDeque<RequestKey>,
    /// Records that requests are over.
    closed: Vec<u8>,
    restored: usize,
}

impl Restoring<'_> {
    fn take(&mut self, read: Read) {
        let prepared = match read {
            Ok(prepared) => prepared,
            Err(key) => return RequestRecord::Closed { key }.encode(&mut self.closed),
        };
        let NewRequest { key, asker, message, .. } = prepared.request();
        let (kind, topic) = (EventKind::RequestRestored, message.topic());
        self.broker.tell_request(kind, *key, &asker.name, topic, &"");
        if prepared.is_orphan() {
            self.orphans.push_back(*key);
        }
        self.book.enter(prepared);
        self.restored += 1;
    }

    /// Returns how many go on.
    fn finish(mut self) -> usize {
        self.book.finish();
        self.broker.journal.note_all(&mut self.closed);
        if !self.orphans.is_empty() {
            self.broker.requests.later(Job::GiveBack(self.orphans));
        }
        self.restored
    }
}

impl Broker {
    /// Marks a message from the journal that is a request which is over: its service does not get it any more.
    pub fn withdraw_if_over(&self, message: &Message) {
        let topic = message.publish().properties.text(PropertyId::ResponseTopic);
        let Some(key) = topic.and_then(RequestKey::of_answer) else { return };
        if !self.requests.book().is_going_on(key) {
            message.withdraw();
        }
    }
}
