//! The definitions of a broker's parameters, fetched in parts.

use slipring_journal::{DefinitionsEdition, JournalAnswer, JournalRequest};

use crate::{RemoteError, RemoteJournal};

/// Some versions of definitions, and where the next ones begin.
struct DefinitionsPage {
    edition: DefinitionsEdition,
    next: Option<(u32, u64)>,
    rows: String,
}

impl RemoteJournal {
    /// Which definitions of parameters the broker has.
    pub fn definitions_edition(&mut self) -> Result<DefinitionsEdition, RemoteError> {
        self.definitions_page((u32::MAX, 0)).map(|page| page.edition)
    }

    /// The versions of all definitions as JSON objects with commas between them, and which these are: at least
    /// what the broker had when this began.
    pub fn definitions(&mut self) -> Result<(DefinitionsEdition, String), RemoteError> {
        'again: loop {
            let DefinitionsPage { edition, mut rows, mut next } = self.definitions_page((0, 0))?;
            while let Some(from) = next {
                let page = self.definitions_page(from)?;
                if (page.edition.table, page.edition.epoch) != (edition.table, edition.epoch) {
                    continue 'again; // the broker has restarted
                }
                if page.next.is_some_and(|next| next <= from) {
                    return Err(RemoteError::Unusable("it leads back".to_owned()));
                }
                if !page.rows.is_empty() {
                    rows.push(',');
                }
                rows.push_str(&page.rows);
                next = page.next;
            }
            return Ok((edition, rows));
        }
    }

    fn definitions_page(&mut self, from: (u32, u64)) -> Result<DefinitionsPage, RemoteError> {
        let (index, since) = from;
        self.request(&JournalRequest::Definitions { index, since }, |answer| match answer {
            JournalAnswer::Definitions { journal, edition, next, rows } => {
                Some((journal, DefinitionsPage { edition, next, rows: rows.to_owned() }))
            }
            _ => None,
        })
    }
}
