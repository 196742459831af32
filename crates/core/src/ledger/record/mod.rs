//! The records in the journal, by family: one for each change. `docs/records.md` has their bytes.
//!
//! The bytes may be damaged: a record that makes no sense is an error with its position.
//!
//! A new kind is a row in the file of its family and in `docs/records.md`. A new family is a file and a row
//! in `record_families`; the compiler then asks [`Ledger`](super::Ledger) what it changes.

mod context;
mod delivery;
mod fields;
mod head;
mod request;
mod session;
mod stock;
mod stream;
mod table;

pub use context::ContextRecord;
pub use delivery::DeliveryRecord;
pub use request::{RequestManner, RequestRecord};
pub use session::{RecordedIdentity, RecordedSubscription, RecordedWill, SessionRecord};
pub use stock::{RetainedMessage, StockRecord};
pub use stream::StreamRecord;
pub use table::TableRecord;

use fields::{RecordCursor, What};
use head::{RecordHead, UNKNOWN_KIND};

macro_rules! record_families {
    ($($(#[$note:meta])* $family:ident($record:ty),)*) => {
        /// One record, with its family.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Record<'a> {
            $($(#[$note])* $family($record),)*
        }

        impl<'a> Record<'a> {
            /// Appends the record.
            pub fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$family(record) => record.encode(out),)*
                }
            }

            fn read(cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
                let head = RecordHead::read(cursor)?;
                $(
                    if let Some(record) = <$record>::read(&head, cursor)? {
                        return Ok(Self::$family(record));
                    }
                )*
                Err(UNKNOWN_KIND)
            }
        }
    };
}

// Those that are read most often come first.
record_families! {
    /// What happened to messages of a session.
    Delivery(DeliveryRecord),
    /// A change of a session.
    Session(SessionRecord<'a>),
    /// A change of the table, or samples of its parameters.
    Table(TableRecord<'a>),
    /// A change of the retained or the waiting messages.
    Stock(StockRecord<'a>),
    /// Information that applies to the records behind it.
    Context(ContextRecord<'a>),
    /// A change of the requests.
    Request(RequestRecord<'a>),
    /// A change of the streams.
    Stream(StreamRecord<'a>),
}

/// A record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record at byte {at} cannot be read: {what}")]
pub struct RecordError {
    /// The byte among the records of its batch where it begins.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The records of one batch. The iterator ends after the first that cannot be read.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: RecordCursor<'a>,
    length: usize,
}

impl<'a> Records<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: RecordCursor::new(bytes), length: bytes.len() }
    }

    /// Where the next record begins.
    pub fn next_at(&self) -> usize {
        self.length - self.cursor.left()
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.left() == 0 {
            return None;
        }
        let at = self.next_at();
        let what = match Record::read(&mut self.cursor) {
            Ok(record) => return Some(Ok(record)),
            Err(what) => what,
        };
        self.cursor = RecordCursor::new(&[]);
        Some(Err(RecordError { at, what }))
    }
}
