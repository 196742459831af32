//! The outbound half: calls to bytes, within the terms that the broker granted.

use std::time::Instant;

use slipring_wire::{FilterError, Packet, PacketId, TopicError, VARINT_MAX, Version};

use super::pending::PENDING_MAX;
use super::subscribe::SUBSCRIPTIONS_MAX;
use super::{ClientProtocol, Phase, Ping, PingId};
use crate::ConnectionLoss;

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Try again after a `Room` event.
    #[error("the outbox is full")]
    Full,
    /// The connection is lost and the driver makes another one; try again after `Connected`.
    #[error("the connection is lost, another one is being made")]
    Away,
    /// There is no connection, and there will be none.
    #[error("not connected")]
    NotConnected(Option<ConnectionLoss>),
    /// Not a topic to publish to.
    #[error("cannot publish to {0:?}: {1}")]
    Topic(String, TopicError),
    /// Not a filter to subscribe to.
    #[error("cannot subscribe to {0:?}: {1}")]
    Filter(String, FilterError),
    /// Larger than the broker takes.
    #[error("a packet of {0} bytes is over the broker's limit of {1}; send less at once")]
    TooLarge(usize, usize),
    /// A property that MQTT cannot carry.
    #[error("property {0:?} does not fit: name and value have at most 65,535 bytes each, no null")]
    Property(String),
    /// A QoS that the broker does not support.
    #[error("this broker takes messages up to QoS {1}, this one is of QoS {0}")]
    QoS(u8, u8),
    /// The broker keeps no retained messages.
    #[error("this broker does not keep retained messages; publish with retain off")]
    Retain,
    /// Subscribing faster than the broker answers.
    #[error("{PENDING_MAX} requests wait for the broker's answer; await some of them first")]
    Unanswered,
    /// More subscriptions than a connection holds.
    #[error("this connection has {SUBSCRIPTIONS_MAX} subscriptions; give several filters to one")]
    TooMany,
    /// A session has a filter once: with the properties of one subscription, or with none.
    #[error(
        "{0:?} is subscribed to on this connection already, and a subscription with properties \
         shares no filter; end that subscription first, or use another connection"
    )]
    Taken(String),
    /// A subscription to nothing.
    #[error("a subscription has at least one topic filter")]
    NoFilter,
}

/// Bytes that a packet adds to its topic, properties and payload, at most.
const HEADERS_BYTES_MAX: usize = 16;

impl ClientProtocol {
    /// Sends PINGREQ; a `Pong` event says how long the answer took.
    pub fn ping(&mut self, now: Instant) -> Result<PingId, SendError> {
        self.check_open()?;
        if self.pings.len() >= PENDING_MAX {
            return Err(SendError::Unanswered);
        }
        self.newest_id += 1;
        let id = PingId(self.newest_id);
        self.write_ping(Some(id), now);
        Ok(id)
    }

    pub(super) fn write_ping(&mut self, id: Option<PingId>, now: Instant) {
        match self.pings.back_mut() {
            Some(last) if id.is_none() && last.id.is_none() => last.times += 1,
            _ => self.pings.push_back(Ping { id, asked: now, times: 1 }),
        }
        self.keep_alive.asked(now);
        Packet::PingReq.encode(Version::V5, &mut self.output);
    }

    /// A packet identifier that is not in use (MQTT-2.2.1-3).
    pub(super) fn free_id(&mut self) -> PacketId {
        loop {
            self.newest_packet_id = self.newest_packet_id.wrapping_add(1);
            match PacketId::new(self.newest_packet_id) {
                Some(id) if !self.pending.uses(id) && !self.outbound.uses(id) => return id,
                _ => {}
            }
        }
    }

    pub(super) fn check_open(&self) -> Result<(), SendError> {
        match &self.phase {
            Phase::Open => Ok(()),
            Phase::Away { .. } => Err(SendError::Away),
            Phase::Connecting { .. } if self.backoff.was_connected() => Err(SendError::Away),
            Phase::Connecting { .. } | Phase::Draining { .. } => Err(SendError::NotConnected(None)),
            // The driver asks for another connection a moment after the loss, and others may send meanwhile.
            Phase::Closing { loss: Some(loss), .. } | Phase::Closed(Some(loss))
                if self.backoff.may_follow(loss) =>
            {
                Err(SendError::Away)
            }
            Phase::Closing { loss, .. } | Phase::Closed(loss) => {
                Err(SendError::NotConnected(loss.clone()))
            }
        }
    }

    /// Refuses more bytes than an MQTT packet can have, before anything is encoded.
    pub(super) fn check_size(&self, bytes: usize) -> Result<(), SendError> {
        let bytes_max = VARINT_MAX as usize - HEADERS_BYTES_MAX;
        if bytes > bytes_max {
            return Err(SendError::TooLarge(bytes, self.granted.packet_bytes_max.min(bytes_max)));
        }
        Ok(())
    }

    /// Encodes a packet, and removes it again if it is larger than the broker accepts.
    pub(super) fn append(&mut self, packet: &Packet<'_>) -> Result<(), SendError> {
        let start = self.output.len();
        packet.encode(Version::V5, &mut self.output);
        let bytes = self.output.len() - start;
        let bytes_max = self.granted.packet_bytes_max;
        if bytes > bytes_max {
            self.output.truncate(start);
            return Err(SendError::TooLarge(bytes, bytes_max));
        }
        Ok(())
    }
}
