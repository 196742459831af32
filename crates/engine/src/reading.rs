//! The journal for readers on other machines: a client publishes a request to `$slipring/journal/`, and gets the
//! answer. `docs/remote.md` has both.
//!
//! Threads that serve no connection read the files; the number of waiting requests is bounded, for each client and
//! for all together.

mod committing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use slipring_core::access::{FilterAccess, Right};
use slipring_core::{AnswerTerms, ConnectionKey, Limit, Offset, ParameterIndex, Pushed, memory};
use slipring_journal::{
    DEFINITIONS_ANSWER_HEADER_BYTES, DefinitionsEdition, JournalAnswer, JournalReader,
    JournalRefusal, JournalRequest, READ_ANSWER_HEADER_BYTES, ReadError, RefusalReason,
    SAMPLE_PAIR_BYTES, consumers::ConsumerPosition,
};
use slipring_wire::Reason;
use tokio::sync::Semaphore;

use crate::asking::{ClientRequest, Envelope};
use crate::broker::Broker;
use crate::client::Client;
use crate::definitions::{DefinitionPage, page};
use crate::event::{EventKind, Report};
use crate::journal_rights::JournalRights;
use crate::locks::lock;
use crate::read_refusals::{check_range, definition_too_large, too_large};
use crate::sampled::sampled_for;
use crate::supervision::{blocking, spawn};

/// Requests that read files at the same time.
const READS_AT_ONCE: usize = 4;
/// Bytes of one answer at most. A single message may be larger.
const ANSWER_BYTES_MAX: usize = 4 << 20;

const NOT_ALLOWED: &str =
    "this user may not read the journal; it needs the right `journal` (docs/access.md)";
const NO_JOURNAL: &str = "the broker has no journal";
const SHORT: &str = "memory is short; ask again a little later";
const BUSY: &str = "too many requests to the journal at once; ask again a little later";

/// Reads the journal for remote readers.
pub(crate) struct Reading {
    /// The folder with the positions of consumers.
    pub folder: OnceLock<PathBuf>,
    /// A permit for each request that reads now; the others wait in line.
    turn: Arc<Semaphore>,
    /// Requests that wait or are being answered.
    asked: AtomicUsize,
    // Idle readers, which remember positions. A lock: taken for a moment, twice for each request.
    readers: Mutex<Vec<JournalReader>>,
}

/// A request that is accepted.
struct Question {
    broker: Arc<Broker>,
    client: Arc<Client>,
    /// The connection that it came by.
    connection: ConnectionKey,
    terms: AnswerTerms,
    envelope: Envelope,
    name: String,
    body: Vec<u8>,
}

/// Takes or refuses a request. Returns the reason code of the acknowledgement.
pub(crate) fn ask(asked: &ClientRequest<'_>, name: &str, reply: &mut Vec<u8>) -> Reason {
    let ClientRequest { broker, client, connection, message, .. } = *asked;
    let Some((envelope, terms)) = asked.envelope() else {
        return Reason::ImplementationSpecificError;
    };
    match admit(asked, name) {
        Ok(()) => {
            let question = Question {
                broker: Arc::clone(broker),
                client: Arc::clone(client),
                connection: connection.key,
                terms,
                envelope,
                name: name.to_owned(),
                body: message.payload.to_vec(),
            };
            let read = Report::new(EventKind::Read, &client.name).topic(message.topic);
            broker.monitor.tell(&read.by(connection).right(Right::Journal));
            spawn(broker, &client.name, question.answer());
            Reason::Success
        }
        Err(refusal) => {
            reply.append(&mut refuse(&envelope, &refusal, terms));
            reason_of(refusal.why)
        }
    }
}

/// The packet with a refusal, without its text if the client takes only small packets.
fn refuse(envelope: &Envelope, refusal: &JournalRefusal, terms: AnswerTerms) -> Vec<u8> {
    let packet = envelope.packet(&refusal.encode(), terms);
    if !packet.is_empty() {
        return packet;
    }
    let wordless = JournalRefusal { text: String::new(), ..*refusal };
    envelope.packet(&wordless.encode(), terms)
}

fn reason_of(why: RefusalReason) -> Reason {
    match why {
        RefusalReason::NotAllowed => Reason::NotAuthorized,
        RefusalReason::Busy => Reason::QuotaExceeded,
        RefusalReason::Malformed => Reason::PayloadFormatInvalid,
        _ => Reason::ImplementationSpecificError,
    }
}

