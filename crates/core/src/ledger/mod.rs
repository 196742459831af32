//! The state that the records in the journal lead to: sessions, retained and waiting messages, the table
//! and the streams. Pure.
//!
//! A record describes one change. Recovery applies all records to an empty ledger; a snapshot is a list
//! of records that leads to the same state.
//!
//! # Example: the records of one session
//!
//! The client `pump` gets session 7. The journal's next message has offset 100.
//!
//! | batch | its records | what the ledger knows of session 7 |
//! |---|---|---|
//! | no messages | `Owner` user:anna; `Opened` 7 by `pump`, kept for 3600 s; `Subscribed` 7 to `orders/#`, QoS 2 | connected, owned by anna, one subscription |
//! | messages 100 to 102, of 20 bytes | `Delivered` to 7: from index 0, 2 messages, QoS 2; from index 2, 1 message, QoS 1 | queue: 100 and 101 at QoS 2, 102 at QoS 1 |
//! | no messages | `Sent` 7: packet 1 is offset 100 | in flight: packet 1 with 100; queue: 101, 102 |
//! | no messages | `Received` 7: packet 1 | in flight: packet 1 without a message, as only PUBREL is sent again; the journal is needed from 101 on |
//! | no messages | `Completed` 7: packet 1; `Settled` 7: from 102, 1 message, QoS 1 | nothing in flight; queue: 101 |
//! | no messages | `Left` 7 at 5 s, kept for 3600 s | away since 5 s; queue: 101 |
//!
//! A snapshot now is six records: `Known` 7, `Owner` user:anna, `Opened` 7, `Left` 7, `Subscribed` 7 and
//! `DeliveredAt` 7: from 101, 1 message, QoS 2.

mod definitions;
mod deliveries;
#[cfg(test)]
mod example_tests;
mod kept_session;
mod owners;
mod publishers;
mod queue;
mod record;
mod requests;
mod sessions;
mod snapshot;
mod span;
mod stock;
mod streams;
mod table;

pub use definitions::DefinitionLedger;
pub use deliveries::Deliveries;
pub use kept_session::{InFlight, KeptSession, KeptSubscription, PendingReplay};
pub use record::{
    ContextRecord, DeliveryRecord, Record, RecordError, RecordedIdentity, RecordedSubscription,
    RecordedWill, Records, RequestManner, RequestRecord, RetainedMessage, SessionRecord,
    StockRecord, StreamRecord, TableRecord,
};
pub use requests::KeptRequest;
pub use span::{DeliveryManner, DeliverySpan};
pub use stock::{KeptRetained, KeptWaiting};
pub use table::Carried;

use std::collections::BTreeMap;

pub(crate) use owners::OwnerWriter;
use owners::Owners;
use requests::KeptRequests;
use sessions::KeptSessions;
use stock::Stock;
use streams::KeptStreams;
use table::KeptTable;

use crate::requests::RequestKey;
use crate::{Offset, SessionKey};

/// The batch of some records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchHead {
    /// The offset of its first message.
    pub base_offset: Offset,
    /// How many messages it has.
    pub messages: u32,
    /// When it was received.
    pub receive_ns: i64,
}

impl BatchHead {
    /// The offset of one of its messages.
    fn offset(&self, index: u32) -> Result<Offset, &'static str> {
        let end = self.base_offset.get().checked_add(u64::from(self.messages));
        if end.is_none() || index >= self.messages {
            return Err(NO_SUCH_MESSAGE);
        }
        Ok(self.base_offset.plus(index))
    }
}

const NO_SUCH_MESSAGE: &str = "it names a message that its batch does not have";

/// The state that the records lead to.
#[derive(Debug, Default)]
pub struct Ledger {
    sessions: KeptSessions,
    stock: Stock,
    table: KeptTable,
    streams: KeptStreams,
    requests: KeptRequests,
    /// The newest time of any record or message.
    newest_ns: i64,
    owners: Owners,
}

