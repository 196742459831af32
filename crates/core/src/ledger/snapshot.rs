//! A snapshot: the records that lead an empty ledger to the same state.

use std::borrow::Cow;

use super::kept_session::{InFlight, KeptSession};
use super::span::{DeliveryManner, DeliverySpan};
use super::{
    ContextRecord, DeliveryRecord, Ledger, OwnerWriter, RecordedIdentity, RecordedSubscription,
    SessionRecord, StockRecord,
};
use crate::SessionKey;

impl Ledger {
    /// Appends the records that lead to this state.
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        ContextRecord::Known { session: self.sessions.highest, newest_ns: self.newest_ns }
            .encode(out);
        let (sessions, mut owners) = (self.sessions(), OwnerWriter::default());
        for (session, kept) in &sessions {
            owners.write(kept.owner.as_ref(), out);
            kept.snapshot(*session, out);
        }
        for (topic, kept) in self.retained() {
            owners.write(kept.owner.as_ref(), out);
            let (offset, receive_ns, message) = (kept.offset, kept.receive_ns, kept.message(topic));
            StockRecord::RetainedAt { offset, receive_ns, message }.encode(out);
        }
        for (offset, kept) in self.waiting() {
            owners.write(kept.owner.as_ref(), out);
            let (priority, expires_ns) = (kept.priority, kept.expires_ns);
            StockRecord::WaitingAt { offset, priority, expires_ns }.encode(out);
        }
        self.requests.snapshot(out);
        self.table.snapshot(self.newest_ns, out);
        self.streams.snapshot(out);
        for (session, kept) in &sessions {
            kept.write_declared(*session, out);
        }
    }
}

impl KeptSession {
    fn snapshot(&self, session: SessionKey, out: &mut Vec<u8>) {
        self.write_stay(session, out);
        let proven = RecordedIdentity::from(&self.proven);
        if proven != RecordedIdentity::default() {
            SessionRecord::Identified { session, proven }.encode(out);
        }
        self.write_subscriptions(session, out);
        for packet_id in &self.incoming {
            DeliveryRecord::Incoming { session, packet_id: *packet_id }.encode(out);
        }
        for sent in &self.inflight {
            sent.snapshot(session, out);
        }
        for span in self.queue() {
            span.write(session, out);
        }
    }

    fn write_stay(&self, session: SessionKey, out: &mut Vec<u8>) {
        let (client_id, user) = (&*self.client_id, self.user.as_deref());
        let will = self.will.as_ref().map(Cow::Borrowed);
        let expiry_s = self.expiry_s;
        let Some(at_ns) = self.left_ns else {
            return SessionRecord::Opened { session, client_id, user, expiry_s, will }.encode(out);
        };
        SessionRecord::Opened { session, client_id, user, expiry_s, will: None }.encode(out);
        SessionRecord::Left { session, at_ns, expiry_s, will }.encode(out);
    }

    fn write_subscriptions(&self, session: SessionKey, out: &mut Vec<u8>) {
        for (filter, kept) in &self.subscriptions {
            let (options, replay) = (kept.options, kept.replay.is_some());
            let list = kept.list.as_ref().map(Cow::Borrowed);
            let subscription = RecordedSubscription { filter, options, replay, list };
            SessionRecord::Subscribed { session, subscription }.encode(out);
            let after = kept.replay.as_ref().and_then(|replay| replay.after.as_deref());
            if let Some(topic) = after {
                SessionRecord::ReplayedTo { session, filter, topic }.encode(out);
            }
        }
    }
}

impl InFlight {
    fn snapshot(&self, session: SessionKey, out: &mut Vec<u8>) {
        let packet_id = self.packet_id;
        let offset = self.message.as_ref().map(|span| span.first);
        if let Some(span) = &self.message {
            span.write(session, out);
        }
        DeliveryRecord::Sent { session, packet_id, offset }.encode(out);
    }
}

impl DeliverySpan {
    fn write(&self, session: SessionKey, out: &mut Vec<u8>) {
        let (offset, count, bytes) = (self.first, self.count, self.bytes);
        let manner = DeliveryManner::clone(&self.manner);
        DeliveryRecord::DeliveredAt { session, offset, count, bytes, manner }.encode(out);
    }
}
