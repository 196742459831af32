//! Enhanced authentication (MQTT 5, section 4.12): with AUTH packets before CONNACK, and again later.

use data_encoding::BASE64;
use slipring_wire::{Auth, Packet, Properties, PropertiesBuf, PropertyId, Reason, Value, Version};

use super::{Action, Conversation, Opening, check_user_properties, protocol};
use crate::auth::{METHOD, Proven, Scram, TOKEN_METHOD};
use crate::{NONCE_BYTES, Proof, Secret, Stop, TokenError, Users};

/// How a client proves its name with AUTH packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeMethod {
    Scram,
    /// It sends a token; there is no challenge.
    Token,
}

impl ExchangeMethod {
    fn name(self) -> &'static str {
        match self {
            Self::Scram => METHOD,
            Self::Token => TOKEN_METHOD,
        }
    }
}

/// An enhanced authentication that is not finished.
#[derive(Debug)]
pub(super) struct PendingAuthentication {
    /// None until the client's first message was read.
    scram: Option<Scram>,
    /// What the client asked for in CONNECT; None if it was let in already.
    opening: Option<Box<Opening>>,
}

impl Conversation {
    /// Whether the client has chosen enhanced authentication.
    pub(super) fn authenticates(&self) -> bool {
        self.pending.is_some() || self.proven.is_some()
    }

    /// Begins with the properties of CONNECT, or of an AUTH with reason 0x19.
    pub(super) fn begin<'a>(
        &mut self,
        opening: Option<Box<Opening>>,
        properties: Properties<'a>,
    ) -> Action<'a> {
        self.pending = Some(Box::new(PendingAuthentication { scram: None, opening }));
        Action::Authenticate(data(properties))
    }

    pub(super) fn auth<'a>(&mut self, auth: Auth<'a>) -> Result<Action<'a>, Stop> {
        check_user_properties(auth.properties, &self.limits)?;
        let method = self.method.map(ExchangeMethod::name);
        if auth.properties.text(PropertyId::AuthenticationMethod) != method {
            // MQTT-4.12.0-5, MQTT-4.12.1-1
            return Err(protocol("AUTH with another authentication method than CONNECT"));
        }
        match (auth.reason, &self.pending) {
            (Reason::ContinueAuthentication, Some(_)) => {
                Ok(Action::Authenticate(data(auth.properties))) // MQTT-4.12.0-3
            }
            (Reason::ReAuthenticate, None) => Ok(self.begin(None, auth.properties)),
            _ => Err(protocol("AUTH out of turn")), // MQTT-3.15.2-1
        }
    }

    /// Whether the data of [`Action::Authenticate`] is a token: then check it, and call [`Self::conclude_token`].
    pub fn takes_token(&self) -> bool {
        self.method == Some(ExchangeMethod::Token)
    }

    /// Refuses the method of tokens where no token is accepted.
    pub fn refuse_method(&self) -> Stop {
        unknown_method()
    }

    /// The client's token was accepted and is this user's. Either returns [`Action::Open`], or appends AUTH because the
    /// client was let in before.
    pub fn conclude_token(
        &mut self,
        user: &str,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'static>, Stop> {
        let Some(pending) = self.pending.take() else { return Ok(Action::Nothing) };
        let claimed = pending.opening.as_ref().and_then(|opening| opening.user_name.as_deref());
        if claimed.is_some_and(|claimed| !claimed.is_empty() && claimed != user) {
            return Err(Stop::new(Reason::NotAuthorized, TokenError::OtherUser.what()));
        }
        let proven = Proven { user: user.to_owned(), answer: String::new() };
        self.conclude(proven, pending.opening, reply)
    }

    /// Takes the data of [`Action::Authenticate`]. Either appends AUTH with a challenge, or returns [`Action::Open`]
    /// because the client has proved its name, or ends the connection (MQTT-4.12.0-4, MQTT-4.12.1-2).
    pub fn authenticate(
        &mut self,
        data: &[u8],
        users: &Users,
        secret: &Secret,
        nonce: [u8; NONCE_BYTES],
        reply: &mut Vec<u8>,
    ) -> Result<Action<'static>, Stop> {
        if users.is_empty() && !self.open {
            return Err(unknown_method());
        }
        let Some(mut pending) = self.pending.take() else { return Ok(Action::Nothing) };
        if let Some(scram) = pending.scram.take() {
            return self.conclude(scram.finish(data)?, pending.opening, reply);
        }
        let (scram, challenge) = Scram::begin(data, users, secret, &BASE64.encode(&nonce))?;
        pending.scram = Some(scram);
        self.pending = Some(pending);
        self.answer(Reason::ContinueAuthentication, &challenge, reply) // MQTT-4.12.0-2
    }

    fn conclude(
        &mut self,
        proven: Proven,
        opening: Option<Box<Opening>>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'static>, Stop> {
        let Proven { user, answer: data } = proven;
        let method = self.method.unwrap_or(ExchangeMethod::Scram).name();
        if let Some(mut opening) = opening {
            opening.user_name = Some(user.clone());
            opening.proof = Proof::Exchanged(method, data);
            self.proven = Some(user);
            return Ok(Action::Open(opening));
        }
        if self.proven.as_ref() != Some(&user) {
            // The session belongs to the first user.
            return Err(Stop::new(Reason::NotAuthorized, "re-authentication as another user"));
        }
        self.answer(Reason::Success, &data, reply)
    }

    fn answer(
        &self,
        reason: Reason,
        data: &str,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'static>, Stop> {
        let mut properties = PropertiesBuf::new();
        let method = self.method.unwrap_or(ExchangeMethod::Scram).name();
        push_data(&mut properties, method, data);
        let before = reply.len();
        Packet::Auth(Auth { reason, properties: properties.borrow() }).encode(Version::V5, reply);
        if reply.len() - before > self.packet_bytes as usize {
            reply.truncate(before); // MQTT-3.1.2-24
            return Err(Stop::new(Reason::PacketTooLarge, "no packet is large enough for AUTH"));
        }
        Ok(Action::Nothing)
    }
}

/// The method that CONNECT asks for, if it exists.
pub(super) fn method_of(properties: Properties<'_>) -> Result<Option<ExchangeMethod>, Stop> {
    match properties.text(PropertyId::AuthenticationMethod) {
        Some(METHOD) => Ok(Some(ExchangeMethod::Scram)),
        Some(TOKEN_METHOD) => Ok(Some(ExchangeMethod::Token)),
        Some(_) => Err(unknown_method()),
        None if properties.get(PropertyId::AuthenticationData).is_some() => {
            Err(protocol("authentication data without a method")) // MQTT 5, 3.1.2.11.10
        }
        None => Ok(None),
    }
}

fn unknown_method() -> Stop {
    Stop::new(Reason::BadAuthenticationMethod, "no such authentication method") // MQTT-4.12.0-1
}

fn data(properties: Properties<'_>) -> &[u8] {
    match properties.get(PropertyId::AuthenticationData) {
        Some(Value::Binary(data)) => data,
        _ => &[],
    }
}

/// Adds the method and its data. Every packet of an authentication names the method (MQTT-4.12.0-5).
pub(super) fn push_data(properties: &mut PropertiesBuf, method: &str, data: &str) {
    properties.push(PropertyId::AuthenticationMethod, Value::Text(method));
    if !data.is_empty() {
        properties.push(PropertyId::AuthenticationData, Value::Binary(data.as_bytes()));
    }
}
