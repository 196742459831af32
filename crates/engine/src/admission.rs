//! Admits or refuses a client: the plan judges its proof, and a password is checked before CONNACK.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::access::{Identity, Right, Subject};
use slipring_core::{
    Action, ConnectRefusal, Limit, Opening, Password, Plan, Proof, Stop, TokenError, Verdict, WRONG,
};
use slipring_wire::{Reason, Violation};
use tokio::time::timeout;

use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::latch::Latch;
use crate::party::Party;
use crate::passwords::{Checked, random};

/// The check did not finish within `connect_ms`.
const BUSY: Violation =
    Violation { reason: Reason::ServerBusy, what: "too busy to let the client in" };

/// Too many others of the same address wait for their turn.
const CROWD: &str = "too many proofs wait to be checked (limits.password_checks)";

/// The address guesses.
const TOO_MANY_WRONG: &str =
    "too many wrong proofs of this name; wait a minute (limits.wrong_proofs_per_min)";

/// How long an earlier connection may take to let go of its session.
const HANDOVER_MAX: Duration = Duration::from_secs(1);

/// A CONNECT that waits: for the check of its password, or until an earlier connection of the same client has
/// let go of the session and the journal has its will.
pub(crate) struct Check {
    /// None: the conversation has it, and the client proves its name with AUTH packets.
    pub opening: Option<Opening>,
    /// The token that is checked.
    pub token: Option<Password>,
    /// Whether keys were read for the token, so that they are not read again.
    is_again: bool,
    /// Whether it is a password that is checked.
    proves: bool,
    /// Whether the session is taken even if another connection still has it.
    force: bool,
    outcome: Pin<Box<dyn Future<Output = Checked> + Send>>,
}

impl Check {
    fn of(
        opening: Option<Opening>,
        outcome: impl Future<Output = Checked> + Send + 'static,
    ) -> Self {
        let outcome = Box::pin(outcome);
        Self { opening, token: None, is_again: false, proves: false, force: false, outcome }
    }

    /// Waits for the check of a token, or for keys to check it with.
    pub fn token(
        opening: Option<Opening>,
        token: Password,
        is_again: bool,
        outcome: impl Future<Output = Checked> + Send + 'static,
    ) -> Self {
        Self { token: Some(token), is_again, ..Self::of(opening, outcome) }
    }

    /// Waits for the answer of a service elsewhere.
    pub fn asked(
        opening: Opening,
        outcome: impl Future<Output = Checked> + Send + 'static,
    ) -> Self {
        Self::of(Some(opening), outcome)
    }

    /// Waits until an earlier connection has let go, for `HANDOVER_MAX` at most.
    pub fn handover(opening: Opening, held: Arc<ConnectionHandle>) -> Self {
        let left = async move {
            let _ = timeout(HANDOVER_MAX, held.left.wait()).await;
            Checked::Right
        };
        Self { force: true, ..Self::of(Some(opening), left) }
    }

    /// Waits until the journal has the will of an earlier connection.
    pub fn after_will(opening: Opening, appended: Arc<Latch>, force: bool) -> Self {
        let outcome = async move {
            appended.wait().await;
            Checked::Right
        };
        Self { force, ..Self::of(Some(opening), outcome) }
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Checked> {
        self.outcome.as_mut().poll(cx)
    }
}

impl Party {
    /// Answers CONNECT with a refusal.
    pub fn refuse(&mut self, refusal: ConnectRefusal) -> ConnectionEnd {
        let plan = self.broker.plan.load();
        let server = plan.server_reference.as_deref();
        let server = server.filter(|_| refusal.reason == Reason::UseAnotherServer); // T11
        self.conversation.refuse(refusal.reason, refusal.why, server, &mut self.reply);
        ConnectionEnd::Refused(refusal)
    }

    /// Refuses a client whose address has given too many wrong proofs of this name.
    fn check_attempts(&mut self, plan: &Plan, name: &str) -> Result<(), ConnectionEnd> {
        let (most, now_ms) = (plan.limits.wrong_proofs_per_min, self.broker.clock.now_ms());
        let address = &self.connection.origin.address;
        if !self.broker.attempts.are_too_many(address, name, most, now_ms) {
            return Ok(());
        }
        let (reason, limit) = (Reason::ConnectionRateExceeded, Some(Limit::WrongProofsPerMin));
        Err(self.refuse(ConnectRefusal { reason, why: TOO_MANY_WRONG, limit }))
    }

    /// Counts a wrong proof. A client that exchanges proofs says no name in CONNECT.
    pub fn note_wrong_proof(&self) {
        let (user, _) = self.connection.claimed().cloned().unwrap_or_default();
        let now_ms = self.broker.clock.now_ms();
        self.broker.attempts.note_wrong(&self.connection.origin.address, &user, now_ms);
    }

