//! A broker's journal, read over the network with the same calls as a local one. Prefetches one
//! answer, and resumes at the offset it had reached after a lost connection.

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use slipring_client::{Address, ClientOptions};
use slipring_journal::{
    JournalAnswer, JournalIdentity, JournalRequest, MessageColumns, READ_ANSWER_HEADER_BYTES,
};
use slipring_protocol::ConnectOptions;
use slipring_wire::VARINT_MAX;

use crate::connection::{JournalConnection, RequestSlot};
use crate::token_file::TokenFile;
use crate::{RemoteError, RemoteOptions};

/// Bytes asked for in one request. The broker reads the next part while the caller uses this one.
const ANSWER_BYTES: u32 = 1 << 20;
/// The first pause before a retry; it doubles up to the second.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The journal of one broker.
pub struct RemoteJournal {
    address: Address,
    connecting: ClientOptions,
    token_file: Option<TokenFile>,
    patience: Duration,
    connection: Option<JournalConnection>,
    /// Known from the first answer on.
    identity: Option<JournalIdentity>,
    first_offset: u64,
    epoch: u64,
    written_offset: u64,
    /// The newest answer to `read`.
    part: FetchedPart,
    /// The request for the part after it, and the offset where that part begins.
    prefetch: Option<(RequestSlot, u64)>,
}

/// The messages of consecutive offsets, as the broker sent them.
#[derive(Default)]
struct FetchedPart {
    offsets: Range<u64>,
    /// The whole answer.
    body: Box<[u8]>,
}

impl FetchedPart {
    fn batches(&self) -> &[u8] {
        self.body.get(READ_ANSWER_HEADER_BYTES..).unwrap_or_default()
    }
}

impl RemoteJournal {
    /// Connects. With an `expected` identity, a broker that has another journal is an error, and one
    /// that cannot be reached is retried.
    pub fn open(
        address: Address,
        options: RemoteOptions,
        expected: Option<JournalIdentity>,
    ) -> Result<Self, RemoteError> {
        let connecting = ClientOptions {
            connect: ConnectOptions {
                credentials: options.credentials,
                timeout: options.timeout,
                ..ConnectOptions::default()
            },
            tls: options.tls,
            inbox_bytes_max: VARINT_MAX as usize,
            ..ClientOptions::default()
        };
        let mut journal = Self {
            address,
            connecting,
            token_file: options.token_file.map(TokenFile::new),
            patience: expected.map_or(Duration::ZERO, |_| options.patience),
            connection: None,
            identity: expected,
            first_offset: 0,
            epoch: 0,
            written_offset: 0,
            part: FetchedPart::default(),
            prefetch: None,
        };
        journal.end_offset()?;
        journal.patience = options.patience;
        Ok(journal)
    }

    /// Which journal this is.
    pub fn identity(&self) -> JournalIdentity {
        self.identity.expect("`open` has asked for it")
    }

    /// The oldest offset, as of the last call of `end_offset`.
    pub fn first_offset(&self) -> u64 {
        self.first_offset
    }

    /// One past the newest offset.
    pub fn end_offset(&mut self) -> Result<u64, RemoteError> {
        let [first, end, epoch, written] =
            self.request(&JournalRequest::About, |answer| match answer {
                JournalAnswer::About { journal, first, end, epoch, written, .. } => {
                    Some((journal, [first, end, epoch, written]))
                }
                _ => None,
            })?;
        (self.first_offset, self.epoch, self.written_offset) = (first, epoch, written);
        Ok(end)
    }

    /// The newest epoch (opening for writing), as of the last call of `end_offset` or
    /// `check_position`.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// One past the newest written message, synced or not, as of the last call of `end_offset`.
    pub fn written_offset(&self) -> u64 {
        self.written_offset
    }

    /// Whether a reader that stored this offset and epoch can resume there; the error says why not.
    pub fn check_position(&mut self, offset: u64, epoch: Option<u64>) -> Result<(), RemoteError> {
        let request = JournalRequest::Position { offset, epoch: epoch.unwrap_or(0) };
        self.epoch = self.request(&request, |answer| match answer {
            JournalAnswer::Position { journal, epoch } => Some((journal, epoch)),
            _ => None,
        })?;
        Ok(())
    }

    /// The messages of a range, or the first of them up to about `bytes_max`, but at least one. The
    /// `end` of the columns is where the next read starts.
    pub fn read(
        &mut self,
        range: Range<u64>,
        bytes_max: usize,
    ) -> Result<MessageColumns, RemoteError> {
        let mut columns = MessageColumns::starting_at(range.start);
        while columns.end < range.end {
            let rest = columns.end..range.end;
            self.with_retries(|journal| journal.fetch(&rest))?;
            let part = &self.part;
            let all = columns.take_excerpt(part.batches(), part.offsets.start, &rest, bytes_max);
            if !all.map_err(RemoteError::damaged)? {
                break;
            }
            // After its last message a part may end with offsets that no message has.
            columns.end = columns.end.max(part.offsets.end.min(rest.end));
            if columns.end == rest.start {
                return Err(RemoteError::Unusable("it holds no message".to_owned()));
            }
        }
        Ok(columns)
    }

    /// Which messages of a range were samples of parameters when they were received, or the first of
    /// them. Returns the offset where the next call starts, and for each sample its offset (u64) and
    /// its parameter's index (u32).
    pub fn samples(&mut self, range: Range<u64>) -> Result<(u64, Vec<u8>), RemoteError> {
        let request = JournalRequest::Samples { from: range.start, to: range.end };
        let (end, pairs) = self.request(&request, |answer| match answer {
            JournalAnswer::Samples { journal, end, pairs } => Some((journal, (end, pairs.into()))),
            _ => None,
        })?;
        if end > range.end || (end <= range.start && !range.is_empty()) {
            return Err(RemoteError::Unusable("it covers another range".to_owned()));
        }
        Ok((end, pairs))
    }