/// Admits a request, which then counts until it is answered.
fn admit(asked: &ClientRequest<'_>, name: &str) -> Result<(), JournalRefusal> {
    let ClientRequest { broker, client, connection, from, message } = *asked;
    let plan = broker.plan.load();
    let access = plan.access.filter_access(from.subject(), Right::Journal, "#");
    if access == FilterAccess::Nothing {
        return Err(JournalRefusal::new(RefusalReason::NotAllowed, NOT_ALLOWED));
    }
    if !broker.journal.exists() {
        return Err(JournalRefusal::new(RefusalReason::NoJournal, NO_JOURNAL));
    }
    JournalRequest::decode(name, message.payload)
        .map_err(|error| JournalRefusal::new(RefusalReason::Malformed, error.to_string()))?;
    if memory::is_short() {
        broker.monitor.reached.count(Limit::MemoryBytes);
        return Err(JournalRefusal::new(RefusalReason::Busy, SHORT));
    }
    let reading = &broker.journal.reading;
    let is_entered = reading.enter(plan.limits.journal_requests);
    if is_entered && client.outgoing().ask(connection.key).is_some() {
        return Ok(());
    }
    if is_entered {
        reading.leave();
    }
    broker.monitor.reached.count(Limit::JournalRequests);
    Err(JournalRefusal::new(RefusalReason::Busy, BUSY))
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            folder: OnceLock::new(),
            turn: Arc::new(Semaphore::new(READS_AT_ONCE)),
            asked: AtomicUsize::new(0),
            readers: Mutex::default(),
        }
    }
}

impl Reading {
    fn enter(&self, most: usize) -> bool {
        let entered = self.asked.fetch_add(1, Ordering::AcqRel) < most;
        if !entered {
            self.leave();
        }
        entered
    }

