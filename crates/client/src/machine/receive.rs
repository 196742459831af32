//! The machine's incoming half: bytes to events, one packet after the other.

use std::time::Instant;

use slipring_wire::{
    ConnAck, Frame, Framed, Packet, PropertyId, Publish, QoS, Reason, SubAck, Version, Violation,
    frame,
};

use super::answers::Request;
use super::{Event, KeepAlive, LAST_WORD, Loss, Machine, Message, Notice, Phase, Refusal};

/// Packets handled by one call, so that a caller's lock is never held for long.
const PACKETS_PER_CALL: usize = 64;

/// The first byte of CONNACK: its type, no flags.
const CONNACK: u8 = 0x20;

type Handled = Result<(), Violation>;

impl Machine {
    /// Reads packets from the head of a stream and returns how many bytes they were.
    ///
    /// Call again with the rest until it returns 0; then more bytes are needed.
    pub fn receive(&mut self, bytes: &[u8], now: Instant, events: &mut Vec<Event>) -> usize {
        if !bytes.is_empty() {
            self.keep_alive.heard(now);
        }
        let mut used = 0;
        for _ in 0..PACKETS_PER_CALL {
            if matches!(self.phase, Phase::Closing { .. } | Phase::Closed(_)) {
                return bytes.len();
            }
            match self.receive_one(&bytes[used..], now, events) {
                Ok(0) => break,
                Ok(length) => used += length,
                Err(violation) => self.refuse(violation, now),
            }
        }
        used
    }

    fn receive_one(
        &mut self,
        bytes: &[u8],
        now: Instant,
        events: &mut Vec<Event>,
    ) -> Result<usize, Violation> {
        // Known from its first byte, which matters where the "length" of a text never arrives.
        let connecting = matches!(self.phase, Phase::Connecting { .. });
        if connecting && bytes.first().is_some_and(|first| *first != CONNACK) {
            return Err(Violation::protocol("the first packet is not CONNACK"));
        }
        let Framed::Whole(whole) = frame(bytes, self.greeting.packet_bytes_max)? else {
            return Ok(0);
        };
        if connecting {
            self.receive_first(&whole, now, events)?;
        } else {
            self.receive_packet(Packet::decode(&whole, Version::V5)?, now, events)?;
        }
        Ok(whole.length)
    }

    fn receive_first(
        &mut self,
        whole: &Frame<'_>,
        now: Instant,
        events: &mut Vec<Event>,
    ) -> Handled {
        // A CONNACK of two bytes is one of MQTT 3.1.1: that broker does not know MQTT 5.
        if whole.body.len() == 2 {
            let reason = Reason::UnsupportedProtocolVersion;
            self.end(Some(Loss::Refused { reason, text: None }));
            return Ok(());
        }
        if let Packet::ConnAck(connack) = Packet::decode(whole, Version::V5)? {
            self.receive_connack(&connack, now, events);
        }
        Ok(())
    }

    fn receive_connack(&mut self, connack: &ConnAck<'_>, now: Instant, events: &mut Vec<Event>) {
        if connack.reason != Reason::Success {
            let text = connack.properties.text(PropertyId::ReasonString).map(str::to_owned);
            return self.end(Some(Loss::Refused { reason: connack.reason, text }));
        }
        self.session.grant(connack);
        self.keep_alive = KeepAlive::new(self.session.keep_alive_s, now);
        self.flight.set_window(self.session.receive_max);
        self.phase = Phase::Open;
        self.own_bytes = 0;
        events.push(Event::Notice(Notice::Connected(self.session.clone())));
    }

    fn receive_packet(
        &mut self,
        packet: Packet<'_>,
        now: Instant,
        events: &mut Vec<Event>,
    ) -> Handled {
        match packet {
            Packet::Publish(publish) => self.receive_publish(&publish, events)?,
            Packet::PubAck(ack) => self.receive_puback(&ack, events)?,
            Packet::PubRec(ack) => self.receive_pubrec(&ack, events)?,
            Packet::PubComp(ack) => self.receive_pubcomp(&ack, events)?,
            Packet::SubAck(suback) => self.receive_suback(&suback, events)?,
            Packet::UnsubAck(unsuback) => match self.answers.take(unsuback.packet_id) {
                Some(Request::Unsubscribe) => {}
                _ => return Err(Violation::protocol("UNSUBACK without UNSUBSCRIBE")),
            },
            Packet::PingResp => self.receive_pong(now, events),
            Packet::Disconnect(goodbye) => {
                let text = goodbye.properties.text(PropertyId::ReasonString).map(str::to_owned);
                self.end(Some(Loss::Disconnected { reason: goodbye.reason, text }));
            }
            _ => return Err(Violation::protocol("a packet that a client must not receive")),
        }
        Ok(())
    }

    fn receive_publish(&mut self, publish: &Publish<'_>, events: &mut Vec<Event>) -> Handled {
        if publish.qos != QoS::AtMostOnce {
            let what = "a message above the quality that was subscribed to"; // MQTT-3.8.4-8
            return Err(Violation { reason: Reason::QoSNotSupported, what });
        }
        if publish.properties.get(PropertyId::TopicAlias).is_some() {
            let what = "a topic alias, though none was offered"; // MQTT-3.1.2-27
            return Err(Violation { reason: Reason::TopicAliasInvalid, what });
        }
        if self.is_draining() {
            return Ok(());
        }
        let route = self.routes.find(publish.topic);
        let message = Message::new(route.topic, publish);
        events.push(Event::Message { subscriptions: route.subscriptions, message });
        Ok(())
    }

    fn receive_suback(&mut self, suback: &SubAck<'_>, events: &mut Vec<Event>) -> Handled {
        let Some(Request::Subscribe { id, filters }) = self.answers.take(suback.packet_id) else {
            return Err(Violation::protocol("SUBACK without SUBSCRIBE"));
        };
        if suback.reasons.len() != filters.len() {
            return Err(Violation::protocol("SUBACK without an answer for each filter"));
        }
        let answers = filters.into_iter().zip(&suback.reasons);
        let refused = answers.filter(|(_, reason)| reason.is_error());
        let refused: Vec<_> = refused.map(|(filter, &reason)| Refusal { filter, reason }).collect();
        for refusal in &refused {
            self.routes.refuse(id, &refusal.filter);
        }
        events.push(Event::Notice(Notice::Subscribed { id, refused }));
        Ok(())
    }

    /// Pings are answered in the order they were sent; those of the keep-alive concern nobody.
    fn receive_pong(&mut self, now: Instant, events: &mut Vec<Event>) {
        let Some(first) = self.pings.front_mut() else { return };
        first.times -= 1;
        if let Some(id) = first.id {
            let round_trip = now.saturating_duration_since(first.asked);
            events.push(Event::Notice(Notice::Pong { id, round_trip }));
        }
        if first.times == 0 {
            self.pings.pop_front();
        }
    }

    fn refuse(&mut self, violation: Violation, now: Instant) {
        if matches!(self.phase, Phase::Connecting { .. }) {
            return self.end(Some(Loss::NotMqtt(violation)));
        }
        let loss = Some(Loss::Violation(violation));
        self.say_goodbye(violation.reason, loss, now + LAST_WORD, LAST_WORD);
    }
}
