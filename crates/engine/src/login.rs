//! What the console asks about a person who logs in: whether the password is right, and whether the user is still the
//! same. A password waits in the same line as those of MQTT clients.

use std::sync::Arc;
use std::time::Duration;

use slipring_core::Password;

use crate::Engine;
use crate::passwords::Checked;

/// The result of a login with a name and a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordCheck {
    /// There is such a user, with this password.
    Right,
    /// There is no such user, or it has another password.
    Wrong,
    /// Not checked: too many wait.
    Busy,
}

impl PasswordCheck {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Busy => "busy",
        }
    }
}

impl Engine {
    /// Whether this is the user's password. Waits for its turn, at most `limits.connect_ms`; takes equally long for an
    /// unknown name. `address` is HOST:PORT of who asks.
    pub fn check_password(&self, name: &str, password: &[u8], address: &str) -> PasswordCheck {
        let plan = self.plan();
        let password = Password::from(password);
        let passwords = &self.broker.passwords;
        if passwords.remembers(&plan, name, &password) {
            return PasswordCheck::Right;
        }
        let Some(engine) = self.engine_handle() else { return PasswordCheck::Busy };
        let most = Duration::from_millis(plan.limits.connect_ms);
        let check = Arc::clone(passwords).check(plan, address, name, password);
        match engine.block_on(async { tokio::time::timeout(most, check).await }) {
            Ok(Checked::Right) => PasswordCheck::Right,
            Ok(Checked::Busy) | Err(_) => PasswordCheck::Busy,
            Ok(_) => PasswordCheck::Wrong, // nothing but a password was asked about
        }
    }

    /// A mark of a user that changes with the password; None if there is no such user. It reveals nothing of either.
    pub fn user_mark(&self, name: &str) -> Option<[u8; 32]> {
        let plan = self.plan();
        let users = &plan.authentication.users;
        users.has(name).then(|| users.fingerprint(name, b"", &self.broker.passwords.secret))
    }
}
