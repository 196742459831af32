//! Records of a client that was let in: its session, its will, and who it has proved to be.

use std::borrow::Cow;

use slipring_core::ledger::{RecordedIdentity, SessionRecord};
use slipring_core::{Durability, Opening};

use crate::client::Client;
use crate::party::Party;

impl Party {
    /// Records a session, or its will, if it outlives the broker.
    pub(crate) fn record_opening(&mut self, client: &Client, opening: &Opening, resumed: bool) {
        if !client.state().recorded {
            return;
        }
        let (session, expiry_s) = (client.key, opening.expiry_s);
        let will = opening.will.as_ref().map(Cow::Borrowed);
        if resumed {
            let record = SessionRecord::Resumed { session, expiry_s, will };
            record.encode(self.feed.records(Durability::Memory));
            return self.record_identity(client, resumed);
        }
        let (client_id, user) = (&*client.name, client.user.as_deref());
        self.feed.own(&client.owner);
        let opened = SessionRecord::Opened { session, client_id, user, expiry_s, will };
        let level = if expiry_s > 0 { Durability::Disk } else { Durability::Memory };
        opened.encode(self.feed.records(level));
        self.record_identity(client, resumed);
    }

    /// Records the roles and claims that the client has proved: rules ask for them while it is away.
    fn record_identity(&mut self, client: &Client, replaces: bool) {
        let proven = RecordedIdentity::from(&*self.identity);
        if proven != RecordedIdentity::default() || replaces {
            let identified = SessionRecord::Identified { session: client.key, proven };
            identified.encode(self.feed.batch.records());
        }
    }
}
