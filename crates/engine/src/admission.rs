//! Letting a client in or not: the plan judges, a password is checked, an exchange goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use slipring_core::{Action, Opening, Verdict, WRONG};
use slipring_wire::{Reason, Violation};

use crate::party::{End, Party};
use crate::passwords::{Passwords, nonce};
use crate::registry::Refusal;

/// The client's turn did not come in time.
const BUSY: Violation =
    Violation { reason: Reason::ServerBusy, what: "too many passwords to check" };

/// A password being checked, and what its client is let in with if it is right.
pub(crate) struct Check {
    opening: Opening,
    right: Pin<Box<dyn Future<Output = bool> + Send>>,
}

impl Check {
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.right.as_mut().poll(cx)
    }
}

impl Party {
    /// The client is let in, or refused, or its password is checked first.
    pub fn admit(&mut self, opening: Opening) -> Result<(), End> {
        let plan = self.broker.plan.load_full();
        let certified = self.link.origin.user.is_some();
        let user_name = opening.user_name.as_deref();
        match plan.authentication.judge(user_name, &opening.proof, certified) {
            Verdict::Accepted => self.open(opening),
            Verdict::Refused(violation) => Err(self.turn_away(violation)),
            Verdict::Check(name, password) => {
                let passwords = &self.broker.passwords;
                if passwords.remembers(&plan, name, password) {
                    return self.open(opening);
                }
                let check =
                    Passwords::check(Arc::clone(passwords), plan, name.into(), password.clone());
                self.check = Some(Check { opening, right: Box::pin(check) });
                Ok(())
            }
        }
    }

    /// The password was checked.
    pub fn conclude(&mut self, right: bool) -> Result<(), End> {
        match self.check.take() {
            Some(check) if right => self.open(check.opening),
            _ => Err(self.turn_away(WRONG)),
        }
    }

    /// A step of an enhanced authentication.
    pub fn authenticate(&mut self, data: &[u8]) -> Result<(), End> {
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
    pub fn time_out(&mut self) -> End {
        match self.check.take() {
            None => End::Silent,
            Some(_) => self.turn_away(BUSY),
        }
    }

    fn turn_away(&mut self, Violation { reason, what }: Violation) -> End {
        self.refuse(Refusal { reason, why: what, limit: None })
    }
}