    /// The lowest offset whose receive time is at or after `ns`, or the end if there is none.
    pub fn offset_at(&mut self, ns: i64) -> Result<u64, RemoteError> {
        let request = JournalRequest::At { ns };
        self.request(&request, |answer| match answer {
            JournalAnswer::At { journal, offset } => Some((journal, offset)),
            _ => None,
        })
    }

    /// Commits a consumer's position, so that retention keeps what it has not read. The note is what it
    /// says of its work; it may be empty.
    pub fn commit(
        &mut self,
        consumer: &str,
        offset: u64,
        epoch: Option<u64>,
        note: &str,
    ) -> Result<(), RemoteError> {
        let (journal, epoch) = (self.identity(), epoch.unwrap_or(0));
        let request = JournalRequest::Commit { journal, offset, epoch, consumer, note };
        self.request(&request, |answer| match answer {
            JournalAnswer::Committed { journal } => Some((journal, ())),
            _ => None,
        })
    }

    /// Asks, with retries. `pick` returns the journal's identity and the caller's part of the expected kind
    /// of answer, and `None` for another kind.
    pub(crate) fn request<T>(
        &mut self,
        request: &JournalRequest<'_>,
        pick: impl Fn(JournalAnswer<'_>) -> Option<(JournalIdentity, T)>,
    ) -> Result<T, RemoteError> {
        let (found, picked) = self.with_retries(|journal| {
            let body = journal.ask(request)?;
            pick(decode(request, &body)?).ok_or_else(other_answer)
        })?;
        self.check_identity(found)?;
        Ok(picked)
    }

    fn check_identity(&mut self, found: JournalIdentity) -> Result<(), RemoteError> {
        match *self.identity.get_or_insert(found) {
            expected if expected == found => Ok(()),
            expected => Err(RemoteError::OtherJournal { found, expected }),
        }
    }

    /// Makes `part` hold the start of the range, and requests the part after it.
    fn fetch(&mut self, range: &Range<u64>) -> Result<(), RemoteError> {
        if self.part.offsets.contains(&range.start) {
            return Ok(());
        }
        let body = match self.prefetch.take() {
            Some((slot, start)) if start == range.start => self.connection()?.answer(slot)?,
            other_range => {
                if let Some((slot, _)) = other_range {
                    self.connection()?.answer(slot)?;
                }
                let slot = self.ask_part(range)?;
                self.connection()?.answer(slot)?
            }
        };
        self.part = self.take_part(range.start, body)?;
        let end = self.part.offsets.end;
        if end < range.end {
            self.prefetch = Some((self.ask_part(&(end..range.end))?, end));
        }
        Ok(())
    }

    fn ask_part(&mut self, range: &Range<u64>) -> Result<RequestSlot, RemoteError> {
        let request =
            JournalRequest::Read { from: range.start, to: range.end, bytes_max: ANSWER_BYTES };
        self.connection()?.ask(&request)
    }

    fn take_part(&mut self, start: u64, body: Box<[u8]>) -> Result<FetchedPart, RemoteError> {
        let request = JournalRequest::Read { from: 0, to: 0, bytes_max: 0 };
        let JournalAnswer::Read { journal, end, .. } = decode(&request, &body)? else {
            return Err(other_answer());
        };
        self.check_identity(journal)?;
        Ok(FetchedPart { offsets: start..end, body })
    }

    fn ask(&mut self, request: &JournalRequest<'_>) -> Result<Box<[u8]>, RemoteError> {
        let connection = self.connection()?;
        let slot = connection.ask(request)?;
        connection.answer(slot)
    }

    /// The connection, opened if there is none.
    fn connection(&mut self) -> Result<&mut JournalConnection, RemoteError> {
        if self.connection.is_none() {
            self.prefetch = None;
            if let Some(file) = &self.token_file {
                self.connecting.connect.credentials.password = Some(file.token()?);
            }
            self.connection = Some(JournalConnection::open(&self.address, &self.connecting)?);
        }
        Ok(self.connection.as_mut().expect("opened above"))
    }

    /// Repeats a step until it succeeds, fails for good, or `patience` is over.
    fn with_retries<T>(
        &mut self,
        mut step: impl FnMut(&mut Self) -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        let (until, mut pause) = (Instant::now() + self.patience, PAUSE);
        loop {
            let error = match step(self) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            if !matches!(error, RemoteError::Refused(_)) {
                // Answers to earlier requests may still arrive on the old connection.
                (self.connection, self.prefetch) = (None, None);
            }
            if let Some(file) = &mut self.token_file {
                file.note(&error, self.connecting.connect.credentials.password.as_ref());
            }
            if !(error.is_busy() || error.is_lost(self.token_file.is_some()))
                || Instant::now() + pause > until
            {
                return Err(error);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

fn other_answer() -> RemoteError {
    RemoteError::Unusable("it answers another request".to_owned())
}

/// Decodes an answer; a refusal is an error.
fn decode<'a>(
    request: &JournalRequest<'_>,
    body: &'a [u8],
) -> Result<JournalAnswer<'a>, RemoteError> {
    match JournalAnswer::decode(request.name(), body) {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(refusal)) => Err(RemoteError::Refused(refusal)),
        None => Err(RemoteError::Unusable("it is malformed".to_owned())),
    }
}
