//! The sessions as the records describe them.

use std::collections::HashMap;
use std::sync::Arc;

use super::kept_session::KeptSession;
use super::span::{DeliveryManner, DeliverySpan};
use super::{BatchHead, DeliveryRecord, NO_SUCH_MESSAGE, SessionRecord};
use crate::{Offset, Owner, SessionKey};

/// How many of the last manners of delivery are kept for sharing.
const MANNERS_KEPT: usize = 16;

#[derive(Debug, Default)]
pub(super) struct KeptSessions {
    pub by_key: HashMap<SessionKey, KeptSession>,
    by_client: HashMap<Box<str>, SessionKey>,
    /// The highest key that was ever used.
    pub highest: SessionKey,
    manners: Vec<Arc<DeliveryManner>>,
}

impl KeptSessions {
    pub(super) fn take(&mut self, record: SessionRecord<'_>, owner: Option<&Owner>) {
        match record {
            SessionRecord::Opened { session, client_id, user, expiry_s, will } => {
                let mut kept = KeptSession::new(client_id, user, owner);
                kept.stay(None, expiry_s, will);
                self.open(session, kept);
            }
            SessionRecord::Resumed { session, expiry_s, will } => {
                self.with(session, |kept| kept.stay(None, expiry_s, will));
            }
            SessionRecord::Left { session, at_ns, expiry_s, will } => {
                self.with(session, |kept| kept.stay(Some(at_ns), expiry_s, will));
            }
            SessionRecord::Willed { session } => self.with(session, |kept| kept.will = None),
            SessionRecord::Ended { session } => self.end(session),
            SessionRecord::Subscribed { session, subscription } => {
                self.with(session, |kept| kept.subscribe(subscription));
            }
            SessionRecord::Unsubscribed { session, filter } => {
                self.with(session, |kept| drop(kept.subscriptions.remove(filter)));
            }
            SessionRecord::ReplayedTo { session, filter, topic } => {
                self.with(session, |kept| kept.replayed_to(filter, topic));
            }
            SessionRecord::Replayed { session, filter } => {
                self.with(session, |kept| kept.replayed(filter));
            }
            SessionRecord::Identified { session, proven } => {
                self.with(session, |kept| kept.identify(&proven));
            }
            SessionRecord::Publishes { session, parameters, streams } => {
                self.with(session, |kept| {
                    kept.parameters = kept.parameters.union(&parameters);
                    kept.streams = kept.streams.union(&streams);
                });
            }
        }
    }

    pub(super) fn take_delivery(
        &mut self,
        batch: &BatchHead,
        record: DeliveryRecord,
    ) -> Result<(), &'static str> {
        match record {
            DeliveryRecord::Delivered { session, first, count, bytes, manner } => {
                let last = first.checked_add(count - 1).ok_or(NO_SUCH_MESSAGE)?;
                batch.offset(last)?;
                self.deliver(session, batch.offset(first)?, count, bytes, manner);
            }
            DeliveryRecord::DeliveredAt { session, offset, count, bytes, manner } => {
                self.deliver(session, offset, count, bytes, manner);
            }
            DeliveryRecord::Sent { session, packet_id, offset } => {
                self.with(session, |kept| kept.sent(packet_id, offset));
            }
            DeliveryRecord::Received { session, packet_id } => {
                self.with(session, |kept| kept.received(packet_id));
            }
            DeliveryRecord::Completed { session, packet_id } => {
                self.with(session, |kept| kept.completed(packet_id));
            }
            DeliveryRecord::Settled { session, offset, count, qos } => {
                self.with(session, |kept| kept.settled(offset, count, qos));
            }
            DeliveryRecord::Incoming { session, packet_id } => {
                self.with(session, |kept| {
                    kept.incoming.insert(packet_id);
                });
            }
            DeliveryRecord::Released { session, packet_id } => {
                self.with(session, |kept| {
                    kept.incoming.remove(&packet_id);
                });
            }
        }
        Ok(())
    }

    fn with(&mut self, session: SessionKey, change: impl FnOnce(&mut KeptSession)) {
        if let Some(kept) = self.by_key.get_mut(&session) {
            change(kept);
        }
    }

    fn open(&mut self, session: SessionKey, kept: KeptSession) {
        self.end(session);
        if let Some(earlier) = self.by_client.insert(kept.client_id.clone(), session) {
            self.by_key.remove(&earlier);
        }
        self.by_key.insert(session, kept);
        self.highest = self.highest.max(session);
    }

    fn end(&mut self, session: SessionKey) {
        if let Some(kept) = self.by_key.remove(&session) {
            self.by_client.remove(&kept.client_id);
        }
    }

    fn deliver(
        &mut self,
        session: SessionKey,
        first: Offset,
        count: u32,
        bytes: u32,
        manner: DeliveryManner,
    ) {
        let Some(kept) = self.by_key.get_mut(&session) else { return };
        let manner = shared(&mut self.manners, manner);
        kept.queue.push(DeliverySpan { first, count, bytes, manner });
    }
}

/// The known manner that equals this one, because many messages share a few manners.
fn shared(manners: &mut Vec<Arc<DeliveryManner>>, manner: DeliveryManner) -> Arc<DeliveryManner> {
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
