//! A client that came back: its session's selections and its plain subscriptions to parameters are entered into the
//! table again, in several turns if they are many. Its packets wait meanwhile.

use std::collections::VecDeque;

use slipring_core::{Options, Work};

use crate::broker::Broker;
use crate::client::Client;
use crate::party::Party;
use crate::subscribing::right_of;

/// Subscriptions that must still be entered.
#[derive(Default)]
pub(crate) struct Returning(VecDeque<(Box<str>, Options)>);

impl Returning {
    /// All subscriptions of a session, the selections first: their newest values go before anything else. While the
    /// table is not used, plain ones need no entry: `SharedTable::begin_reading` enters them when that changes.
    pub fn of(broker: &Broker, client: &Client) -> Self {
        let state = client.state();
        let plain = broker.table.is_used().then(|| state.session.plain());
        let all = state.session.selections().chain(plain.into_iter().flatten());
        Self(all.map(|(filter, options)| (filter.into(), options)).collect())
    }
}

impl Returning {
    /// Those of them that are in the table. Streams go on where they were.
    pub fn to_table(broker: &Broker, client: &Client) -> Self {
        let mut all = Self::of(broker, client);
        all.0.retain(|(_, options)| !options.needs.is_some_and(|needs| needs.is_stream()));
        all
    }
}

impl Party {
    /// Enters subscriptions again until the turn is over. Returns whether all are entered.
    pub fn enter_again(&mut self) -> bool {
        let Some(client) = self.client.clone() else { return true };
        while let Some((filter, options)) = self.returning.0.front() {
            let work = &mut self.feed.work;
            let (from, asked) =
                ((&*self.broker, &*client), (&**filter, right_of(filter, *options)));
            if work.is_over() || !self.broker.table.find(from, asked, work) {
                return false;
            }
            work.add(Work::FILTER);
            if client.state_of(&self.connection).is_none() {
                self.returning = Returning::default(); // another connection enters them
                return true;
            }
            let broker = &self.broker;
            if options.needs.is_some() {
                broker.select(&client, filter, *options, &mut self.feed.post);
            } else {
                let once = std::iter::once((&**filter, *options));
                work.add(broker.table.read(broker, &client, once));
            }
            self.returning.0.pop_front();
        }
        true
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use slipring_core::desk::{DeclaredEntry, Desk};
    use slipring_core::table::{Definition, Table};
    use slipring_core::{Limits, Plan, SessionKey};
    use slipring_journal::JournalOptions;
    use slipring_wire::{
        Packet, PacketId, PacketSplit, Properties, Subscribe, Subscription, Version,
    };

    use super::*;
    use crate::connection_end::ConnectionEnd;
    use crate::connection_handle::ConnectionHandle;
    use crate::origin::Origin;

    /// CONNECT of MQTT 5 without a clean start, without the letter that is its name; its session is kept for an
    /// hour.
    const CONNECT: &[u8] = b"\x10\x13\x00\x04MQTT\x05\x00\x00\x3c\x05\x11\x00\x00\x0e\x10\x00\x01";

    /// A packet of a client; whether it is done.
    pub(crate) fn take(party: &mut Party, bytes: &[u8]) -> bool {
        let Ok(PacketSplit::Whole(packet)) = slipring_wire::split_packet(bytes, usize::MAX) else {
            panic!("it is whole");
        };
        party.take(Packet::decode(&packet, party.conversation.version()).unwrap()).unwrap()
    }

    /// A client with this name.
    pub(crate) fn connect(broker: &Arc<Broker>, name: u8) -> Party {
        let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
        let connection = Arc::new(ConnectionHandle::new(
            broker.connections.next_key(),
            origin,
            broker.clock.now_ns(),
        ));
        let mut party = Party::new(Arc::clone(broker), connection);
        assert!(take(&mut party, &[CONNECT, &[name]].concat()));
        party
    }

    pub(crate) fn declare(broker: &Broker, count: usize) {
        let definition = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
        let entry = |at| DeclaredEntry::new(at, format!("a/{at}"), definition.clone());
        let asked: Vec<_> = (0..count).map(entry).collect();
        let mut inner = broker.table.lock();
        let (session, bounds) = (SessionKey::new(1), Table::bounds(&Limits::default()));
        inner.table.registry.declare(session, "c", &asked, &bounds, Vec::new()).unwrap();
        drop(inner);
        broker.table.begin_use(broker);
    }

    #[tokio::test]
    async fn what_a_client_that_came_back_reads_is_entered_in_turns() {
        let broker = Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0;
        let broker = Arc::new(broker);
        let mut party = connect(&broker, b'c');
        let filters: Vec<String> = (0..20).map(|number| format!("+/+/{number}")).collect();
        let subscriptions = filters.iter().map(|filter| Subscription::new(filter)).collect();
        let packet_id = PacketId::new(1).unwrap();
        let (properties, mut bytes) = (Properties::NONE, Vec::new());
        Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
            .encode(Version::V5, &mut bytes);
        while !take(&mut party, &bytes) {
            party.feed.work.begin_long();
        }
        party.leave(&ConnectionEnd::Lost("gone".into())).await;
        declare(&broker, 20_000);
        let mut party = connect(&broker, b'c');
        let mut turns = 1;
        while !party.enter_again() {
            assert!(party.feed.work.is_over());
            party.feed.work.begin_long();
            turns += 1;
        }
        assert!(turns > 20, "{turns} turns");
        assert!(party.client.is_some() && party.returning.0.is_empty());
    }
}
