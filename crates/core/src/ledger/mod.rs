//! What the records in the journal say of sessions, retained and waiting messages, the table and
//! streams.
//!
//! Recovery applies every record; a snapshot is the records that lead to the same state. Pure.

mod bytes;
mod decode;
mod deliveries;
mod encode;
mod kept;
mod owners;
mod publishers;
mod queue;
mod record;
mod run;
mod snapshot;
mod stock;
mod streams;
mod table;

pub use decode::{RecordError, Records};
pub use deliveries::Deliveries;
pub use kept::{InFlight, Kept, KeptSubscription, PendingReplay};
pub use record::{Record, RetainedMessage, Will};
pub use run::{Manner, Run};
pub use stock::{KeptRetained, KeptWaiting};
pub use table::Carried;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(crate) use owners::OwnerWriter;
use owners::Owners;
use stock::Stock;
use streams::KeptStreams;
use table::KeptTable;

/// Manners of delivery that are shared by the messages that have them, the last so many.
const MANNERS_KEPT: usize = 16;

/// The batch that some records were found in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchHead {
    /// The offset of its first message.
    pub base_offset: u64,
    /// How many messages it has.
    pub messages: u32,
    /// When it was received.
    pub receive_ns: i64,
}

impl BatchHead {
    /// The offset of one of its messages.
    fn offset(&self, index: u32) -> Result<u64, &'static str> {
        let end = self.base_offset.checked_add(u64::from(self.messages));
        if end.is_none() || index >= self.messages {
            return Err(NO_SUCH_MESSAGE);
        }
        Ok(self.base_offset + u64::from(index))
    }
}

const NO_SUCH_MESSAGE: &str = "it names a message that its batch does not have";

/// The state that the records lead to.
#[derive(Debug, Default)]
pub struct Ledger {
    sessions: HashMap<u64, Kept>,
    clients: HashMap<Box<str>, u64>,
    stock: Stock,
    table: KeptTable,
    streams: KeptStreams,
    /// The highest session number there was.
    highest: u64,
    /// The newest time there was.
    newest_ns: i64,
    manners: Vec<Arc<Manner>>,
    owners: Owners,
}

impl Ledger {
    /// The state that a snapshot describes.
    pub fn restore(snapshot: &[u8]) -> Result<Self, RecordError> {
        let mut ledger = Self::default();
        ledger.apply(BatchHead::default(), snapshot)?;
        Ok(ledger)
    }

    /// Takes in the records of a batch, before its retained messages. What comes before a record that
    /// cannot be read counts.
    pub fn apply(&mut self, batch: BatchHead, records: &[u8]) -> Result<(), RecordError> {
        self.newest_ns = self.newest_ns.max(batch.receive_ns);
        self.stock.begin();
        self.table.begin();
        self.owners.begin();
        let applied = self.apply_records(&batch, records);
        self.table.define();
        self.forget_gone();
        applied
    }

    fn apply_records(&mut self, batch: &BatchHead, records: &[u8]) -> Result<(), RecordError> {
        let mut reading = Records::new(records);
        let mut at = 0;
        while let Some(record) = reading.next() {
            let taken = self.take(batch, record?);
            taken.map_err(|what| RecordError { at, what })?;
            at = reading.place();
        }
        Ok(())
    }

    /// Takes in a message that was published to be retained; its batch's records come first.
    pub fn retain(&mut self, offset: u64, receive_ns: i64, message: RetainedMessage<'_>) {
        self.newest_ns = self.newest_ns.max(receive_ns);
        self.stock.retain(offset, receive_ns, message, self.owners.now());
    }

    /// Forgets retained messages that have expired.
    pub fn expire(&mut self, now_ns: i64) {
        self.stock.expire(now_ns);
    }

    /// The sessions, by number.
    pub fn sessions(&self) -> BTreeMap<u64, &Kept> {
        self.sessions.iter().map(|(session, kept)| (*session, kept)).collect()
    }

    /// One session.
    pub fn session(&self, session: u64) -> Option<&Kept> {
        self.sessions.get(&session)
    }

    /// The retained messages, by topic.
    pub fn retained(&self) -> impl Iterator<Item = (&str, &KeptRetained)> {
        self.stock.retained()
    }