impl Ledger {
    /// The state that a snapshot describes.
    pub fn restore(snapshot: &[u8]) -> Result<Self, RecordError> {
        let mut ledger = Self::default();
        ledger.apply(BatchHead::default(), snapshot)?;
        Ok(ledger)
    }

    /// Applies the records of a batch; call it before `retain`, `frame` and `sample`. If a record cannot be read, the
    /// records before it are applied.
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
            at = reading.next_at();
        }
        Ok(())
    }

    fn take(&mut self, batch: &BatchHead, record: Record<'_>) -> Result<(), &'static str> {
        match record {
            Record::Context(ContextRecord::Known { session, newest_ns }) => {
                self.sessions.highest = self.sessions.highest.max(session);
                self.newest_ns = self.newest_ns.max(newest_ns);
            }
            Record::Context(ContextRecord::Owner { owner }) => self.owners.name(owner),
            Record::Session(record) => {
                // A session may declare again what was removed: it keeps that, so removals are applied first.
                self.forget_gone();
                self.sessions.take(record, self.owners.now());
            }
            Record::Delivery(record) => {
                record.check()?;
                self.sessions.take_delivery(batch, record)?;
            }
            Record::Stock(record) => self.stock.take(batch, &record, self.owners.now())?,
            Record::Table(record) => self.table.take(batch, &record, self.owners.now())?,
            Record::Request(record) => self.requests.take(batch, &record)?,
            Record::Stream(record) => self.streams.take(&record, self.owners.now())?,
        }
        Ok(())
    }

    /// Applies a message that was published with the retain flag. Apply the records of its batch first.
    pub fn retain(&mut self, offset: Offset, receive_ns: i64, message: RetainedMessage<'_>) {
        self.newest_ns = self.newest_ns.max(receive_ns);
        self.stock.retain(offset, receive_ns, message, self.owners.now());
    }

    /// Removes retained messages that have expired.
    pub fn expire(&mut self, now_ns: i64) {
        let is_live = |kept: &KeptRetained| kept.expires_ns.is_none_or(|at| at > now_ns);
        self.stock.retained.retain(|_, kept| is_live(kept));
    }

    /// The sessions by their keys.
    pub fn sessions(&self) -> BTreeMap<SessionKey, &KeptSession> {
        self.sessions.by_key.iter().map(|(session, kept)| (*session, kept)).collect()
    }

    /// One session.
    pub fn session(&self, session: SessionKey) -> Option<&KeptSession> {
        self.sessions.by_key.get(&session)
    }

    /// The retained messages by topic.
    pub fn retained(&self) -> impl Iterator<Item = (&str, &KeptRetained)> {
        self.stock.retained.iter().map(|(topic, kept)| (&**topic, kept))
    }

    /// The messages that wait for a subscriber, by offset.
    pub fn waiting(&self) -> impl Iterator<Item = (Offset, &KeptWaiting)> {
        self.stock.waiting.iter().map(|(offset, kept)| (*offset, kept))
    }

    /// The requests that are not over.
    pub fn requests(&self) -> impl Iterator<Item = (RequestKey, &KeptRequest)> {
        self.requests.open.iter().map(|(key, kept)| (*key, kept))
    }

    /// The highest session key that was ever used; new sessions get higher ones.
    pub fn highest_session(&self) -> SessionKey {
        self.sessions.highest
    }

    /// The newest time of any record or message. A client that was connected at the end of the records was
    /// certainly connected at this time.
    pub fn newest_ns(&self) -> i64 {
        self.newest_ns
    }

    /// The lowest offset of the journal that is still needed.
    pub fn needed(&self) -> Option<Offset> {
        let sessions = self.sessions.by_key.values().filter_map(KeptSession::needed);
        let requests = self.requests.open.values().map(|kept| kept.offset);
        sessions.chain(self.stock.waiting.keys().next().copied()).chain(requests).min()
    }
}
