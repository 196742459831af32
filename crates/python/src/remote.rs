//! A remote broker's journal for Python: the methods of `JournalReader`, over the network.
//! Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring_client::Address;
use slipring_core::table::definitions_json;
use slipring_journal::{DefinitionsEdition, JournalIdentity, JournalRefusal, RefusalReason};
use slipring_remote::{RemoteError, RemoteOptions};

use crate::client::ConnectError;
use crate::client::options::{CredentialsDict, TlsDict, seconds};
use crate::journal::{Edition, JournalColumns, JournalError, JournalGap, edition};

/// Adds this file's class to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RemoteJournal>()
}

/// How to reach the broker, and how long to wait for it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct OptionsDict {
    /// The journal that was read before: another one is refused, and the call waits for a broker that is away.
    identity: Option<String>,
    credentials: CredentialsDict,
    /// A file whose first line is the token.
    token_file: Option<PathBuf>,
    tls: Option<TlsDict>,
    timeout_s: f64,
    patience_s: f64,
}

/// Reads the journal of a broker over the network.
#[pyclass(frozen, module = "slipring._native")]
struct RemoteJournal {
    /// Python may call from several threads; there is one connection.
    journal: Mutex<slipring_remote::RemoteJournal>,
    url: String,
    #[pyo3(get)]
    identity: String,
}

#[pymethods]
impl RemoteJournal {
    #[new]
    fn new(py: Python<'_>, url: &str, options: OptionsDict) -> PyResult<Self> {
        let address: Address =
            url.parse().map_err(|error| ConnectError::new_err(format!("{error}")))?;
        let url = address.to_string();
        let expected = options.identity.as_deref().map(identity).transpose()?;
        let options = RemoteOptions {
            credentials: options.credentials.try_into()?,
            token_file: options.token_file,
            tls: options.tls.map(TryInto::try_into).transpose()?,
            timeout: seconds(options.timeout_s)?,
            patience: seconds(options.patience_s)?,
        };
        let opened = py.detach(|| slipring_remote::RemoteJournal::open(address, options, expected));
        let journal = opened.map_err(|error| translate(&url, &error))?;
        let identity = journal.identity().to_string();
        Ok(Self { journal: Mutex::new(journal), url, identity })
    }

    /// The broker's address, with its port.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    #[getter]
    fn first_offset(&self) -> u64 {
        self.journal().first_offset()
    }

    fn end_offset(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.journal().end_offset()).map_err(|error| translate(&self.url, &error))
    }

    /// The epoch of the newest opening for writing, as of the last call of `end_offset`.
    #[getter]
    fn epoch(&self) -> u64 {
        self.journal().epoch()
    }

    /// One past the newest written message, synced or not, as of the last call of `end_offset`.
    #[getter]
    fn written_offset(&self) -> u64 {
        self.journal().written_offset()
    }

    /// Raises if a reader that stored this offset in this epoch cannot continue there.
    #[pyo3(signature = (offset, epoch = None))]
    fn check_position(&self, py: Python<'_>, offset: u64, epoch: Option<u64>) -> PyResult<()> {
        let checked = py.detach(|| self.journal().check_position(offset, epoch));
        checked.map_err(|error| translate(&self.url, &error))
    }

    fn offset_at(&self, py: Python<'_>, ns: i64) -> PyResult<u64> {
        py.detach(|| self.journal().offset_at(ns)).map_err(|error| translate(&self.url, &error))
    }

    fn read(
        &self,
        py: Python<'_>,
        start: u64,
        end: u64,
        max_bytes: usize,
    ) -> PyResult<JournalColumns> {
        let read = py.detach(|| self.journal().read(start..end, max_bytes));
        JournalColumns::new(py, read.map_err(|error| translate(&self.url, &error))?)
    }

    /// Which messages were samples: the offset to continue at, then offset and parameter of each as
    /// bytes.
    fn samples<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
    ) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let asked = py.detach(|| self.journal().samples(start..end));
        let (end, pairs) = asked.map_err(|error| translate(&self.url, &error))?;
        Ok((end, PyBytes::new(py, &pairs)))
    }

    /// Which definitions the broker has by now: table, revision and epoch.
    fn definitions_edition(&self, py: Python<'_>) -> PyResult<Edition> {
        let asked = py.detach(|| self.journal().definitions_edition());
        asked.map(edition).map_err(|error| translate(&self.url, &error))
    }

    /// The versions of all definitions that the broker has by now, as JSON.
    fn definitions(&self, py: Python<'_>) -> PyResult<String> {
        let asked = py.detach(|| {
            let (DefinitionsEdition { table, revision, epoch }, rows) =
                self.journal().definitions()?;
            Ok(definitions_json((table, revision), epoch, &rows, &[]))
        });
        asked.map_err(|error: RemoteError| translate(&self.url, &error))
    }

    /// Commits how far a consumer has read, so that retention keeps the rest, and a note.
    #[pyo3(signature = (consumer, offset, epoch = None, note = ""))]
    fn commit(
        &self,
        py: Python<'_>,
        consumer: &str,
        offset: u64,
        epoch: Option<u64>,
        note: &str,
    ) -> PyResult<()> {
        let noted = py.detach(|| self.journal().commit(consumer, offset, epoch, note));
        noted.map_err(|error| translate(&self.url, &error))
    }
}

impl RemoteJournal {
    fn journal(&self) -> MutexGuard<'_, slipring_remote::RemoteJournal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(text: &str) -> PyResult<JournalIdentity> {
    let not_one = || JournalError::new_err(format!("{text:?} is not the identity of a journal"));
    text.parse().map_err(|_| not_one())
}

fn translate(url: &str, error: &RemoteError) -> PyErr {
    match error {
        RemoteError::Start(_) | RemoteError::Lost(_) | RemoteError::Secret(_) => {
            ConnectError::new_err(format!("no connection to {url}: {error}"))
        }
        // A reader cannot continue where it was.
        RemoteError::Refused(JournalRefusal {
            why: RefusalReason::Gap | RefusalReason::Beyond | RefusalReason::OtherHistory,
            ..
        }) => JournalGap::new_err(error.to_string()),
        _ => JournalError::new_err(format!("the journal of {url}: {error}")),
    }
}
