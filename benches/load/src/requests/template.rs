//! A request of MQTT 5 in which only the number changes: in the identifier, the Correlation Data and the payload. Pure.

use slipring_wire::{Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Value, Version};

use crate::numbered::id_of;

/// Bytes of a number, in the Correlation Data and at the beginning of the payload.
pub const NUMBER_BYTES: usize = 8;

/// One asker's packet.
pub struct RequestTemplate {
    bytes: Vec<u8>,
    id_at: Option<usize>,
    correlation_at: usize,
    payload_at: usize,
}

impl RequestTemplate {
    /// `words` are user properties.
    pub fn new(
        topic: &str,
        response_topic: &str,
        words: &[(&str, &str)],
        qos: QoS,
        payload_bytes: usize,
    ) -> Self {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::CorrelationData, Value::Binary(&[0; NUMBER_BYTES]));
        properties.push(PropertyId::ResponseTopic, Value::Text(response_topic));
        for (name, value) in words {
            properties.push(PropertyId::UserProperty, Value::Pair(name, value));
        }
        let payload = vec![b'x'; payload_bytes.max(NUMBER_BYTES)];
        let has_id = qos != QoS::AtMostOnce;
        let packet_id = has_id.then(|| PacketId::new(1).expect("not zero"));
        let properties = properties.borrow();
        let message = Publish { qos, packet_id, properties, ..Publish::new(topic, &payload) };
        let mut bytes = Vec::new();
        Packet::Publish(message).encode(Version::V5, &mut bytes);
        let payload_at = bytes.len() - payload.len();
        let properties_at = payload_at - properties.encoded().len();
        let length_bytes = if properties.encoded().len() < 128 { 1 } else { 2 };
        let id_at = has_id.then_some(properties_at - length_bytes - 2);
        // One byte says that it is Correlation Data, two how long it is.
        Self { bytes, id_at, correlation_at: properties_at + 3, payload_at }
    }

    /// Appends the request with this number.
    pub fn append(&mut self, number: u64, out: &mut Vec<u8>) {
        for at in [self.correlation_at, self.payload_at] {
            self.bytes[at..at + NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
        }
        if let Some(at) = self.id_at {
            self.bytes[at..at + 2].copy_from_slice(&id_of(number).to_be_bytes());
        }
        out.extend_from_slice(&self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use slipring_wire::{PacketSplit, split_packet};

    use super::*;

    const LONG: &str = "a value that makes the properties longer than one byte of length can say";

    #[test]
    fn a_request_has_its_number_in_all_places() {
        for (qos, word) in
            [(QoS::AtMostOnce, "1"), (QoS::AtLeastOnce, "1"), (QoS::AtLeastOnce, LONG)]
        {
            let mut template =
                RequestTemplate::new("a/b", "c/d", &[("w", word), ("v", word)], qos, 64);
            let (number, mut bytes) = (65_540_u64, Vec::new());
            template.append(number, &mut bytes);
            let Ok(PacketSplit::Whole(whole)) = split_packet(&bytes, usize::MAX) else { panic!() };
            let Ok(Packet::Publish(found)) = Packet::decode(&whole, Version::V5) else { panic!() };
            let correlation = found.properties.get(PropertyId::CorrelationData);
            assert_eq!(correlation, Some(Value::Binary(&number.to_be_bytes())));
            assert_eq!(found.properties.text(PropertyId::ResponseTopic), Some("c/d"));
            let expected_id = (qos == QoS::AtLeastOnce).then_some(id_of(number));
            assert_eq!(found.packet_id.map(PacketId::get), expected_id);
            assert_eq!((&found.payload[..8], found.payload.len()), (&number.to_be_bytes()[..], 64));
        }
    }
}
