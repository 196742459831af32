//! Ends of requests while the disk is full, or not as far as the broker: those that the broker tells by itself are told
//! once it has room again, and no answer is acknowledged before it is safe.

use std::time::Duration;

use slipring_core::{JournalRule, Plan};
use slipring_engine::simulated::Simulated;
use slipring_journal::JournalOptions;
use slipring_journal::sim::SimulatedDisk;
use slipring_wire::{
    Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Subscribe, Subscription, Value,
};

use crate::ends::Ends;
use crate::line::{Line, Stay};

/// Exchanges after which everything that is due has arrived.
const EXCHANGES: usize = 8;

struct Stage {
    disk: SimulatedDisk,
    broker: Simulated,
    asker: Line,
    ends: Ends,
}

impl Stage {
    fn new() -> Self {
        let journal = JournalRule::new(vec!["#".into()]).unwrap();
        let plan = Plan { journal, ..Plan::default() };
        let options = JournalOptions { pending_bytes_max: 64 << 10, ..JournalOptions::default() };
        let disk = SimulatedDisk::new(1);
        let (broker, ..) = Simulated::open(Box::new(disk.clone()), options, plan, 1).unwrap();
        let asker = Line::open(&broker, "asker", Stay::Kept);
        Self { disk, broker, asker, ends: Ends::default() }
    }

    /// Lets everybody run; the journal writes what it can.
    fn run(&mut self) {
        for _ in 0..EXCHANGES {
            self.asker.exchange(&self.broker);
            self.asker.receive(|line, packet| self.ends.take(line, &packet));
            while self.broker.commit() {}
        }
    }

    /// A request that may take an hour.
    fn ask(&mut self) {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text("answers"));
        properties.push(PropertyId::CorrelationData, Value::Binary(&1_u64.to_be_bytes()));
        properties.push(PropertyId::UserProperty, Value::Pair("slipring-timeout", "3600"));
        let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
        let properties = properties.borrow();
        let request = Publish { qos, packet_id, properties, ..Publish::new("solve", b"x") };
        self.asker.send(&Packet::Publish(request));
    }

    /// A service.
    fn serve(&mut self, stay: Stay) -> Line {
        let mut service = Line::open(&self.broker, "service", stay);
        service.send(&Packet::Subscribe(Subscribe {
            packet_id: PacketId::new(1).unwrap(),
            properties: slipring_wire::Properties::NONE,
            subscriptions: vec![Subscription {
                qos: QoS::AtLeastOnce,
                ..Subscription::new("solve")
            }],
        }));
        service.exchange(&self.broker);
        self.run();
        service
    }
}

impl Stage {
    /// The disk is full, and so is the journal's buffer.
    fn fill(&mut self) {
        let sizes = [20_000, 5_000, 1_000, 300, 100, 30, 1].map(|bytes| [bytes; 4]);
        let filling = sizes.as_flattened().iter().enumerate().map(|(number, bytes)| {
            let name = format!("filling-{number}");
            let mut line = Line::open(&self.broker, &name, Stay::WithConnection);
            let (qos, packet_id, payload) = (QoS::AtLeastOnce, PacketId::new(1), vec![0; *bytes]);
            line.send(&Packet::Publish(Publish { qos, packet_id, ..Publish::new("t", &payload) }));
            for _ in 0..EXCHANGES {
                line.exchange(&self.broker); // the journal writes nothing meanwhile
            }
            line
        });
        let filling: Vec<Line> = filling.collect();
        self.disk.set_capacity(Some(self.disk.bytes()));
        self.run();
        drop(filling);
        self.run();
    }
}

#[test]
fn a_request_whose_service_dies_while_the_disk_is_full_fails_when_there_is_room() {
    let mut stage = Stage::new();
    let mut service = stage.serve(Stay::WithConnection);
    stage.ask();
    stage.run();
    service.exchange(&stage.broker);
    let mut got = 0;
    service.receive(|_, packet| got += usize::from(matches!(packet, Packet::Publish(_))));
    assert_eq!(got, 1, "the service has it");
    stage.fill();
    drop(service);
    stage.run();
    stage.broker.pass(Duration::from_secs(2));
    stage.run();
    assert!(stage.ends.told.is_empty(), "{:?}", stage.ends.told);
    stage.disk.set_capacity(None);
    for _ in 0..10 {
        stage.broker.pass(Duration::from_secs(1));
        stage.run();
    }
    assert_eq!(stage.ends.told.get(&1), Some(&vec!["failed".to_owned()]));
}

/// Where a service answers the request that it has got.
fn answer_topic(service: &mut Line, broker: &Simulated) -> String {
    service.exchange(broker);
    let mut found = None;
    service.receive(|line, packet| {
        if let Packet::Publish(request) = packet {
            line.answer(Packet::PubAck, request.packet_id.unwrap());
            found = request.properties.text(PropertyId::ResponseTopic).map(str::to_owned);
        }
    });
    found.unwrap()
}

/// Sends the answer; whether it is acknowledged while the journal writes nothing.
fn answer(service: &mut Line, broker: &Simulated, topic: &str) -> bool {
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(2));
    service.send(&Packet::Publish(Publish { qos, packet_id, ..Publish::new(topic, b"y") }));
    for _ in 0..EXCHANGES {
        service.exchange(broker);
    }
    is_acknowledged(service)
}

fn is_acknowledged(service: &mut Line) -> bool {
    let mut found = false;
    service.receive(|_, packet| found |= matches!(packet, Packet::PubAck(_)));
    found
}

#[test]
fn an_answer_that_comes_again_is_not_acknowledged_before_the_first_is_safe() {
    let mut stage = Stage::new();
    let mut service = stage.serve(Stay::Kept);
    stage.ask();
    stage.run();
    let topic = answer_topic(&mut service, &stage.broker);
    service.exchange(&stage.broker);
    stage.run();
    assert!(!answer(&mut service, &stage.broker, &topic));
    drop(service); // its connection is lost, and it does not know whether the answer arrived
    let mut again = Line::open(&stage.broker, "service", Stay::Kept);
    assert!(!answer(&mut again, &stage.broker, &topic), "a kill now would lose both");
    stage.run();
    again.exchange(&stage.broker);
    assert!(is_acknowledged(&mut again));
    assert_eq!(stage.ends.told.get(&1), Some(&vec!["answered".to_owned()]));
}
