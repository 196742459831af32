//! Enhanced authentication (MQTT 5, 4.12): while connecting, and again on an open connection.

use std::time::Instant;

use slipring_wire::{
    Auth, ConnAck, Packet, PropertiesBuf, PropertyId, Reason, Value, Version, Violation,
};
use zeroize::Zeroizing;

use super::scram::{SaltedKeys, ScramExchange};
use super::{ClientEvent, ClientProtocol, ConnectionLoss, Phase, ProofMethod, ProtocolEvent};

/// What the client has proved, and is proving.
#[derive(Debug, Default)]
pub(super) struct Proving {
    scram: Option<ScramExchange>,
    keys: Option<SaltedKeys>,
    /// Exchanges begun so far; each has another nonce.
    begun: u64,
    /// AUTH 0x19 waits for its answer.
    again: bool,
    /// A newer token came meanwhile. It is proved when the answer is there.
    has_newer: bool,
    wanted: WantedToken,
}

/// What the next connection waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WantedToken {
    /// It may begin.
    #[default]
    Nothing,
    /// A token from the owner, which may be the same one.
    Any,
    /// Another one: the broker has refused a connection with this one.
    Other,
}

impl Proving {
    /// Whether there is no connection, and no token for the next one yet.
    pub fn lacks_token(&self) -> bool {
        self.wanted != WantedToken::Nothing
    }
}

impl ClientProtocol {
    /// The method and the first data, for CONNECT or AUTH; `None` without enhanced authentication.
    pub(super) fn begin_proof(&mut self) -> Option<PropertiesBuf> {
        let credentials = &self.options.credentials;
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::AuthenticationMethod, Value::Text(credentials.method.name()?));
        self.proving.again = false;
        if credentials.method == ProofMethod::Scram {
            self.proving.begun += 1;
            let user = credentials.user.as_deref().unwrap_or_default();
            let scram = ScramExchange::begin(user, &self.options.nonce_seed, self.proving.begun);
            let first = scram.first();
            properties.push(PropertyId::AuthenticationData, Value::Binary(first.as_bytes()));
            self.proving.scram = Some(scram);
        } else {
            let token = credentials.secret();
            properties.push(PropertyId::AuthenticationData, Value::Binary(token));
        }
        Some(properties)
    }

    /// Takes another password or token. An open connection proves it at once, if the method allows that; each
    /// further connection begins with it.
    ///
    /// Returns whether it is taken: not if it is empty or no packet can carry it, and not if the broker has
    /// just refused a connection with the same one.
    pub fn renew(&mut self, secret: Zeroizing<Vec<u8>>) -> bool {
        let is_same = self.options.credentials.secret() == secret.as_slice();
        let fits = !secret.is_empty() && u16::try_from(secret.len()).is_ok();
        if !fits || (is_same && self.proving.wanted == WantedToken::Other) {
            return false;
        }
        self.options.credentials.password = Some(secret);
        self.proving.keys = None;
        self.proving.wanted = WantedToken::Nothing;
        if matches!(self.phase, Phase::Open) {
            self.prove_again();
        }
        true
    }

    /// One exchange at a time: a token that comes during one is proved after it.
    fn prove_again(&mut self) {
        self.proving.has_newer = self.proving.again;
        if self.proving.again {
            return;
        }
        if let Some(properties) = self.begin_proof() {
            self.proving.again = true;
            self.write_auth(Reason::ReAuthenticate, &properties);
        }
    }

    pub(super) fn receive_auth(
        &mut self,
        auth: &Auth<'_>,
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), Violation> {
        let method = self.options.credentials.method.name();
        if method.is_none() || auth.properties.text(PropertyId::AuthenticationMethod) != method {
            return Err(Violation::protocol("AUTH with another method than ours"));
        }
        let data = auth.properties.binary(PropertyId::AuthenticationData).unwrap_or_default();
        let connecting = matches!(self.phase, Phase::Connecting { .. });
        match auth.reason {
            Reason::ContinueAuthentication if connecting || self.proving.again => {
                self.answer_challenge(data);
                Ok(())
            }
            Reason::Success if self.proving.again => {
                self.proving.again = false;
                if self.is_broker_proved(data) {
                    events.push(ProtocolEvent::Client(ClientEvent::Authenticated));
                    if self.proving.has_newer && matches!(self.phase, Phase::Open) {
                        self.prove_again();
                    }
                }
                Ok(())
            }
            _ => Err(Violation::protocol("AUTH that answers nothing")),
        }
    }

    fn answer_challenge(&mut self, challenge: &[u8]) {
        let Some(scram) = &mut self.proving.scram else {
            return self.distrust("it asks for more than a token");
        };
        let secret = self.options.credentials.secret();
        match scram.answer(challenge, secret, &mut self.proving.keys) {
            Ok(last) => {
                let mut properties = PropertiesBuf::new();
                properties
                    .push(PropertyId::AuthenticationMethod, Value::Text("SCRAM-SHA-256"))
                    .push(PropertyId::AuthenticationData, Value::Binary(last.as_bytes()));
                self.write_auth(Reason::ContinueAuthentication, &properties);
            }
            Err(what) => self.distrust(what),
        }
    }

    /// Whether the broker that accepts this client has proved itself, where the method asks for it; else the
    /// connection ends.
    pub(super) fn accepts_broker(&mut self, connack: &ConnAck<'_>) -> bool {
        let data = connack.properties.binary(PropertyId::AuthenticationData).unwrap_or_default();
        self.is_broker_proved(data)
    }

    fn is_broker_proved(&mut self, data: &[u8]) -> bool {
        let Some(scram) = self.proving.scram.take() else { return true };
        match scram.check(data) {
            Ok(()) => true,
            Err(what) => {
                self.distrust(what);
                false
            }
        }
    }

    fn distrust(&mut self, what: &'static str) {
        self.end(Some(ConnectionLoss::NotProved { what }));
    }

    fn write_auth(&mut self, reason: Reason, properties: &PropertiesBuf) {
        let start = self.output.len();
        let properties = properties.borrow();
        Packet::Auth(Auth { reason, properties }).encode(Version::V5, &mut self.output);
        if matches!(self.phase, Phase::Connecting { .. }) {
            self.own_bytes += self.output.len() - start;
        }
    }

    /// After a loss: another connection waits for a new token, if the owner gives one each time.
    pub(super) fn expect_token(&mut self) {
        self.proving.again = false;
        self.proving.has_newer = false;
        self.proving.wanted = match self.loss() {
            _ if !self.options.credentials.renewed => WantedToken::Nothing,
            Some(loss @ ConnectionLoss::Refused { .. }) if loss.is_end_of_proof() => {
                WantedToken::Other
            }
            _ => WantedToken::Any,
        };
    }

    /// When the next connection is made; never before there is a token for it.
    pub(super) fn next_connection(&self, until: Instant) -> Option<Instant> {
        (!self.proving.lacks_token()).then_some(until)
    }
}
