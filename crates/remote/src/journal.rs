//! A journal elsewhere, read like one that is here. Reads ahead by one answer, and goes on where it
//! was after a lost connection.

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use slipring_client::{Address, Credentials, TlsFiles};
use slipring_journal::{Answer, Columns, Identity, READ_ANSWER_BYTES, Request};
use slipring_wire::VARINT_MAX;

use crate::RemoteError;
use crate::link::{Link, Slot};

/// Bytes asked for at once. The broker reads the next part while this one is looked at.
const ANSWER_BYTES: u32 = 1 << 20;
/// The first pause before trying again, and the longest.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How to reach the broker, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the reader proves itself with.
    pub credentials: Credentials,
    /// What TLS is done with; only for an address that asks for it.
    pub tls: Option<TlsFiles>,
    /// For connecting, and for each answer.
    pub timeout: Duration,
    /// How long to try again after the connection was lost, or while the broker is busy.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            credentials: Credentials::default(),
            tls: None,
            timeout: Duration::from_secs(10),
            patience: Duration::from_secs(60),
        }
    }
}

/// The journal of one broker.
pub struct RemoteJournal {
    address: Address,
    connecting: slipring_client::Options,
    patience: Duration,
    link: Option<Link>,
    identity: Identity,
    first_offset: u64,
    epoch: u64,
    written_offset: u64,
    /// The newest part that came, and the question after it with the offset it begins at.
    part: Part,
    ahead: Option<(Slot, u64)>,
}

/// Some messages in a row, as they came.
#[derive(Default)]
struct Part {
    offsets: Range<u64>,
    /// The whole answer.
    body: Box<[u8]>,
}

impl Part {
    fn batches(&self) -> &[u8] {
        self.body.get(READ_ANSWER_BYTES..).unwrap_or_default()
    }
}

/// What `about` says.
struct About {
    identity: Identity,
    first: u64,
    end: u64,
    epoch: u64,
    written: u64,
}

impl RemoteJournal {
    /// Connects. With the `expected` identity, known from before, another journal is refused, and a
    /// broker that is away is waited for.
    pub fn open(
        address: Address,
        options: Options,
        expected: Option<Identity>,
    ) -> Result<Self, RemoteError> {
        let connecting = slipring_client::Options {
            credentials: options.credentials,
            tls: options.tls,
            timeout: options.timeout,
            inbox_bytes_max: VARINT_MAX as usize,
            ..slipring_client::Options::default()
        };
        let mut journal = Self {
            address,
            connecting,
            patience: options.patience,
            link: None,
            identity: expected.unwrap_or(Identity([0; 16])),
            first_offset: 0,
            epoch: 0,
            written_offset: 0,
            part: Part::default(),
            ahead: None,
        };
        let about = match expected {
            Some(_) => journal.about()?,
            None => journal.ask_about()?,
        };
        journal.identity = about.identity;
        journal.note(&about);
        Ok(journal)
    }

    /// Which journal this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The oldest offset, as of the last call of `end_offset`.
    pub fn first_offset(&self) -> u64 {
        self.first_offset
    }

    /// One past the newest offset.
    pub fn end_offset(&mut self) -> Result<u64, RemoteError> {
        let about = self.about()?;
        self.note(&about);
        Ok(about.end)
    }

    /// Which opening for writing is the newest, as of the last call of `end_offset` or
    /// `check_position`.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// One past the newest message that is written, safe on the disk or not yet, as of the last call
    /// of `end_offset`.
    pub fn written_offset(&self) -> u64 {
        self.written_offset
    }

    /// Whether a reader that has read up to an offset, in an epoch that it noted with it, can go on
    /// there; an error says why not.
    pub fn check_position(&mut self, offset: u64, epoch: Option<u64>) -> Result<(), RemoteError> {
        let request = Request::Position { offset, epoch: epoch.unwrap_or(0) };
        let (found, epoch) = self.patiently(|journal| {
            let body = journal.ask(&request)?;
            match understand(&request, &body)? {
                Answer::Position { journal, epoch } => Ok((journal, epoch)),
                _ => Err(other_answer()),
            }
        })?;
        self.check_identity(found)?;
        self.epoch = epoch;
        Ok(())
    }

    fn note(&mut self, about: &About) {
        (self.first_offset, self.epoch) = (about.first, about.epoch);
        self.written_offset = about.written;
    }

    /// The messages of a range, or the first of them up to about `bytes_max`; at least one. The
    /// answer's `end` says where to read on.
    pub fn read(&mut self, range: Range<u64>, bytes_max: usize) -> Result<Columns, RemoteError> {
        let mut columns = Columns::starting_at(range.start);
        while columns.end < range.end {
            let rest = columns.end..range.end;
            self.patiently(|journal| journal.fetch(&rest))?;
            let part = &self.part;
            let all = columns.take_excerpt(part.batches(), part.offsets.start, &rest, bytes_max);
            if !all.map_err(RemoteError::damaged)? {
                break;
            }
            // The part may end behind its last message, with offsets that no message has.
            columns.end = columns.end.max(part.offsets.end.min(rest.end));
            if columns.end == rest.start {
                return Err(RemoteError::Nonsense("it does not get on".to_owned()));
            }
        }
        Ok(columns)
    }

