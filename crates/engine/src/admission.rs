//! Letting a client in or not: the plan judges, a password is checked, an exchange goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::{Action, ConnectRefusal, Limit, Opening, Proof, Verdict, WRONG};
use slipring_wire::{Reason, Violation};
use tokio::time::timeout;

use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::party::Party;
use crate::passwords::{Checked, nonce};

/// The client's turn did not come in time.
const BUSY: Violation =
    Violation { reason: Reason::ServerBusy, what: "too busy to let the client in" };

/// Others of the same address wait for their turn, too.
const CROWD: &str =
    "too many passwords of this address wait to be checked (limits.password_checks)";

/// How long an earlier connection may take to let go of its session.
const HANDOVER_MAX: Duration = Duration::from_secs(1);

/// What must be before a client is let in: its password is right, or the earlier connection of the
/// same client has let go of the session.
pub(crate) struct Check {
    opening: Opening,
    /// Take the session, whoever has it.
    force: bool,
    outcome: Pin<Box<dyn Future<Output = Checked> + Send>>,
}

impl Check {
    /// Waits for an earlier connection, but not for ever.
    pub fn handover(opening: Opening, held: Arc<ConnectionHandle>) -> Self {
        let left = async move {
            let _ = timeout(HANDOVER_MAX, held.left()).await;
            Checked::Right
        };
        Self { opening, force: true, outcome: Box::pin(left) }
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Checked> {
        self.outcome.as_mut().poll(cx)
    }
}

impl Party {
    /// The end of a client that is not let in.
    pub fn refuse(&mut self, refusal: ConnectRefusal) -> ConnectionEnd {
        let plan = self.broker.plan.load();
        let server = plan.server_reference.as_deref();
        let server = server.filter(|_| refusal.reason == Reason::UseAnotherServer); // T11
        self.conversation.refuse(refusal.reason, refusal.why, server, &mut self.reply);
        ConnectionEnd::Refused(refusal)
    }

    /// The client is let in, or refused, or its password is checked first.
    pub fn admit(&mut self, opening: Opening) -> Result<(), ConnectionEnd> {
        let plan = self.broker.plan.load_full();
        let certified = self.connection.origin.user.is_some();
        let user_name = opening.user_name.as_deref();
        match plan.authentication.judge(user_name, &opening.proof, certified) {
            Verdict::Accepted => {
                if matches!(opening.proof, Proof::Exchanged(_)) {
                    self.connection.prove(user_name);
                }
                self.open(opening, false)
            }
            Verdict::Refused(violation) => Err(self.turn_away(violation)),
            Verdict::Check(name, password) => {
                let passwords = &self.broker.passwords;
                if passwords.remembers(&plan, name, password) {
                    self.connection.prove(user_name);
                    return self.open(opening, false);
                }
                let (passwords, address) = (Arc::clone(passwords), &self.connection.origin.address);
                let check = passwords.check(plan, address, name, password.clone());
                self.check = Some(Check { opening, force: false, outcome: Box::pin(check) });
                Ok(())
            }
        }
    }

    /// The check is done; `checked` is its result.
    pub fn conclude(&mut self, checked: Checked) -> Result<(), ConnectionEnd> {
        match self.check.take() {
            Some(check) if checked == Checked::Right => {
                if !check.force {
                    self.connection.prove(check.opening.user_name.as_deref());
                }
                self.open(check.opening, check.force)
            }
            _ if checked == Checked::Busy => {
                let (reason, limit) = (Reason::ServerBusy, Some(Limit::PasswordChecks));
                Err(self.refuse(ConnectRefusal { reason, why: CROWD, limit }))
            }
            _ => Err(self.turn_away(WRONG)),
        }
    }

    /// A step of an enhanced authentication.
    pub fn authenticate(&mut self, data: &[u8]) -> Result<(), ConnectionEnd> {
        let plan = self.broker.plan.load();
        let users = &plan.authentication.users;
        let secret = &self.broker.passwords.secret;
        let action =
            self.conversation.authenticate(data, users, secret, nonce(), &mut self.reply)?;
        drop(plan);
        match action {
            Action::Open(opening) => self.admit(*opening),
            _ => Ok(()),
        }
    }

    /// The end of a client that is not in when its time is over.
    pub fn time_out(&mut self) -> ConnectionEnd {
        match self.check.take() {
            None => ConnectionEnd::Silent,
            Some(_) => self.turn_away(BUSY),
        }
    }

    fn turn_away(&mut self, Violation { reason, what }: Violation) -> ConnectionEnd {
        self.refuse(ConnectRefusal { reason, why: what, limit: None })
    }
}
