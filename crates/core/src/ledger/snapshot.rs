//! The state as records: applied to an empty ledger they lead to it again.

use std::borrow::Cow;

use super::kept::{InFlight, Kept};
use super::run::{Manner, Run};
use super::{Ledger, OwnerWriter, Record};

impl Ledger {
    /// Appends the records that lead to this state.
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        Record::Known { session: self.highest, newest_ns: self.newest_ns }.encode(out);
        let (sessions, mut owners) = (self.sessions(), OwnerWriter::default());
        for (session, kept) in &sessions {
            owners.write(kept.owner.as_ref(), out);
            kept.snapshot(*session, out);
        }
        for (topic, kept) in self.retained() {
            owners.write(kept.owner.as_ref(), out);
            let (offset, receive_ns, message) = (kept.offset, kept.receive_ns, kept.message(topic));
            Record::RetainedAt { offset, receive_ns, message }.encode(out);
        }
        for (offset, kept) in self.waiting() {
            owners.write(kept.owner.as_ref(), out);
            let (priority, expires_ns) = (kept.priority, kept.expires_ns);
            Record::WaitingAt { offset, priority, expires_ns }.encode(out);
        }
        self.table.snapshot(self.newest_ns, out);
        self.streams.snapshot(out);
        for (session, kept) in &sessions {
            kept.write_declared(*session, out);
        }
    }
}

impl Kept {
    fn snapshot(&self, session: u64, out: &mut Vec<u8>) {
        self.write_stay(session, out);
        self.write_subscriptions(session, out);
        for packet_id in &self.incoming {
            Record::Incoming { session, packet_id: *packet_id }.encode(out);
        }
        for sent in &self.inflight {
            sent.snapshot(session, out);
        }
        for run in self.queue() {
            run.write(session, out);
        }
    }

    fn write_stay(&self, session: u64, out: &mut Vec<u8>) {
        let (client_id, user) = (&*self.client_id, self.user.as_deref());
        let will = self.will.as_ref().map(Cow::Borrowed);
        let expiry_s = self.expiry_s;
        match self.left_ns {
            None => Record::Opened { session, client_id, user, expiry_s, will }.encode(out),
            Some(at_ns) => {
                let will_then = None;
                Record::Opened { session, client_id, user, expiry_s, will: will_then }.encode(out);
                Record::Left { session, at_ns, expiry_s, will }.encode(out);
            }
        }
    }

    fn write_subscriptions(&self, session: u64, out: &mut Vec<u8>) {
        for (filter, subscription) in &self.subscriptions {
            let options = subscription.options;
            let replay = subscription.replay.is_some();
            let list = subscription.list.as_ref().map(Cow::Borrowed);
            Record::Subscribed { session, filter, options, replay, list }.encode(out);
            let after = subscription.replay.as_ref().and_then(|replay| replay.after.as_deref());
            if let Some(topic) = after {
                Record::ReplayedTo { session, filter, topic }.encode(out);
            }
        }
    }
}

impl InFlight {
    fn snapshot(&self, session: u64, out: &mut Vec<u8>) {
        let packet_id = self.packet_id;
        let offset = self.message.as_ref().map(|run| run.first);
        if let Some(run) = &self.message {
            run.write(session, out);
        }
        Record::Sent { session, packet_id, offset }.encode(out);
    }
}

impl Run {
    fn write(&self, session: u64, out: &mut Vec<u8>) {
        let (offset, count, bytes) = (self.first, self.count, self.bytes);
        let manner = Manner::clone(&self.manner);
        Record::DeliveredAt { session, offset, count, bytes, manner }.encode(out);
    }
}
