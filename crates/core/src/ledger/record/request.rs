//! Records about requests: asked, with a service, and over.

use super::fields::{RecordCursor, RecordField, What};
use super::head::record_family;
use crate::requests::{Balance, RequestKey};
use crate::{Offset, Priority, SessionKey};

record_family! {
    /// A change of one request. All but the first two are ignored if the request is not known.
    #[allow(missing_docs, reason = "the fields mean the same everywhere")]
    RequestRecord<'a> {
        /// A message of this batch is a request.
        Asked = 64 {
            index: u32;
            key: RequestKey,
            asker: SessionKey,
            /// Where the asker gets the answer.
            answer_topic: &'a str,
            /// When it times out.
            expires_ns: i64,
            manner: RequestManner,
        }
        /// A message from elsewhere in the journal is a request. Only in snapshots.
        AskedAt = 65 {
            offset: Offset;
            key: RequestKey,
            asker: SessionKey,
            answer_topic: &'a str,
            expires_ns: i64,
            manner: RequestManner,
            asked_ns: i64,
        }
        /// A service has it.
        Handed = 66 { key: RequestKey; service: SessionKey, }
        /// Its service has gone: it waits for another one.
        Returned = 67 { key: RequestKey; }
        /// It is over: what the asker is told is in the same batch.
        Closed = 68 { key: RequestKey; }
    }
}

/// What a request asks for, besides its time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestManner {
    /// Its priority.
    pub priority: Priority,
    /// Whether it waits if there is no service.
    pub waits: bool,
    /// How its service is chosen.
    pub balance: Balance,
    /// How often it may go to another service.
    pub retries: u8,
}

/// Two bytes: priority (bits 0 and 1), whether it waits (bit 2) and the strategy (bits 3 to 7); the retries.
impl RecordField<'_> for RequestManner {
    fn put(&self, out: &mut Vec<u8>) {
        let waits = u8::from(self.waits) << 2;
        out.extend([self.priority as u8 | waits | (self.balance as u8) << 3, self.retries]);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        let (bits, retries) = (cursor.byte()?, cursor.byte()?);
        Ok(Self {
            priority: Priority::from_byte(bits & 3).ok_or("there is no such priority")?,
            waits: bits & 4 != 0,
            balance: Balance::from_byte(bits >> 3).ok_or("there is no such strategy")?,
            retries,
        })
    }
}
