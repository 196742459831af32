//! Who a client is: users, what proves them, and who is let in. Passwords are never kept or shown.
//!
//! Pure: randomness comes in as a [`Secret`] and as nonces.

mod scram;
#[cfg(test)]
mod scram_tests;
mod secret;
mod users;
mod verifier;

pub use scram::{METHOD, NONCE_BYTES, Proven, Scram};
pub use secret::{Password, Secret};
pub use users::Users;
pub use verifier::{Verifier, VerifierError};

use slipring_wire::{Reason, Violation};

/// Whom the broker lets in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authentication {
    /// Who may connect; while there are none, everyone may.
    pub users: Users,
    /// Whether a client that brings no credentials is let in although there are users.
    pub anonymous: bool,
}

/// What a client brings to prove that it is who it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing.
    Nothing,
    /// A password, to be checked.
    Password(Password),
    /// It has proved its name in an exchange; this is the broker's own proof, for CONNACK.
    Exchanged(String),
}

/// What becomes of a client that asks to be let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is let in.
    Accepted,
    /// This user's password decides: [`Users::verify_password`].
    Check(&'a str, &'a Password),
    /// It is not let in.
    Refused(Violation),
}

/// The user name or the password is wrong; nobody is told which.
pub const WRONG: Violation = Violation {
    reason: Reason::BadUserNameOrPassword,
    what: "the user name or the password is wrong",
};
/// The client brings nothing to prove who it is.
pub const UNPROVED: Violation =
    Violation { reason: Reason::NotAuthorized, what: "a user name and a password are needed" };

impl Authentication {
    /// Judges what a client brings; `certified` says that its transport has proved a name already.
    pub fn judge<'a>(
        &self,
        user_name: Option<&'a str>,
        proof: &'a Proof,
        certified: bool,
    ) -> Verdict<'a> {
        match (user_name, proof) {
            (_, Proof::Exchanged(_)) => Verdict::Accepted,
            _ if certified || self.users.is_empty() => Verdict::Accepted,
            (None, Proof::Nothing) if self.anonymous => Verdict::Accepted,
            (None, Proof::Nothing) => Verdict::Refused(UNPROVED),
            (Some(name), Proof::Password(password)) => Verdict::Check(name, password),
            _ => Verdict::Refused(WRONG), // a password left out is not a match (CVE-2016-9877)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authentication(anonymous: bool) -> Authentication {
        let verifier = Verifier::new(b"pencil", b"salt of 16 bytes", 4096).unwrap();
        Authentication { users: Users::new([("user".into(), verifier)]).unwrap(), anonymous }
    }

    #[test]
    fn each_kind_of_credentials_has_its_verdict() {
        let password = Password::from(&b"pencil"[..]);
        let given = || Proof::Password(password.clone());
        let (unproved, wrong) = (Verdict::Refused(UNPROVED), Verdict::Refused(WRONG));
        let check = |name| Verdict::Check(name, &password);
        let rows = [
            // user name, proof, and the verdict without and with anonymous clients
            (None, Proof::Nothing, unproved, Verdict::Accepted),
            (Some("user"), Proof::Nothing, wrong, wrong),
            (Some(""), Proof::Nothing, wrong, wrong),
            (None, given(), wrong, wrong),
            (Some("user"), given(), check("user"), check("user")),
            (Some("nobody"), given(), check("nobody"), check("nobody")),
            (Some("user"), Proof::Exchanged("v=".into()), Verdict::Accepted, Verdict::Accepted),
        ];
        for (user_name, proof, strict, open) in rows {
            assert_eq!(authentication(false).judge(user_name, &proof, false), strict);
            assert_eq!(authentication(true).judge(user_name, &proof, false), open);
            assert_eq!(authentication(false).judge(user_name, &proof, true), Verdict::Accepted);
            let nobody = Authentication::default();
            assert_eq!(nobody.judge(user_name, &proof, false), Verdict::Accepted);
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let shown = format!("{:?}", authentication(false));
        assert_eq!(shown, "Authentication { users: Users(1), anonymous: false }");
        assert_eq!(format!("{:?}", Password::from(&b"pencil"[..])), "Password");
        assert_eq!(format!("{:?}", Secret::from([1; 32])), "Secret");
    }
}
