//! Publishers that wait because the journal is behind, and a high message that does not wait.

use slipring_core::{JournalRule, PRIORITY_PROPERTY, Plan};
use slipring_engine::simulated::Simulated;
use slipring_journal::JournalOptions;
use slipring_journal::sim::SimulatedDisk;
use slipring_wire::{Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Value};

use crate::line::{Line, Stay, subscribe};

/// Bytes that may wait for the journal.
const ROOM: usize = 64 << 10;
/// Exchanges after which everything that is due has arrived.
const EXCHANGES: usize = 8;

fn opened() -> Simulated {
    let journal = JournalRule::new(vec!["#".into()]).unwrap();
    let options = JournalOptions { pending_bytes_max: ROOM, ..JournalOptions::default() };
    let plan = Plan { journal, ..Plan::default() };
    let disk = Box::new(SimulatedDisk::new(1));
    let (broker, ..) = Simulated::open(disk, options, plan, 1).unwrap();
    broker
}

/// A publisher that sends one message of so many bytes at QoS 1.
fn publish(broker: &Simulated, name: &str, bytes: usize, priority: &str) -> Line {
    let mut line = Line::open(broker, name, Stay::WithConnection);
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::UserProperty, Value::Pair(PRIORITY_PROPERTY, priority));
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
    let payload = vec![0; bytes];
    let properties = properties.borrow();
    line.send(&Packet::Publish(Publish {
        qos,
        packet_id,
        properties,
        ..Publish::new(name, &payload)
    }));
    for _ in 0..EXCHANGES {
        line.exchange(broker);
    }
    line
}

/// The topics that have come since the last call; the journal writes nothing meanwhile.
fn heard(broker: &Simulated, reader: &mut Line) -> Vec<String> {
    let mut topics = Vec::new();
    for _ in 0..EXCHANGES {
        reader.exchange(broker);
        reader.receive(|line, packet| {
            let Packet::Publish(message) = packet else { return };
            topics.push(message.topic.to_owned());
            line.answer(Packet::PubAck, message.packet_id.unwrap());
        });
    }
    topics
}

#[test]
fn a_high_message_overtakes_publishers_that_wait_for_the_journal() {
    let mut broker = opened();
    let mut reader = Line::open(&broker, "reader", Stay::WithConnection);
    subscribe(&mut reader, "#");
    heard(&broker, &mut reader);
    while broker.commit() {}
    heard(&broker, &mut reader);
    let filling = ["a", "b", "c"].map(|name| publish(&broker, name, 20_000, "normal"));
    assert_eq!(heard(&broker, &mut reader), ["a", "b", "c"]);
    let waiting = publish(&broker, "waits", 6_000, "normal");
    assert!(heard(&broker, &mut reader).is_empty(), "the journal's buffer is full");
    let urgent = publish(&broker, "alarm", 6_000, "high");
    assert_eq!(heard(&broker, &mut reader), ["alarm"]);
    let too_many = publish(&broker, "alarms", 9_000, "high");
    assert!(heard(&broker, &mut reader).is_empty(), "the reserve is full, too");
    while broker.commit() {}
    let mut rest = heard(&broker, &mut reader);
    rest.sort_unstable();
    assert_eq!(rest, ["alarms", "waits"]);
    drop((filling, waiting, urgent, too_many));
}