    /// The messages that wait for a subscriber, by offset.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, &KeptWaiting)> {
        self.stock.waiting()
    }

    /// The highest session number there was; further ones go on after it.
    pub fn highest_session(&self) -> u64 {
        self.highest
    }

    /// The newest time any record or message has: when a connected client was last known to be there.
    pub fn newest_ns(&self) -> i64 {
        self.newest_ns
    }

    /// The lowest offset of the journal that is still needed.
    pub fn needed(&self) -> Option<u64> {
        let sessions = self.sessions.values().filter_map(Kept::needed);
        sessions.chain(self.stock.needed()).min()
    }

    fn take(&mut self, batch: &BatchHead, record: Record<'_>) -> Result<(), &'static str> {
        match record {
            Record::Known { session, newest_ns } => {
                self.highest = self.highest.max(session);
                self.newest_ns = self.newest_ns.max(newest_ns);
            }
            Record::Opened { session, client_id, user, expiry_s, will } => {
                self.open(session, client_id, user);
                self.with(session, |kept| kept.stay(expiry_s, will));
            }
            Record::Owner { owner } => self.owners.name(owner),
            Record::Ended { session } => self.end(session),
            Record::Delivered { session, first, count, bytes, manner } => {
                let last = first.checked_add(count - 1).ok_or(NO_SUCH_MESSAGE)?;
                batch.offset(last)?;
                self.deliver(session, batch.offset(first)?, count, bytes, manner);
            }
            Record::DeliveredAt { session, offset, count, bytes, manner } => {
                self.deliver(session, offset, count, bytes, manner);
            }
            Record::Unretained { .. }
            | Record::RetainedAt { .. }
            | Record::Waiting { .. }
            | Record::WaitingAt { .. }
            | Record::Taken { .. } => return self.stock.take(batch, &record, self.owners.now()),
            Record::TableIs { .. }
            | Record::Declared { .. }
            | Record::Removed { .. }
            | Record::Framed { .. }
            | Record::Sampled { .. }
            | Record::ValuesAt { .. } => return self.table.take(batch, &record, self.owners.now()),
            Record::StreamDeclared { .. } | Record::StreamRemoved { .. } => {
                return self.streams.take(&record, self.owners.now());
            }
            Record::Publishes { session, parameters, streams } => {
                self.publish(session, &parameters, &streams);
            }
            record => self.change(record),
        }
        Ok(())
    }

    /// A change of one session that is there.
    fn change(&mut self, record: Record<'_>) {
        match record {
            Record::Resumed { session, expiry_s, will } => {
                self.with(session, |kept| kept.stay(expiry_s, will));
            }
            Record::Left { session, at_ns, expiry_s, will } => {
                self.with(session, |kept| {
                    kept.stay(expiry_s, will);
                    kept.left_ns = Some(at_ns);
                });
            }
            Record::Willed { session } => self.with(session, |kept| kept.will = None),
            Record::Subscribed { session, filter, options, replay, list } => {
                let list = list.map(Cow::into_owned);
                self.with(session, |kept| kept.subscribe(filter, options, replay, list));
            }
            Record::Unsubscribed { session, filter } => {
                self.with(session, |kept| drop(kept.subscriptions.remove(filter)));
            }
            Record::ReplayedTo { session, filter, topic } => {
                self.with(session, |kept| kept.replayed_to(filter, topic));
            }
            Record::Replayed { session, filter } => {
                self.with(session, |kept| kept.replayed(filter));
            }
            Record::Sent { session, packet_id, offset } => {
                self.with(session, |kept| kept.sent(packet_id, offset));
            }
            Record::Received { session, packet_id } => {
                self.with(session, |kept| kept.received(packet_id));
            }
            Record::Completed { session, packet_id } => {
                self.with(session, |kept| kept.completed(packet_id));
            }
            Record::Settled { session, offset, count, qos } => {
                self.with(session, |kept| kept.settled(offset, count, qos));
            }
            Record::Incoming { session, packet_id } => {
                self.with(session, |kept| kept.incoming(packet_id));
            }
            Record::Released { session, packet_id } => {
                self.with(session, |kept| kept.released(packet_id));
            }
            _ => unreachable!("taken in as one of the other groups"),
        }
    }

    fn with(&mut self, session: u64, change: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.sessions.get_mut(&session) {
            change(kept);
        }
    }

    fn open(&mut self, session: u64, client_id: &str, user: Option<&str>) {
        self.end(session);
        if let Some(earlier) = self.clients.insert(client_id.into(), session) {
            self.sessions.remove(&earlier);
        }
        let kept = Kept { owner: self.owners.now().cloned(), ..Kept::new(client_id, user) };
        self.sessions.insert(session, kept);
        self.highest = self.highest.max(session);
    }

    fn end(&mut self, session: u64) {
        if let Some(kept) = self.sessions.remove(&session) {
            self.clients.remove(&kept.client_id);
        }
    }

    fn deliver(&mut self, session: u64, first: u64, count: u32, bytes: u32, manner: Manner) {
        let Some(kept) = self.sessions.get_mut(&session) else { return };
        let manner = shared(&mut self.manners, manner);
        kept.queue.push(Run { first, count, bytes, manner });
    }
}

impl Kept {
    fn stay(&mut self, expiry_s: u32, will: Will<'_>) {
        self.expiry_s = expiry_s;
        self.left_ns = None;
        self.will = will.map(Cow::into_owned);
    }
}

/// The manner that equals this one, if it was there lately: a million messages share a few.
fn shared(manners: &mut Vec<Arc<Manner>>, manner: Manner) -> Arc<Manner> {
    if let Some(found) = manners.iter().find(|known| ***known == manner) {
        return Arc::clone(found);
    }
    if manners.len() == MANNERS_KEPT {
        manners.remove(0);
    }
    let manner = Arc::new(manner);
    manners.push(Arc::clone(&manner));
    manner
}