    /// Which messages of a range were samples of parameters when they came, or the first of them: where
    /// to go on, and the offset (u64) and the parameter's index (u32) of each.
    pub fn samples(&mut self, range: Range<u64>) -> Result<(u64, Vec<u8>), RemoteError> {
        let request = Request::Samples { from: range.start, to: range.end };
        let (found, end, pairs) = self.patiently(|journal| {
            let body = journal.ask(&request)?;
            match understand(&request, &body)? {
                Answer::Samples { journal, end, pairs } => Ok((journal, end, pairs.to_vec())),
                _ => Err(other_answer()),
            }
        })?;
        self.check_identity(found)?;
        if end > range.end || (end <= range.start && !range.is_empty()) {
            return Err(RemoteError::Nonsense("it is about another range".to_owned()));
        }
        Ok((end, pairs))
    }

    /// The lowest offset whose receive time is at or after `ns`; where there is none, the end.
    pub fn offset_at(&mut self, ns: i64) -> Result<u64, RemoteError> {
        let request = Request::At { ns };
        let (found, offset) = self.patiently(|journal| {
            let body = journal.ask(&request)?;
            match understand(&request, &body)? {
                Answer::At { journal, offset } => Ok((journal, offset)),
                _ => Err(other_answer()),
            }
        })?;
        self.check_identity(found)?;
        Ok(offset)
    }

    /// Notes how far a consumer has come, so that retention does not overtake it.
    pub fn commit(
        &mut self,
        consumer: &str,
        offset: u64,
        epoch: Option<u64>,
    ) -> Result<(), RemoteError> {
        let (journal, epoch) = (self.identity, epoch.unwrap_or(0));
        let request = Request::Commit { journal, offset, epoch, consumer };
        self.patiently(|journal| {
            let body = journal.ask(&request)?;
            understand(&request, &body).map(drop)
        })
    }

    fn about(&mut self) -> Result<About, RemoteError> {
        let about = self.patiently(Self::ask_about)?;
        self.check_identity(about.identity)?;
        Ok(about)
    }

    fn check_identity(&self, found: Identity) -> Result<(), RemoteError> {
        if found == self.identity {
            return Ok(());
        }
        Err(RemoteError::OtherJournal { found, expected: self.identity })
    }

    fn ask_about(&mut self) -> Result<About, RemoteError> {
        let body = self.ask(&Request::About)?;
        match understand(&Request::About, &body)? {
            Answer::About { journal, first, end, epoch, written, .. } => {
                Ok(About { identity: journal, first, end, epoch, written })
            }
            _ => Err(other_answer()),
        }
    }

    /// Has the part that begins the range at hand, and asks for the one after it.
    fn fetch(&mut self, range: &Range<u64>) -> Result<(), RemoteError> {
        if self.part.offsets.contains(&range.start) {
            return Ok(());
        }
        let body = match self.ahead.take() {
            Some((slot, start)) if start == range.start => self.link()?.answer(slot)?,
            passed_by => {
                if let Some((slot, _)) = passed_by {
                    self.link()?.answer(slot)?;
                }
                let slot = self.ask_part(range)?;
                self.link()?.answer(slot)?
            }
        };
        self.part = self.take_part(range.start, body)?;
        let end = self.part.offsets.end;
        if end < range.end {
            self.ahead = Some((self.ask_part(&(end..range.end))?, end));
        }
        Ok(())
    }

    fn ask_part(&mut self, range: &Range<u64>) -> Result<Slot, RemoteError> {
        let request = Request::Read { from: range.start, to: range.end, bytes_max: ANSWER_BYTES };
        self.link()?.ask(&request)
    }

    fn take_part(&self, start: u64, body: Box<[u8]>) -> Result<Part, RemoteError> {
        let request = Request::Read { from: 0, to: 0, bytes_max: 0 };
        let Answer::Read { journal, end, .. } = understand(&request, &body)? else {
            return Err(other_answer());
        };
        self.check_identity(journal)?;
        Ok(Part { offsets: start..end, body })
    }

    fn ask(&mut self, request: &Request<'_>) -> Result<Box<[u8]>, RemoteError> {
        let link = self.link()?;
        let slot = link.ask(request)?;
        link.answer(slot)
    }

    fn link(&mut self) -> Result<&mut Link, RemoteError> {
        if self.link.is_none() {
            self.ahead = None;
            self.link = Some(Link::open(&self.address, &self.connecting)?);
        }
        Ok(self.link.as_mut().expect("opened above"))
    }

    /// Tries until it works, until trying again is of no use, or until the patience is over.
    fn patiently<T>(
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
                // Nobody knows which answers are still to come.
                (self.link, self.ahead) = (None, None);
            }
            if !(error.is_busy() || error.is_lost()) || Instant::now() + pause > until {
                return Err(error);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

fn other_answer() -> RemoteError {
    RemoteError::Nonsense("it is about something else".to_owned())
}

/// The answer in a body; a refusal is an error.
fn understand<'a>(request: &Request<'_>, body: &'a [u8]) -> Result<Answer<'a>, RemoteError> {
    match Answer::decode(request.name(), body) {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(refusal)) => Err(RemoteError::Refused(refusal)),
        None => Err(RemoteError::Nonsense("it has not the bytes it should have".to_owned())),
    }
}