    /// Lets the client in, refuses it, or has its password checked first.
    pub fn admit(&mut self, opening: Opening) -> Result<(), ConnectionEnd> {
        let plan = self.broker.plan.load_full();
        self.judged = Some(Arc::clone(&plan));
        let certified = self.connection.origin.user.is_some();
        let user_name = opening.user_name.as_deref();
        self.connection.claim(user_name, &opening.client_id);
        if let Some(user) = user_name {
            self.check_attempts(&plan, user)?;
        }
        if let Some(why) = self.broker.monitor.audit.refusal() {
            let reason = Reason::ServerUnavailable;
            return Err(self.refuse(ConnectRefusal { reason, why, limit: None }));
        }
        match plan.authentication.judge(user_name, &opening.proof, certified) {
            Verdict::Accepted => {
                if let (Proof::Exchanged(method, _), Some(user)) = (&opening.proof, user_name) {
                    self.connection.note_exchange(method);
                    self.connection.prove(Identity::named(user));
                }
                self.open(opening, false)
            }
            Verdict::Refused(violation) => Err(self.turn_away(violation)),
            Verdict::CheckToken(token) => {
                let token = token.clone();
                self.check_token(Some(opening), token, false);
                Ok(())
            }
            Verdict::Ask(password) => {
                let password = password.clone();
                self.ask_about(opening, password);
                Ok(())
            }
            Verdict::Check(name, password) => {
                let passwords = &self.broker.passwords;
                if passwords.remembers(&plan, name, password) {
                    self.connection.prove(Identity::named(name));
                    return self.open(opening, false);
                }
                let (passwords, address) = (Arc::clone(passwords), &self.connection.origin.address);
                let check = passwords.check(plan, address, name, password.clone());
                self.check = Some(Check { proves: true, ..Check::of(Some(opening), check) });
                Ok(())
            }
        }
    }

    /// The check is done; `checked` is its result.
    pub fn conclude(&mut self, checked: Checked) -> Result<(), ConnectionEnd> {
        let Some(check) = self.check.take() else { return Ok(()) };
        match (checked, check.opening) {
            (Checked::Right, Some(opening)) => {
                if let (true, Some(user)) = (check.proves, &opening.user_name) {
                    self.connection.prove(Identity::named(user));
                }
                self.open(opening, check.force)
            }
            (Checked::Accepted(grant), opening) => self.take_grant(opening, grant),
            (Checked::Refused(why), opening) => match check.token {
                Some(token) if why == TokenError::UnknownKey && !check.is_again => {
                    self.ask_for_keys(opening, token)
                }
                _ => Err(self.refuse_token(opening.is_none(), why)),
            },
            (Checked::Answered(answer), opening) => {
                self.take_answer(Check { opening, ..check }, answer)
            }
            (Checked::Busy, None) => Err(Stop::from(BUSY).into()),
            (Checked::Busy, Some(_)) => {
                let (reason, limit) = (Reason::ServerBusy, Some(Limit::PasswordChecks));
                Err(self.refuse(ConnectRefusal { reason, why: CROWD, limit }))
            }
            (Checked::Right | Checked::Wrong, _) => Err(self.turn_away(WRONG)),
        }
    }

    /// Takes one step of an enhanced authentication.
    pub fn authenticate(&mut self, data: &[u8]) -> Result<(), ConnectionEnd> {
        let plan = self.broker.plan.load_full();
        if self.client.is_none() {
            self.check_attempts(&plan, "")?; // guesses of others do not end who is in
        }
        if self.conversation.takes_token() {
            drop(plan);
            return self.take_token_data(data);
        }
        let users = &plan.authentication.users;
        let secret = &self.broker.passwords.secret;
        let action =
            self.conversation.authenticate(data, users, secret, random(), &mut self.reply)?;
        drop(plan);
        match action {
            Action::Open(opening) => self.admit(*opening),
            _ => Ok(()),
        }
    }

    /// How the client came, for people.
    pub fn arrival(&self, opening: &Opening, session_present: bool) -> String {
        let kept = if session_present { ", its session goes on" } else { "" };
        let replays = if opening.replays { ", plays a recording again" } else { "" };
        let address = &self.connection.origin.address;
        format!("from {address} with {}{kept}{replays}", opening.terms.version)
    }

    /// Checks that the client may publish its will; it needs `publish`, also from a client that replays, whose will
    /// is no recording; it is checked again when the will is published.
    pub fn check_will(&self, opening: &Opening) -> Result<(), ConnectRefusal> {
        let Some(will) = &opening.will else { return Ok(()) };
        let (identity, client_id) = (self.connection.identity(), &*opening.client_id);
        let message = will.publish();
        let grant =
            self.broker.plan.load().access.grant(Subject { identity, client_id }, message.topic);
        if grant.allows(Right::Publish) && (!message.retain || grant.allows(Right::Retain)) {
            return Ok(());
        }
        let why = "the client has no right to publish its will";
        Err(ConnectRefusal { reason: Reason::NotAuthorized, why, limit: None })
    }

    /// Ends a connection whose client was not let in within `connect_ms`.
    pub fn time_out(&mut self) -> ConnectionEnd {
        self.broker.monitor.reached.count(Limit::ConnectMs);
        match self.check.take() {
            None => ConnectionEnd::Silent,
            Some(_) => self.turn_away(BUSY),
        }
    }

    pub fn turn_away(&mut self, Violation { reason, what }: Violation) -> ConnectionEnd {
        self.refuse(ConnectRefusal { reason, why: what, limit: None })
    }
}
