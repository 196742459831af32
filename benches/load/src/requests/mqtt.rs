//! Requests and answers in MQTT 5: for Slipring, and for any broker that only carries the two messages. Pure.

use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, RawPacket, Value,
    Version,
};

use super::template::{NUMBER_BYTES, RequestTemplate};
use super::wire::{AskerWire, RequestEnd, ServiceWire, TakeEnd};
use crate::Result;
use crate::numbered::id_of;
use crate::receive_buffer::each_packet;

const PUBACK: u8 = 0x40;
const STATUS: &str = "slipring-status";
const REASON: &str = "slipring-reason";

/// An asker. With QoS 1 it also counts acknowledgements.
pub struct MqttAsker {
    template: RequestTemplate,
    payload_bytes: usize,
    is_acked: bool,
    unacked: u64,
}

impl MqttAsker {
    pub fn new(template: RequestTemplate, payload_bytes: usize, qos: QoS) -> Self {
        Self { template, payload_bytes, is_acked: qos != QoS::AtMostOnce, unacked: 0 }
    }

    fn take(
        &mut self,
        packet: &RawPacket<'_>,
        out: &mut Vec<u8>,
        end: &mut dyn FnMut(u64, &RequestEnd<'_>) -> Result<()>,
    ) -> Result<()> {
        match Packet::decode(packet, Version::V5)? {
            Packet::Publish(message) => take_end(&message, Some(self.payload_bytes), out, end),
            Packet::PubAck(ack) if ack.reason.code() < 0x80 => {
                self.unacked = self.unacked.checked_sub(1).ok_or("acknowledged twice")?;
                Ok(())
            }
            other => Err(format!("an answer was expected, not {other:?}").into()),
        }
    }
}

impl AskerWire for MqttAsker {
    fn ask(&mut self, number: u64, out: &mut Vec<u8>) {
        self.template.append(number, out);
        self.unacked += u64::from(self.is_acked);
    }

    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>, end: TakeEnd<'_>) -> Result<usize> {
        each_packet(bytes, |packet| self.take(packet, out, end))
    }

    fn unacked(&self) -> u64 {
        self.unacked
    }
}

/// Takes the end of a request, and acknowledges it. An answer has as many bytes as is said.
pub fn take_end(
    message: &Publish<'_>,
    payload_bytes: Option<usize>,
    out: &mut Vec<u8>,
    end: &mut dyn FnMut(u64, &RequestEnd<'_>) -> Result<()>,
) -> Result<()> {
    acknowledge(message, out);
    let (number, length) = (number_of(message.properties)?, message.payload.len());
    match user_property(message.properties, STATUS) {
        None | Some("answered") if payload_bytes.is_none_or(|expected| expected == length) => {
            end(number, &RequestEnd::Answered)
        }
        None | Some("answered") => Err(format!("an answer of {length} bytes").into()),
        Some(status) => {
            let reason = user_property(message.properties, REASON).unwrap_or_default();
            end(number, &RequestEnd::Failed(&format!("{status} {reason}")))
        }
    }
}

fn number_of(properties: Properties<'_>) -> Result<u64> {
    match properties.get(PropertyId::CorrelationData) {
        Some(Value::Binary(bytes)) if bytes.len() == NUMBER_BYTES => {
            Ok(u64::from_be_bytes(bytes.try_into()?))
        }
        other => Err(format!("an answer with another correlation: {other:?}").into()),
    }
}

fn user_property<'a>(properties: Properties<'a>, wanted: &str) -> Option<&'a str> {
    properties.iter().find_map(|(_, value)| match value {
        Value::Pair(name, value) if name == wanted => Some(value),
        _ => None,
    })
}

fn acknowledge(message: &Publish<'_>, out: &mut Vec<u8>) {
    if let Some(id) = message.packet_id {
        let [high, low] = id.get().to_be_bytes();
        out.extend_from_slice(&[PUBACK, 2, high, low]);
    }
}

/// A service. It answers at the QoS with which it subscribed.
pub struct MqttService {
    qos: QoS,
    answered: u64,
    properties: PropertiesBuf,
}

impl MqttService {
    pub fn new(qos: QoS) -> Self {
        Self { qos, answered: 0, properties: PropertiesBuf::new() }
    }

