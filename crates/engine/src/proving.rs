//! Proofs that come by a token or by the answer of a service elsewhere: they end, and they can be taken back.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use slipring_core::access::Identity;
use slipring_core::{
    Action, Authentication, ConnectRefusal, Opening, Password, Stop, TokenError, TokenGrant, WRONG,
};
use slipring_wire::{Reason, Violation};
use tokio::time::Instant;

use crate::admission::Check;
use crate::connection_end::ConnectionEnd;
use crate::party::Party;
use crate::questions::{Answer, Login, QuestionKind};

/// Longer than any token is followed: the connection ends then, and the client comes back.
const FOLLOWED_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// The service that decides about clients does not answer.
const AWAY: Violation = Violation {
    reason: Reason::ServerUnavailable,
    what: "the service that decides about clients does not answer; try again later",
};

/// What a connection's identity depends on, beyond the users of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionProof {
    /// A token, which ends and can be revoked.
    Token(Box<TokenGrant>),
    /// A service elsewhere has allowed it.
    Allowed,
}

impl ConnectionProof {
    /// Whether these rules would still accept it.
    pub fn holds(&self, authentication: &Authentication) -> bool {
        match self {
            Self::Token(grant) => authentication.tokens.holds(grant),
            Self::Allowed => authentication.asks,
        }
    }
}

impl fmt::Display for ConnectionProof {
    /// `token ID of ISSUER`, or `hook`. The identifier is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(grant) => match &grant.id {
                Some(id) => write!(f, "token {id} of {}", grant.issuer),
                None => write!(f, "a token of {}", grant.issuer),
            },
            Self::Allowed => f.write_str("hook"),
        }
    }
}

impl Party {
    /// Has a token checked: of a password with its CONNECT, or of an AUTH packet, whose CONNECT the conversation has.
    pub fn check_token(&mut self, opening: Option<Opening>, token: Password, is_again: bool) {
        let plan = self.broker.plan.load_full();
        let name = opening.as_ref().and_then(|opening| opening.user_name.as_deref());
        let (passwords, address) =
            (Arc::clone(&self.broker.passwords), &self.connection.origin.address);
        let outcome = passwords.check_token(plan, address, name.unwrap_or(""), token.clone());
        self.check = Some(Check::token(opening, token, is_again, outcome));
    }

    /// Takes the data of an AUTH packet, or of a CONNECT with the method of tokens.
    pub fn take_token_data(&mut self, data: &[u8]) -> Result<(), ConnectionEnd> {
        if self.client.is_none() && self.broker.plan.load().authentication.tokens.is_empty() {
            return Err(self.conversation.refuse_method().into());
        }
        if data.len() > slipring_core::TOKEN_BYTES_MAX {
            return Err(self.refuse_token(true, TokenError::TooLong));
        }
        self.check_token(None, Password::from(data), false);
        Ok(())
    }

    /// A token was accepted: lets the client in, or extends its proof.
    pub fn take_grant(
        &mut self,
        opening: Option<Opening>,
        grant: Box<TokenGrant>,
    ) -> Result<(), ConnectionEnd> {
        if !self.broker.plan.load().authentication.tokens.holds(&grant) {
            return Err(self.refuse_token(opening.is_none(), TokenError::Revoked));
        }
        let Some(mut opening) = opening else { return self.take_exchanged(grant) };
        let claimed = opening.user_name.as_deref().unwrap_or("");
        if !claimed.is_empty() && claimed != grant.user() {
            return Err(self.refuse_token(false, TokenError::OtherUser));
        }
        opening.user_name = Some(grant.user().to_owned());
        self.prove_by(grant);
        self.open(opening, false)
    }

    fn take_exchanged(&mut self, grant: Box<TokenGrant>) -> Result<(), ConnectionEnd> {
        if self.is_certified_as_other(grant.user()) {
            return Err(self.refuse_token(true, TokenError::OtherUser));
        }
        let concluded = self.conversation.conclude_token(grant.user(), &mut self.reply)?;
        if let Action::Open(opening) = concluded {
            self.prove_by(grant);
            return self.open(*opening, false);
        }
        self.renew(grant);
        Ok(())
    }

    /// Whether a certificate has proved another name than this: a token does not change it.
    fn is_certified_as_other(&self, user: &str) -> bool {
        self.connection.origin.user.as_deref().is_some_and(|certified| certified != user)
    }

