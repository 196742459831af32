//! The broker's side of one connection, by the rules of MQTT: takes packets, returns answers and actions.
//!
//! It owns no socket, no table and no session. What it cannot do alone it returns as an [`Action`].

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

use crate::{Limit, Limits, Stop};
use authenticating::{ExchangeMethod, PendingAuthentication};

/// The state of one connection.
#[derive(Debug)]
pub struct Conversation {
    limits: Limits,
    /// None until CONNECT was received.
    version: Option<Version>,
    open: bool,
    /// The session expiry of CONNECT, in seconds.
    expiry_s: u32,
    /// Whether the client wants reason strings (MQTT-3.1.2-28).
    explain: bool,
    /// The largest packet that the client accepts.
    packet_bytes: u32,
    /// The authentication method that CONNECT names.
    method: Option<ExchangeMethod>,
    /// An enhanced authentication that is not finished.
    pending: Option<Box<PendingAuthentication>>,
    /// The user name that the last one has proved.
    proven: Option<String>,
}

/// What the engine has to do after a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Nothing beyond sending the answer.
    Nothing,
    /// Ask [`Authentication`](crate::Authentication), find the client's session, then call [`Conversation::accept`] or
    /// [`Conversation::refuse`].
    Open(Box<Opening>),
    /// Pass this data to [`Conversation::authenticate`].
    Authenticate(&'a [u8]),
    /// Let [`Incoming`] check this message, deliver it to its subscribers, then [`Conversation::acknowledge`] it.
    Publish(Publish<'a>),
    /// Make these subscriptions.
    Subscribe(Subscribe<'a>),
    /// Remove these subscriptions.
    Unsubscribe(Unsubscribe<'a>),
    /// PUBREL: free the identifier, then [`Conversation::complete`].
    Release(PacketId),
    /// PUBACK.
    Acked(PacketId),
    /// PUBREC, and whether it refuses the message; then [`Conversation::release`].
    Received(PacketId, bool),
    /// PUBCOMP.
    Completed(PacketId),
    /// DISCONNECT.
    Close(Goodbye),
}

/// How a client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodbye {
    /// Whether it wants its will published.
    pub with_will: bool,
    /// A new session expiry, in seconds.
    pub expiry_s: Option<u32>,
}

impl Conversation {
    /// A connection that has received nothing yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            version: None,
            open: false,
            expiry_s: 0,
            explain: true,
            packet_bytes: u32::MAX,
            method: None,
            pending: None,
            proven: None,
        }
    }

    /// The version to decode the next packet with; CONNECT names its own.
    pub fn version(&self) -> Version {
        self.version.unwrap_or(Version::V5)
    }

    /// The limits of this connection.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The largest packet that is accepted now, and the name of that limit: small until the client is let in.
    pub fn packet_bytes_max(&self) -> (usize, Limit) {
        if self.open {
            (self.limits.packet_bytes, Limit::PacketBytes)
        } else {
            (self.limits.connect_bytes, Limit::ConnectBytes)
        }
    }

    /// Takes one packet, and appends the answer to `reply`.
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

    /// Appends PUBCOMP, the answer to PUBREL, whether the identifier was known or not.
    pub fn complete(&self, packet_id: PacketId, known: bool, reply: &mut Vec<u8>) {
        Packet::PubComp(ack(packet_id, known)).encode(self.version(), reply);
    }

    /// Appends PUBREL, the answer to a PUBREC that does not refuse the message.
    pub fn release(&self, packet_id: PacketId, known: bool, reply: &mut Vec<u8>) {
        Packet::PubRel(ack(packet_id, known)).encode(self.version(), reply);
    }
}

fn ack(packet_id: PacketId, known: bool) -> Ack<'static> {
    let reason = if known { Reason::Success } else { Reason::PacketIdentifierNotFound };
    Ack { packet_id, reason, properties: Properties::NONE }
}

/// An identifier, and the lengths of a name and of a text.
const USER_PROPERTY_BYTES_MIN: usize = 5;

fn check_user_properties(properties: Properties<'_>, limits: &Limits) -> Result<(), Stop> {
    if properties.encoded().len() / USER_PROPERTY_BYTES_MIN <= limits.user_properties {
        return Ok(());
    }
    let is_user = |id: &PropertyId| *id == PropertyId::UserProperty;
    let count = properties.pieces().map(|(id, _)| id).filter(is_user).count();
    if count > limits.user_properties {
        let what = "more user properties than the broker takes";
        return Err(Stop::at(Limit::UserProperties, Reason::QuotaExceeded, what));
    }
    Ok(())
}

fn protocol(what: &'static str) -> Stop {
    Violation::protocol(what).into()
}

/// A shared subscription cannot leave out the client's own messages (MQTT-3.8.3-4).
fn check_no_local(packet: &Subscribe<'_>) -> Result<(), Stop> {
    let mut wanted = packet.subscriptions.iter();
    if wanted.any(|wanted| wanted.no_local && shared(wanted.filter).is_some()) {
        return Err(protocol("no-local on a shared subscription"));
    }
    Ok(())
}
