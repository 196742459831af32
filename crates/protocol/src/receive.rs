//! The inbound half: bytes to events, one packet after the other.

use std::time::Instant;

use slipring_wire::{
    ConnAck, Packet, PacketSplit, QoS, RawPacket, Reason, Version, Violation, split_packet,
};

use super::properties::reason_string;
use super::publish::outcome;
use super::{
    ClientEvent, ClientProtocol, ConnectionLoss, KeepAlive, LAST_WORD, Phase, ProtocolEvent,
    PublishOutcome,
};

/// Packets handled by one call, so that a caller's lock is never held for long.
const PACKETS_PER_CALL: usize = 64;

/// The first bytes of CONNACK and AUTH: their types, no flags.
const CONNACK: u8 = 0x20;
const AUTH: u8 = 0xf0;

type Handled = Result<(), Violation>;

impl ClientProtocol {
    /// Reads packets from the start of the bytes that arrived. Returns how many bytes they took.
    ///
    /// Call again with the rest until it returns 0; then more bytes are needed.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        now: Instant,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        if !bytes.is_empty() {
            self.keep_alive.heard(now);
        }
        let mut used = 0;
        for _ in 0..PACKETS_PER_CALL {
            // Bytes are ignored while the connection is ending, or not made yet.
            if matches!(self.phase, Phase::Closing { .. } | Phase::Closed(_) | Phase::Away { .. }) {
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
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<usize, Violation> {
        // Refused by its first byte: the bytes of a text protocol may look like the length of a
        // packet that never arrives.
        let connecting = matches!(self.phase, Phase::Connecting { .. });
        let proving = self.options.credentials.method.name().is_some();
        let is_expected = |first: &u8| *first == CONNACK || (*first == AUTH && proving);
        if connecting && !bytes.first().is_none_or(is_expected) {
            return Err(Violation::protocol("the first packet is not CONNACK"));
        }
        let PacketSplit::Whole(whole) = split_packet(bytes, self.packet_bytes_max)? else {
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
        events: &mut Vec<ProtocolEvent>,
    ) -> Handled {
        // A CONNACK of two bytes is one of MQTT 3.1.1: that broker does not know MQTT 5.
        if whole.body.len() == 2 && whole.first == CONNACK {
            let reason = Reason::UnsupportedProtocolVersion;
            self.end(Some(ConnectionLoss::Refused { reason, text: None }));
            return Ok(());
        }
        match Packet::decode(whole, Version::V5)? {
            Packet::ConnAck(connack) => self.receive_connack(&connack, now, events),
            Packet::Auth(auth) => self.receive_auth(&auth, events),
            _ => Ok(()),
        }
    }

    fn receive_connack(
        &mut self,
        connack: &ConnAck<'_>,
        now: Instant,
        events: &mut Vec<ProtocolEvent>,
    ) -> Handled {
        if connack.reason != Reason::Success {
            let text = reason_string(connack.properties);
            self.end(Some(ConnectionLoss::Refused { reason: connack.reason, text }));
            return Ok(());
        }
        if connack.session_present && self.asks_clean_start() {
            return Err(Violation::protocol("CONNACK with an old session after a clean start"));
        }
        if !self.accepts_broker(connack) {
            return Ok(());
        }
        self.granted.grant(connack);
        self.keep_alive = KeepAlive::new(self.granted.keep_alive_s, now);
        self.outbound.set_window(self.granted.receive_max);
        self.subscriptions.set_identified(self.granted.identifiers_available);
        self.connections += 1;
        self.phase = Phase::Open;
        self.own_bytes = 0;
        events.push(ProtocolEvent::Client(ClientEvent::Connected(self.granted.clone())));
        self.resume_session(now, events);
        Ok(())
    }

    /// Continues what an earlier connection left, or the session of an earlier client.
    fn resume_session(&mut self, now: Instant, events: &mut Vec<ProtocolEvent>) {
        let same_session = self.granted.session_present;
        if same_session {
            // The session may have subscriptions of an earlier program, at any QoS.
            self.qos_asked = QoS::ExactlyOnce;
        }
        if self.backoff.was_connected() {
            self.inbound.restart(same_session);
            self.resubscribe(same_session, events);
            self.resend(same_session, events);
        }
        self.backoff.opened(now);
    }

    fn receive_packet(
        &mut self,
        packet: Packet<'_>,
        now: Instant,
        events: &mut Vec<ProtocolEvent>,
    ) -> Handled {
        match packet {
            Packet::Publish(publish) => self.receive_publish(&publish, events)?,
            Packet::PubAck(ack) => {
                let owner = self.outbound.acknowledge(ack.packet_id)?;
                self.settle(owner, outcome(&ack), events);
            }
            Packet::PubRec(ack) => self.receive_pubrec(&ack, events)?,
            Packet::PubRel(ack) => self.receive_pubrel(&ack),
            Packet::PubComp(ack) => {
                // The reason code does not matter: the broker has had the message since its PUBREC.
                let owner = self.outbound.complete(ack.packet_id)?;
                self.settle(owner, PublishOutcome::Acknowledged, events);
            }
            Packet::SubAck(suback) => self.receive_suback(&suback, events)?,
            Packet::UnsubAck(unsuback) => self.receive_unsuback(&unsuback, events)?,
            Packet::Auth(auth) => self.receive_auth(&auth, events)?,
            Packet::PingResp => self.receive_pong(now, events),
            Packet::Disconnect(goodbye) => {
                let text = reason_string(goodbye.properties);
                self.end(Some(ConnectionLoss::Disconnected { reason: goodbye.reason, text }));
            }
            _ => return Err(Violation::protocol("a packet that a client must not receive")),
        }
        Ok(())
    }

    /// Pings are answered in the order they were sent; those of the keep-alive are not reported.
    fn receive_pong(&mut self, now: Instant, events: &mut Vec<ProtocolEvent>) {
        let Some(first) = self.pings.front_mut() else { return };
        first.times -= 1;
        if let Some(id) = first.id {
            let round_trip = now.saturating_duration_since(first.asked);
            events.push(ProtocolEvent::Client(ClientEvent::Pong { id, round_trip }));
        }
        if first.times == 0 {
            self.pings.pop_front();
        }
    }

    fn refuse(&mut self, violation: Violation, now: Instant) {
        if matches!(self.phase, Phase::Connecting { .. }) {
            return self.end(Some(ConnectionLoss::NotMqtt(violation)));
        }
        let loss = Some(ConnectionLoss::Violation(violation));
        self.say_goodbye(violation.reason, loss, now + LAST_WORD, LAST_WORD);
    }
}