    fn prove_by(&mut self, grant: Box<TokenGrant>) {
        self.connection.prove(Identity::clone(&grant.identity));
        self.depend_on(ConnectionProof::Token(grant));
    }

    /// A client that was let in has proved the same name again; its roles and claims may have changed.
    fn renew(&mut self, grant: Box<TokenGrant>) {
        let identity = Arc::clone(&grant.identity);
        self.depend_on(ConnectionProof::Token(grant));
        let Some(client) = self.client.clone() else { return };
        self.broker.identify(&client, &identity);
        self.identity = identity;
        // The token may have been revoked after its check: whoever took it back has looked at the earlier one.
        if !self.connection.proof_holds(&self.broker.plan.load().authentication) {
            self.connection.close(Reason::NotAuthorized);
        }
    }

    fn depend_on(&mut self, proof: ConnectionProof) {
        let clock = &self.broker.clock;
        self.proof_ends = match &proof {
            ConnectionProof::Token(grant) => {
                let lasts = Duration::from_secs(grant.remaining_s(clock.now_ns() / 1_000_000_000));
                Some(clock.now() + lasts.min(FOLLOWED_MAX))
            }
            ConnectionProof::Allowed => None,
        };
        self.connection.depend_on(proof);
    }

    /// Whether the proof has ended by itself.
    pub fn is_proof_over(&self, now: Instant) -> bool {
        self.proof_ends.is_some_and(|ends| ends <= now)
    }

    /// Has the keys of the token's issuer read again, once.
    pub fn ask_for_keys(
        &mut self,
        opening: Option<Opening>,
        token: Password,
    ) -> Result<(), ConnectionEnd> {
        let plan = self.broker.plan.load();
        let Some(issuer) = plan.authentication.tokens.issuer_to_read(token.as_ref()) else {
            drop(plan);
            return Err(self.refuse_token(opening.is_none(), TokenError::UnknownIssuer));
        };
        let outcome = self.broker.questions.ask(QuestionKind::Keys(issuer.to_owned()));
        drop(plan);
        self.check = Some(Check::token(opening, token, true, outcome));
        Ok(())
    }

    /// Asks a service elsewhere whether the client is let in.
    pub fn ask_about(&mut self, opening: Opening, password: Password) {
        let origin = &self.connection.origin;
        let login = Login {
            client_id: opening.client_id.clone(),
            user_name: opening.user_name.clone(),
            password,
            address: origin.address.clone(),
            listener: origin.listener,
        };
        let outcome = self.broker.questions.ask(QuestionKind::Login(login));
        self.check = Some(Check::asked(opening, outcome));
    }

    /// The control plane has answered a question about this client.
    pub fn take_answer(&mut self, check: Check, answer: Answer) -> Result<(), ConnectionEnd> {
        match (answer, check.opening, check.token) {
            (Answer::KeysRead, opening, Some(token)) => {
                self.check_token(opening, token, true);
                Ok(())
            }
            (Answer::Allowed(identity, lasts), Some(mut opening), None) => {
                opening.user_name = identity.user.as_deref().map(Into::into);
                self.connection.prove(Identity::clone(&identity));
                self.depend_on(ConnectionProof::Allowed);
                let now = self.broker.clock.now();
                self.proof_ends = lasts.map(|lasts| now + lasts.min(FOLLOWED_MAX));
                self.open(opening, false)
            }
            (Answer::Unanswered, Some(_), None) => Err(self.turn_away(AWAY)),
            (_, opening, Some(_)) => {
                Err(self.refuse_token(opening.is_none(), TokenError::UnknownKey))
            }
            _ => Err(self.turn_away(WRONG)),
        }
    }

    /// Refuses a token that came by AUTH packets, or as a password.
    pub fn refuse_token(&mut self, is_exchanged: bool, why: TokenError) -> ConnectionEnd {
        if is_exchanged {
            let violation = Violation { reason: Reason::NotAuthorized, what: why.what() };
            return Stop::from(violation).into();
        }
        let reason = Reason::BadUserNameOrPassword;
        self.refuse(ConnectRefusal { reason, why: why.what(), limit: None })
    }
}

#[cfg(test)]
#[path = "proving_tests.rs"]
mod tests;
