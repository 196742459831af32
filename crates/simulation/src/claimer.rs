//! Clients whose sessions end with their connections, and who claim messages that waited: among all of
//! them each QoS 2 message comes once.

use std::collections::{BTreeMap, BTreeSet};

use slipring_engine::simulated::Simulated;
use slipring_wire::{Packet, PacketId, QoS};

use crate::line::{Line, Stay, subscribe};

/// The filter of what waits.
const FILTER: &str = "waiting/#";

/// One client after the other.
#[derive(Default)]
pub struct Claimer {
    line: Option<Line>,
    /// How many there were.
    made: u32,
    held: BTreeSet<PacketId>,
    /// How often each message was delivered: topic and number.
    pub received: BTreeMap<(String, u64), u32>,
}

impl Claimer {
    /// Loses the connection, and its session with it.
    pub fn cut(&mut self) {
        self.line = None;
        self.held.clear();
    }

    /// Comes if need be, subscribes, and takes what is there.
    pub fn turn(&mut self, broker: &Simulated) {
        let mut line = self.line.take().unwrap_or_else(|| self.come(broker));
        let open = line.exchange(broker);
        line.receive(|line, packet| self.take(line, &packet));
        if open {
            self.line = Some(line);
        } else {
            self.cut();
        }
    }

    fn come(&mut self, broker: &Simulated) -> Line {
        self.made += 1;
        let name = format!("claimer-{}", self.made);
        let mut line = Line::open(broker, &name, Stay::WithConnection);
        subscribe(&mut line, FILTER);
        line
    }

    fn take(&mut self, line: &mut Line, packet: &Packet<'_>) {
        match packet {
            Packet::Publish(publish) => {
                let number = <[u8; 8]>::try_from(publish.payload).map_or(0, u64::from_be_bytes);
                let Some(id) = publish.packet_id else { return };
                if publish.qos != QoS::ExactlyOnce || self.held.insert(id) {
                    *self.received.entry((publish.topic.to_owned(), number)).or_default() += 1;
                }
                match publish.qos {
                    QoS::ExactlyOnce => line.answer(Packet::PubRec, id),
                    _ => line.answer(Packet::PubAck, id),
                }
            }
            Packet::PubRel(ack) => {
                self.held.remove(&ack.packet_id);
                line.answer(Packet::PubComp, ack.packet_id);
            }
            _ => {}
        }
    }
}
