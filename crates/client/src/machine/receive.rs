//! The machine's incoming half: bytes to events, one packet after the other.

use std::time::Instant;

use slipring_wire::{
    ConnAck, Framed, Packet, PropertyId, QoS, RawPacket, Reason, Version, Violation, frame,
};

use super::answers::Request;
use super::{Event, KeepAlive, LAST_WORD, Loss, Machine, Notice, Phase};

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
            if self.is_deaf() {
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

    /// Nothing that comes matters any more, or yet.
    fn is_deaf(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. } | Phase::Closed(_) | Phase::Away { .. })
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
        whole: &RawPacket<'_>,
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
            self.receive_connack(&connack, now, events)?;
        }
        Ok(())
    }

    fn receive_connack(
        &mut self,
        connack: &ConnAck<'_>,
        now: Instant,
        events: &mut Vec<Event>,
    ) -> Handled {
        if connack.reason != Reason::Success {
            let text = connack.properties.text(PropertyId::ReasonString).map(str::to_owned);
            self.end(Some(Loss::Refused { reason: connack.reason, text }));
            return Ok(());
        }
        if connack.session_present && self.asks_clean_start() {
            return Err(Violation::protocol("an old session, though a new one was asked for"));
        }
        self.session.grant(connack);
        self.keep_alive = KeepAlive::new(self.session.keep_alive_s, now);
        self.flight.set_window(self.session.receive_max);
        self.routes.set_identified(self.session.identifiers_available);
        self.connections += 1;
        self.phase = Phase::Open;
        self.own_bytes = 0;
        events.push(Event::Notice(Notice::Connected(self.session.clone())));
        self.go_on(now, events);
        Ok(())
    }

    /// Takes up what an earlier connection left, or the session of an earlier client.
    fn go_on(&mut self, now: Instant, events: &mut Vec<Event>) {
        let same_session = self.session.present;
        if same_session {
            // What the session is subscribed to, this client need not know.
            self.qos_asked = QoS::ExactlyOnce;
        }
        if self.retry.is_again() {
            self.held.restart(same_session);
            self.resubscribe(same_session, events);
            self.resend(same_session, events);
        }
        self.retry.opened(now);
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
            Packet::PubRel(ack) => self.receive_pubrel(&ack),
            Packet::PubComp(ack) => self.receive_pubcomp(&ack, events)?,
            Packet::SubAck(suback) => self.receive_suback(&suback, events)?,
            Packet::UnsubAck(unsuback) => match self.answers.take(unsuback.packet_id) {
                Some(Request::Unsubscribe { .. }) => {}
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
