//! The packets that a client sends before a run: CONNECT, then SUBSCRIBE, each answered before the next. Pure.

use std::collections::VecDeque;

use slipring_wire::{
    Connect, Packet, PacketId, Properties, PropertiesBuf, PropertyId, QoS, RawPacket, Reason,
    Subscribe, Subscription, Value, Version,
};

use crate::Result;

/// Filters in one SUBSCRIBE.
const FILTERS_MAX: usize = 100;
/// How long a session of MQTT 5 is kept: an hour.
const KEPT_S: u32 = 3_600;

/// The packets still to be sent.
pub struct Handshake {
    version: Version,
    qos: QoS,
    requests: VecDeque<Vec<u8>>,
}

impl Handshake {
    /// Only CONNECT.
    pub fn new(version: Version, client_id: &str) -> Self {
        Self::connect(version, client_id, true, Properties::NONE)
    }

    /// Only CONNECT, in MQTT 5, for a session that outlives the connection.
    pub fn kept(client_id: &str) -> Self {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::SessionExpiryInterval, Value::Four(KEPT_S));
        Self::connect(Version::V5, client_id, false, properties.borrow())
    }

    /// Only CONNECT, in MQTT 3.1.1, for a session that outlives the connection.
    pub fn persistent(client_id: &str) -> Self {
        Self::connect(Version::V311, client_id, false, Properties::NONE)
    }

    fn connect(
        version: Version,
        client_id: &str,
        clean_start: bool,
        properties: Properties<'_>,
    ) -> Self {
        let connect = Packet::Connect(Box::new(Connect {
            version,
            clean_start,
            keep_alive_s: 0,
            client_id,
            properties,
            will: None,
            user_name: None,
            password: None,
        }));
        Self { version, qos: QoS::AtMostOnce, requests: [encoded(&connect, version)].into() }
    }

    /// Then also SUBSCRIBE, in as many packets as it takes.
    pub fn subscribe(mut self, filters: &[String], qos: QoS) -> Self {
        self.qos = qos;
        for (number, filters) in filters.chunks(FILTERS_MAX).enumerate() {
            let subscribe = Packet::Subscribe(Subscribe {
                packet_id: PacketId::new(number as u16 + 1).expect("not zero"),
                properties: Properties::NONE,
                subscriptions: filters
                    .iter()
                    .map(|filter| Subscription { qos, ..Subscription::new(filter) })
                    .collect(),
            });
            self.requests.push_back(encoded(&subscribe, self.version));
        }
        self
    }

    /// Then also SUBSCRIBE as a service that computes so many requests at once.
    pub fn serve(mut self, filter: &str, qos: QoS, at_once: u16) -> Self {
        self.qos = qos;
        self.requests.push_back(serve_packet(filter, qos, at_once));
        self
    }

    /// The next packet to send; none when all were sent and answered.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        self.requests.pop_front()
    }

    /// Checks the answer to the last packet.
    pub fn receive(&self, answer: &RawPacket<'_>) -> Result<()> {
        self.check_packet(&Packet::decode(answer, self.version)?)
    }

    /// The same for an answer that is decoded already.
    pub fn check_packet(&self, answer: &Packet<'_>) -> Result<()> {
        match answer {
            Packet::ConnAck(connack) if connack.reason == Reason::Success => Ok(()),
            Packet::ConnAck(connack) => Err(format!("refused: {}", connack.reason).into()),
            Packet::SubAck(suback) => self.check_granted(&suback.reasons),
            other => Err(format!("an answer was expected, not {other:?}").into()),
        }
    }

    /// Refuses another QoS than was asked for: the run would measure something else.
    fn check_granted(&self, reasons: &[Reason]) -> Result<()> {
        match reasons.iter().find(|reason| reason.code() != self.qos as u8) {
            Some(reason) => {
                Err(format!("QoS {} was asked for, granted: {reason}", self.qos as u8).into())
            }
            None => Ok(()),
        }
    }
}

/// SUBSCRIBE of a service that computes so many requests of Slipring at once.
pub fn serve_packet(filter: &str, qos: QoS, at_once: u16) -> Vec<u8> {
    let mut properties = PropertiesBuf::new();
    let at_once = at_once.to_string();
    properties.push(PropertyId::UserProperty, Value::Pair("slipring-serve", &at_once));
    let subscribe = Packet::Subscribe(Subscribe {
        packet_id: PacketId::new(1).expect("not zero"),
        properties: properties.borrow(),
        subscriptions: vec![Subscription { qos, ..Subscription::new(filter) }],
    });
    encoded(&subscribe, Version::V5)
}

fn encoded(packet: &Packet<'_>, version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(version, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use slipring_wire::{PacketSplit, split_packet};

    use super::*;

    fn receive(handshake: &Handshake, answer: &[u8]) -> Result<()> {
        match split_packet(answer, usize::MAX) {
            Ok(PacketSplit::Whole(whole)) => handshake.receive(&whole),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn many_filters_take_several_packets() {
        let filters: Vec<String> = (0..250).map(|number| format!("f/{number}")).collect();
        let mut handshake = Handshake::new(Version::V311, "a").subscribe(&filters, QoS::AtMostOnce);
        let kinds: Vec<u8> =
            std::iter::from_fn(|| handshake.next()).map(|bytes| bytes[0] >> 4).collect();
        assert_eq!(kinds, [1, 8, 8, 8]);
    }

    #[test]
    fn a_refusal_and_a_lower_qos_are_errors() {
        let handshake =
            Handshake::new(Version::V311, "a").subscribe(&["f".into()], QoS::AtLeastOnce);
        assert!(receive(&handshake, &[0x20, 2, 0, 0]).is_ok());
        assert!(receive(&handshake, &[0x20, 2, 0, 5]).is_err());
        assert!(receive(&handshake, &[0x90, 3, 0, 1, 1]).is_ok());
        assert!(receive(&handshake, &[0x90, 3, 0, 1, 0]).is_err());
        assert!(receive(&handshake, &[0x90, 3, 0, 1, 0x80]).is_err());
    }
}
