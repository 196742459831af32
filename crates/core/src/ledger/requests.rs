//! The requests that are not over.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BatchHead, RequestManner, RequestRecord};
use crate::requests::RequestKey;
use crate::{InternedTexts, Offset, SessionKey};

/// A request that is not over; its message is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRequest {
    /// The offset of its message.
    pub offset: Offset,
    /// The session that asked.
    pub asker: SessionKey,
    /// Where the asker gets the answer.
    pub answer_topic: Arc<str>,
    /// When it was asked.
    pub asked_ns: i64,
    /// When it times out.
    pub expires_ns: i64,
    /// What it asks for.
    pub manner: RequestManner,
    /// The session of the service that has it.
    pub service: Option<SessionKey>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct KeptRequests {
    pub open: BTreeMap<RequestKey, KeptRequest>,
    answer_topics: InternedTexts,
}

impl KeptRequests {
    pub(super) fn take(
        &mut self,
        batch: &BatchHead,
        record: &RequestRecord<'_>,
    ) -> Result<(), &'static str> {
        match *record {
            RequestRecord::Asked { index, key, asker, answer_topic, expires_ns, manner } => {
                let (offset, asked_ns) = (batch.offset(index)?, batch.receive_ns);
                let at = RequestRecord::AskedAt {
                    offset,
                    key,
                    asker,
                    answer_topic,
                    expires_ns,
                    manner,
                    asked_ns,
                };
                return self.take(batch, &at);
            }
            RequestRecord::AskedAt {
                offset,
                key,
                asker,
                answer_topic,
                expires_ns,
                manner,
                asked_ns,
            } => {
                let (answer_topic, service) = (self.answer_topics.share(answer_topic), None);
                self.open.insert(
                    key,
                    KeptRequest {
                        offset,
                        asker,
                        answer_topic,
                        asked_ns,
                        expires_ns,
                        manner,
                        service,
                    },
                );
            }
            RequestRecord::Handed { key, service } => {
                if let Some(kept) = self.open.get_mut(&key) {
                    kept.service = Some(service);
                }
            }
            RequestRecord::Returned { key } => {
                if let Some(kept) = self.open.get_mut(&key) {
                    kept.service = None;
                    kept.manner.retries = kept.manner.retries.saturating_sub(1);
                }
            }
            RequestRecord::Closed { key } => drop(self.open.remove(&key)),
        }
        Ok(())
    }

    pub(super) fn snapshot(&self, out: &mut Vec<u8>) {
        for (key, kept) in &self.open {
            let KeptRequest { offset, asker, asked_ns, expires_ns, manner, service, .. } = *kept;
            let (key, answer_topic) = (*key, &*kept.answer_topic);
            RequestRecord::AskedAt {
                offset,
                key,
                asker,
                answer_topic,
                expires_ns,
                manner,
                asked_ns,
            }
            .encode(out);
            if let Some(service) = service {
                RequestRecord::Handed { key, service }.encode(out);
            }
        }
    }
}