    fn leave(&self) {
        self.asked.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Question {
    /// Waits for its turn, reads, and sends the answer.
    async fn answer(self) {
        let question = Arc::new(self);
        let reading = &question.broker.journal.reading;
        let turn = Arc::clone(&reading.turn).acquire_owned().await;
        let asked = Arc::clone(&question);
        let read = blocking(move || {
            let _turn = turn;
            asked.read()
        });
        let read = read.await.unwrap_or_else(|why| {
            question.broker.monitor.report(EventKind::Panicked, &question.client.name, &why);
            Err(JournalRefusal::new(RefusalReason::Failed, format!("reading failed: {why}")))
        });
        reading.leave();
        let (envelope, terms) = (&question.envelope, question.terms);
        let packet = match read {
            Ok(body) => envelope.packet(&body, terms),
            Err(refusal) => refuse(envelope, &refusal, terms),
        };
        if question.client.outgoing().answer(question.connection, packet) == Pushed::Wake {
            question.client.wake();
        }
    }

    fn read(&self) -> Result<Vec<u8>, JournalRefusal> {
        let request = JournalRequest::decode(&self.name, &self.body);
        match request
            .map_err(|error| JournalRefusal::new(RefusalReason::Malformed, error.to_string()))?
        {
            JournalRequest::About => self.with_reader(|reader| {
                let newest_ns = reader.newest_receive_ns()?.unwrap_or(0);
                let (first, end) = (reader.first_offset(), reader.end_offset()?);
                let (journal, epoch) = (reader.identity(), reader.epoch());
                let written = reader.written_offset();
                Ok(JournalAnswer::About { journal, first, end, newest_ns, epoch, written }.encode())
            }),
            JournalRequest::Read { from, to, bytes_max } => self.read_range(from, to, bytes_max),
            JournalRequest::Samples { from, to } => self.samples(from, to),
            JournalRequest::Definitions { index, since } => self.definitions(index, since),
            JournalRequest::At { ns } => self.with_reader(|reader| {
                let (offset, journal) = (reader.offset_at(ns)?, reader.identity());
                Ok(JournalAnswer::At { journal, offset }.encode())
            }),
            JournalRequest::Position { offset, epoch } => self.with_reader(|reader| {
                reader.check_position(offset, noted(epoch))?;
                let (journal, epoch) = (reader.identity(), reader.epoch());
                Ok(JournalAnswer::Position { journal, epoch }.encode())
            }),
            JournalRequest::Commit { journal, offset, epoch, consumer, note } => {
                let epoch = noted(epoch);
                let updated_ns = self.broker.clock.now_ns();
                let position = ConsumerPosition { journal, offset, epoch, updated_ns };
                self.commit(&position, consumer, note)
            }
        }
    }

    /// What the client may read now; None if it is everything.
    fn rights(&self) -> Option<JournalRights<'_>> {
        let rights = self.client.rights(&self.broker.plan);
        JournalRights::of(&self.broker.table, rights)
    }

    /// Bytes of messages or samples that an answer has room for.
    fn room(&self) -> usize {
        self.room_behind(READ_ANSWER_HEADER_BYTES)
    }

    fn room_behind(&self, header_bytes: usize) -> usize {
        self.terms.packet_bytes.saturating_sub(self.envelope.bytes() + header_bytes)
    }

    /// The first versions of the definitions that an answer has room for, from the table.
    fn definitions(&self, index: u32, since: u64) -> Result<Vec<u8>, JournalRefusal> {
        let (journal, epoch) = self.with_reader(|reader| {
            reader.end_offset()?; // the epoch is as of this call
            Ok((reader.identity(), reader.epoch()))
        })?;
        let from = (ParameterIndex::new(index), Offset::new(since));
        let most = self.room_behind(DEFINITIONS_ANSWER_HEADER_BYTES).min(ANSWER_BYTES_MAX);
        let rights = self.rights();
        let is_seen = |name: &str| rights.as_ref().is_none_or(|rights| rights.may_read_name(name));
        let DefinitionPage { table: (table, revision), rows, next } =
            page(&self.broker.table, from, most, &is_seen);
        if let Some((index, _, needed)) = next.filter(|_| rows.is_empty()) {
            return Err(definition_too_large(index, needed, most));
        }
        let edition = DefinitionsEdition { table, revision, epoch };
        let next = next.map(|(index, since, _)| (index.get(), since.get()));
        Ok(JournalAnswer::Definitions { journal, edition, next, rows: &rows }.encode())
    }

    /// The first samples of a range that an answer has room for.
    fn samples(&self, from: u64, to: u64) -> Result<Vec<u8>, JournalRefusal> {
        check_range(from, to)?;
        let most = self.room().min(ANSWER_BYTES_MAX);
        let mut rights = self.rights();
        let mut is_seen = |offset, index| {
            rights.as_mut().is_none_or(|rights| rights.may_read_parameter(index, offset))
        };
        let (journal, found) = self.with_reader(|reader| {
            Ok((reader.identity(), sampled_for(reader, from..to, most, &mut is_seen)?))
        })?;
        if found.end == from && from < to {
            return Err(too_large(from, SAMPLE_PAIR_BYTES, most));
        }
        Ok(JournalAnswer::Samples { journal, end: found.end, pairs: &found.pairs }.encode())
    }

    /// The first part of a range that an answer has room for.
    fn read_range(&self, from: u64, to: u64, bytes_max: u32) -> Result<Vec<u8>, JournalRefusal> {
        check_range(from, to)?;
        let single_max = self.room();
        let most = single_max.min(ANSWER_BYTES_MAX).min(bytes_max as usize);
        let mut rights = self.rights();
        let (journal, excerpt) = self.with_reader(|reader| {
            let excerpt = match &mut rights {
                None => reader.excerpt(from..to, most, single_max)?,
                Some(rights) => {
                    reader.narrowed_excerpt(from..to, most, single_max, &mut |one| {
                        rights.may_read(one)
                    })?
                }
            };
            Ok((reader.identity(), excerpt))
        })?;
        if excerpt.is_empty() && excerpt.end == from && from < to {
            return Err(too_large(from, excerpt.needed, single_max));
        }
        Ok(JournalAnswer::Read { journal, end: excerpt.end, batches: &excerpt.batches }.encode())
    }

    /// Reads with one of the idle readers, or with a new one.
    fn with_reader<T>(
        &self,
        read: impl FnOnce(&mut JournalReader) -> Result<T, ReadError>,
    ) -> Result<T, JournalRefusal> {
        let rested = lock(&self.broker.journal.reading.readers).pop();
        let journal = self.broker.journal.get();
        let lent = rested.or_else(|| journal.map(|journal| journal.reader().durable()));
        let mut reader =
            lent.ok_or_else(|| JournalRefusal::new(RefusalReason::NoJournal, NO_JOURNAL))?;
        let read = read(&mut reader);
        lock(&self.broker.journal.reading.readers).push(reader);
        read.map_err(|error| JournalRefusal::from(&error))
    }
}

/// The epoch in a request; 0 is none.
fn noted(epoch: u64) -> Option<u64> {
    Some(epoch).filter(|epoch| *epoch > 0)
}
