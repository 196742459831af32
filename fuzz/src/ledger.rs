//! The records of sessions and of the table: any bytes.

use slipring_core::ledger::{BatchHead, Ledger, Records};
use slipring_core::table::Registry;
use slipring_core::{
    ConnectionKey, Durability, Limits, Offset, Outgoing, Packets, ParameterIndex, RetainedPage,
    Session, Terms,
};
use slipring_wire::Version;

const TERMS: Terms =
    Terms { version: Version::V5, receive_max: 10, packet_bytes: 1000, topic_aliases: 0 };

/// The first byte says how many messages the batches have, the second after how many records a
/// snapshot is made; the records follow.
pub fn ledger(data: &[u8]) {
    let [messages, split, records @ ..] = data else { return };
    let records = &records[..readable(records)];
    let (before, after) = records.split_at(position(records, usize::from(*split)));
    let messages = u32::from(*messages);
    let mut whole = Ledger::default();
    whole.apply(head(0, messages), before).ok();
    let mut resumed = Ledger::restore(&snapshot(&whole)).expect("our own records");
    whole.apply(head(messages, messages), after).ok();
    resumed.apply(head(messages, messages), after).ok();
    assert_eq!(snapshot(&whole), snapshot(&resumed));
    go_on(&whole);
    publish_again(&whole);
}

fn head(base_offset: u32, messages: u32) -> BatchHead {
    BatchHead { base_offset: Offset::new(u64::from(base_offset)), messages, receive_ns: 7 }
}

/// How many bytes can be read as records.
fn readable(bytes: &[u8]) -> usize {
    let wrong = Records::new(bytes).find_map(Result::err);
    wrong.map_or(bytes.len(), |error| error.at)
}

/// Where a record begins.
fn position(bytes: &[u8], number: usize) -> usize {
    let mut records = Records::new(bytes);
    records.by_ref().take(number).for_each(drop);
    records.next_at()
}

fn snapshot(ledger: &Ledger) -> Vec<u8> {
    let mut out = Vec::new();
    ledger.snapshot(&mut out);
    out
}

/// A client comes back to each session, and the journal has lost all its messages.
fn go_on(ledger: &Ledger) {
    let needed = ledger.needed();
    for (number, kept) in ledger.sessions() {
        assert!(kept.needed() >= needed || kept.needed().is_none());
        let limits = Limits::default();
        let session = Session::restore(kept);
        assert_eq!(session.unreleased(), kept.incoming.len());
        let mut outgoing = Outgoing::restore(&limits, number, Durability::Disk, kept);
        outgoing.attach(ConnectionKey::new(1), TERMS, &limits);
        let mut out = Packets::default();
        for _ in 0..3 {
            outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut out);
            let wanted = outgoing.wanted(10);
            assert!(wanted.len() <= 10 && wanted.is_sorted());
            let lost: Vec<_> = wanted.into_iter().map(|offset| (offset, None)).collect();
            outgoing.fill(&lost);
        }
        let mut records = Vec::new();
        outgoing.take_records(&mut records);
        assert_eq!(readable(&records), records.len());
        outgoing.detach(ConnectionKey::new(1));
    }
}

/// A session publishes again the parameters that it had declared and that still exist.
fn publish_again(ledger: &Ledger) {
    let Some(entries) = ledger.table() else { return };
    let mut registry = Registry::restore(entries.clone());
    for (number, kept) in ledger.sessions() {
        registry.restore_publisher(number, &kept.client_id, &kept.parameters);
        registry.publishers.come_back(number);
        let own = registry.publishers.of(number).unwrap_or_default();
        let there = kept
            .parameters
            .iter()
            .flat_map(|range| range.start..range.end.min(entries.end().get()));
        assert!(own.indices().eq(
            there.filter(|index| registry.entries().get(ParameterIndex::new(*index)).is_some())
        ));
    }
}