    fn answer(&mut self, request: &Publish<'_>, out: &mut Vec<u8>) -> Result<()> {
        let to = request.properties.text(PropertyId::ResponseTopic).ok_or("no response topic")?;
        self.properties.clear();
        if let Some(correlation) = request.properties.get(PropertyId::CorrelationData) {
            self.properties.push(PropertyId::CorrelationData, correlation);
        }
        let is_acked = self.qos != QoS::AtMostOnce;
        let packet_id = PacketId::new(id_of(self.answered)).filter(|_| is_acked);
        self.answered += 1;
        let (qos, properties) = (self.qos, self.properties.borrow());
        let answer = Publish { qos, packet_id, properties, ..Publish::new(to, request.payload) };
        Packet::Publish(answer).encode(Version::V5, out);
        Ok(())
    }
}

impl ServiceWire for MqttService {
    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        each_packet(bytes, |packet| match Packet::decode(packet, Version::V5)? {
            Packet::Publish(request) => {
                acknowledge(&request, out);
                self.answer(&request, out)
            }
            Packet::PubAck(ack) if ack.reason.code() == 0 => Ok(()),
            Packet::SubAck(suback) if suback.reasons.iter().all(|one| one.code() < 0x80) => Ok(()),
            other => Err(format!("a request was expected, not {other:?}").into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(qos: QoS) -> MqttAsker {
        MqttAsker::new(RequestTemplate::new("a/b", "c/d", &[], qos, 64), 64, qos)
    }

    /// A number, and whether it was answered.
    type EndFound = (u64, bool);

    fn ends(asker: &mut MqttAsker, bytes: &[u8]) -> Result<(Vec<EndFound>, Vec<u8>)> {
        let (mut found, mut out) = (Vec::new(), Vec::new());
        asker.receive(bytes, &mut out, &mut |number, end| {
            found.push((number, matches!(end, RequestEnd::Answered)));
            Ok(())
        })?;
        Ok((found, out))
    }

    #[test]
    fn a_service_answers_each_request_with_its_payload() {
        for (qos, acknowledged) in [(QoS::AtMostOnce, 0), (QoS::AtLeastOnce, 8)] {
            let (mut asker, mut sent, mut answers) = (asker(qos), Vec::new(), Vec::new());
            asker.ask(3, &mut sent);
            asker.ask(4, &mut sent);
            let used = MqttService::new(qos).receive(&sent, &mut answers).unwrap();
            assert_eq!(used, sent.len());
            // The broker does not pass acknowledgements of requests on.
            let mut forwarded = Vec::new();
            each_packet(&answers, |packet| {
                if packet.first != PUBACK {
                    Packet::decode(packet, Version::V5)?.encode(Version::V5, &mut forwarded);
                }
                Ok(())
            })
            .unwrap();
            let (found, out) = ends(&mut asker, &forwarded).unwrap();
            assert_eq!((found, out.len()), (vec![(3, true), (4, true)], acknowledged));
        }
    }

    #[test]
    fn an_acknowledgement_makes_room_and_a_refusal_ends_the_run() {
        let (mut asker, mut sent) = (asker(QoS::AtLeastOnce), Vec::new());
        asker.ask(0, &mut sent);
        assert_eq!(asker.unacked(), 1);
        ends(&mut asker, &[PUBACK, 2, 0, 1]).unwrap();
        assert_eq!(asker.unacked(), 0);
        assert!(ends(&mut asker, &[PUBACK, 2, 0, 1]).is_err());
        assert!(ends(&mut asker, &[PUBACK, 3, 0, 1, 0x97]).is_err());
    }

    #[test]
    fn another_end_than_an_answer_is_told() {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::CorrelationData, Value::Binary(&7_u64.to_be_bytes()));
        properties.push(PropertyId::UserProperty, Value::Pair(STATUS, "timed-out"));
        let end = Publish { properties: properties.borrow(), ..Publish::new("c/d", b"") };
        let mut bytes = Vec::new();
        Packet::Publish(end).encode(Version::V5, &mut bytes);
        let (found, _) = ends(&mut asker(QoS::AtMostOnce), &bytes).unwrap();
        assert_eq!(found, [(7, false)]);
    }
}
