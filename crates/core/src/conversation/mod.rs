//! One connection's conversation with the broker: packets in, answers and actions out.
//!
//! It owns no socket, no table and no session; what it cannot decide alone leaves it as an [`Action`].

mod authenticating;
mod closing;
mod connecting;
mod publishing;

pub use connecting::Opening;
pub use publishing::Incoming;

use slipring_wire::{
    Ack, Packet, PacketId, Properties, PropertyId, Publish, Reason, Subscribe, Unsubscribe,
    Version, Violation, shared,
};

use crate::{Limit, Limits, Settled, Stop};
use authenticating::Exchange;

/// The state of one connection.
#[derive(Debug)]
pub struct Conversation {
    limits: Limits,
    /// None until CONNECT was read.
    version: Option<Version>,
    open: bool,
    /// The session expiry asked for in CONNECT.
    expiry_s: u32,
    /// Whether the client wants reason strings (MQTT-3.1.2-28).
    explain: bool,
    /// The largest packet the client takes.
    packet_bytes: u32,
    /// An enhanced authentication that is under way.
    exchange: Option<Box<Exchange>>,
    /// The name that the last one has proved.
    proven: Option<String>,
}

/// What the engine has to do for a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Nothing beyond sending the answer.
    Nothing,
    /// Let [`Authentication`](crate::Authentication) judge, find the client's session, then
    /// [`Conversation::accept`] or [`Conversation::refuse`].
    Open(Box<Opening>),
    /// The client's data for [`Conversation::authenticate`].
    Authenticate(&'a [u8]),
    /// Let [`Incoming`] check this message, bring it to its subscribers, then
    /// [`Conversation::acknowledge`] it.
    Publish(Publish<'a>),
    /// Enter these subscriptions.
    Subscribe(Subscribe<'a>),
    /// Remove these.
    Unsubscribe(Unsubscribe<'a>),
    /// PUBREL: forget the identifier, then [`Conversation::complete`].
    Release(PacketId),
    /// PUBACK.
    Acked(PacketId),
    /// PUBREC, refused or not; then [`Conversation::release`].
    Received(PacketId, bool),
    /// PUBCOMP.
    Completed(PacketId),
    /// The client said goodbye.
    Close(Goodbye),
}

/// How a client goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodbye {
    /// It wants its will published all the same.
    pub with_will: bool,
    /// A new session expiry, in seconds.
    pub expiry_s: Option<u32>,
}

impl Conversation {
    /// A connection that has not sent anything yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            version: None,
            open: false,
            expiry_s: 0,
            explain: true,
            packet_bytes: u32::MAX,
            exchange: None,
            proven: None,
        }
    }

    /// The version to decode the next packet with; CONNECT brings its own.
    pub fn version(&self) -> Version {
        self.version.unwrap_or(Version::V5)
    }

    /// The bounds of this connection.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The largest packet accepted now, and the limit it is: small until the client is known.
    pub fn packet_bytes_max(&self) -> (usize, Limit) {
        if self.open {
            (self.limits.packet_bytes, Limit::PacketBytes)
        } else {
            (self.limits.connect_bytes, Limit::ConnectBytes)
        }
    }

    /// Takes one packet; appends what to answer to `reply`.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        packet: Packet<'a>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'a>, Stop> {
        match packet {
            Packet::Publish(publish) if self.open => Ok(Action::Publish(publish)),
            Packet::PubAck(ack) if self.open => Ok(Action::Acked(ack.packet_id)),
            _ => self.receive_control(packet, reply),
        }
    }

    fn receive_control<'a>(
        &mut self,
        packet: Packet<'a>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'a>, Stop> {
        match packet {
            Packet::Connect(connect) if self.version.is_none() => self.connect(&connect),
            Packet::Auth(auth) if self.authenticates() => self.auth(auth),
            Packet::Disconnect(disconnect) if self.authenticates() => self.disconnect(disconnect),
            _ if !self.open && self.authenticates() => {
                Err(protocol("only AUTH or DISCONNECT until CONNACK")) // MQTT-3.1.2-30
            }
            _ if !self.open => Err(protocol("the first packet is not CONNECT")), // MQTT-3.1.0-1
            Packet::PubRec(ack) => Ok(Action::Received(ack.packet_id, ack.reason.is_error())),
            Packet::PubRel(ack) => Ok(Action::Release(ack.packet_id)),
            Packet::PubComp(ack) => Ok(Action::Completed(ack.packet_id)),
            Packet::Subscribe(subscribe) => {
                check_user_properties(subscribe.properties, &self.limits)?;
                check_no_local(&subscribe)?;
                Ok(Action::Subscribe(subscribe))
            }
            Packet::Unsubscribe(unsubscribe) => {
                check_user_properties(unsubscribe.properties, &self.limits)?;
                Ok(Action::Unsubscribe(unsubscribe))
            }
            Packet::PingReq => {
                Packet::PingResp.encode(self.version(), reply);
                Ok(Action::Nothing)
            }
            Packet::Disconnect(disconnect) => self.disconnect(disconnect),
            Packet::Connect(_) => Err(protocol("a second CONNECT")), // MQTT-3.1.0-2
            Packet::Auth(_) => Err(protocol("AUTH without an authentication method")), // MQTT-4.12.0-7
            _ => Err(protocol("a packet that a client does not send")),
        }
    }

    /// PUBREL, answered whether the identifier was known or not.
    pub fn complete(&self, packet_id: PacketId, known: bool, reply: &mut Vec<u8>) {
        let reason = if known { Reason::Success } else { Reason::PacketIdentifierNotFound };
        let ack = Ack { packet_id, reason, properties: Properties::NONE };
        Packet::PubComp(ack).encode(self.version(), reply);
    }

    /// The answer to a PUBREC: PUBREL, unless the client refused the message.
    pub fn release(&self, packet_id: PacketId, settled: Settled, reply: &mut Vec<u8>) {
        let reason = match settled {
            Settled::Known => Reason::Success,
            Settled::Unknown => Reason::PacketIdentifierNotFound,
        };
        let ack = Ack { packet_id, reason, properties: Properties::NONE };
        Packet::PubRel(ack).encode(self.version(), reply);
    }
}

fn check_user_properties(properties: Properties<'_>, limits: &Limits) -> Result<(), Stop> {
    let is_user = |id: &PropertyId| *id == PropertyId::UserProperty;
    let count = properties.iter().map(|(id, _)| id).filter(is_user).count();
    if count > limits.user_properties {
        let what = "more user properties than the broker takes";
        return Err(Stop::at(Limit::UserProperties, Reason::QuotaExceeded, what));
    }
    Ok(())
}

fn protocol(what: &'static str) -> Stop {
    Violation::protocol(what).into()
}

/// Nobody can leave out its own messages of a shared subscription (MQTT-3.8.3-4).
fn check_no_local(packet: &Subscribe<'_>) -> Result<(), Stop> {
    let mut wanted = packet.subscriptions.iter();
    if wanted.any(|wanted| wanted.no_local && shared(wanted.filter).is_some()) {
        return Err(protocol("no-local on a shared subscription"));
    }
    Ok(())
}
