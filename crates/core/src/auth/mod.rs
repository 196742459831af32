//! Authentication: the users, and how a client proves to be one of them. Passwords are never stored or shown.
//!
//! Pure: the caller passes random bytes as a [`Secret`] and as nonces.

mod scram;
#[cfg(test)]
mod scram_tests;
mod secret;
mod token;
mod users;
mod verifier;

pub use scram::NONCE_BYTES;
pub(crate) use scram::{METHOD, Proven, Scram};
pub use secret::{Password, Secret};
pub(crate) use token::TOKEN_METHOD;
pub use token::{
    TOKEN_BYTES_MAX, TokenAlgorithm, TokenError, TokenGrant, TokenIssuer, TokenKeyError, TokenKeys,
    TokenRules, TokenSigner,
};
pub use users::Users;
pub use verifier::{Verifier, VerifierError};

use std::sync::Arc;

use slipring_wire::{Reason, Violation};

/// Which clients the broker lets in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authentication {
    /// The users who may connect; if there are none, every client may.
    pub users: Users,
    /// Whether a client without user name and password is let in although there are users.
    pub anonymous: bool,
    /// Which tokens are accepted.
    pub tokens: Arc<TokenRules>,
    /// Whether a service elsewhere is asked about a client whose password no user here has.
    pub asks: bool,
}

/// How a client proves its user name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Not at all.
    Nothing,
    /// With a password, which is not checked yet.
    Password(Password),
    /// It has proved it with AUTH packets, by this method. The text is the broker's own proof, for CONNACK.
    Exchanged(&'static str, String),
}

/// The decision about a client that wants to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is let in.
    Accepted,
    /// It is let in if this is the user's password: see [`Users::verify_password`].
    Check(&'a str, &'a Password),
    /// It is let in if this token is accepted: see [`TokenRules::verify`].
    CheckToken(&'a Password),
    /// It is let in if the service elsewhere says so.
    Ask(&'a Password),
    /// It is not let in.
    Refused(Violation),
}

/// The user name or the password is wrong; the client does not learn which.
pub const WRONG: Violation = Violation {
    reason: Reason::BadUserNameOrPassword,
    what: "the user name or the password is wrong",
};
/// The client has neither a user name nor a password.
const UNPROVED: Violation =
    Violation { reason: Reason::NotAuthorized, what: "a user name and a password are needed" };

impl Authentication {
    /// Whether every client is let in, because there is nothing that tells clients apart.
    pub fn is_open(&self) -> bool {
        self.users.is_empty() && self.tokens.is_empty() && !self.asks
    }

    /// Decides about a client; `certified` says that a certificate has proved its name already.
    pub fn judge<'a>(
        &self,
        user_name: Option<&'a str>,
        proof: &'a Proof,
        certified: bool,
    ) -> Verdict<'a> {
        match (user_name, proof) {
            (_, Proof::Exchanged(..)) => Verdict::Accepted,
            _ if certified || self.is_open() => Verdict::Accepted,
            (None, Proof::Nothing) if self.anonymous => Verdict::Accepted,
            (None, Proof::Nothing) => Verdict::Refused(UNPROVED),
            (_, Proof::Password(password)) if self.tokens.is_token(password.as_ref()) => {
                Verdict::CheckToken(password)
            }
            (name, Proof::Password(password))
                if self.asks && name.is_none_or(|name| !self.users.has(name)) =>
            {
                Verdict::Ask(password)
            }
            (Some(name), Proof::Password(password)) => Verdict::Check(name, password),
            _ => Verdict::Refused(WRONG), // no password is not a match (CVE-2016-9877)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn authentication(anonymous: bool) -> Authentication {
        let verifier = Verifier::new(b"pencil", b"salt of 16 bytes", 4096).unwrap();
        let users = Users::new([("user".into(), verifier)]).unwrap();
        Authentication { users, anonymous, ..Authentication::default() }
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
            (
                Some("user"),
                Proof::Exchanged(METHOD, "v=".into()),
                Verdict::Accepted,
                Verdict::Accepted,
            ),
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
    fn a_token_is_told_from_a_password_and_others_are_asked_about() {
        let issuer = TokenIssuer::new("us", TokenKeys::default());
        let tokens = Arc::new(TokenRules::new(vec![issuer], HashMap::new(), HashMap::new()));
        let with_tokens = Authentication { tokens, ..authentication(false) };
        let with_both = Authentication { asks: true, ..with_tokens.clone() };
        let (token, password) =
            (Password::from(&b"eyJhbGciOiJub25lIn0.."[..]), Password::from(&b"ey.."[..]));
        let judge = |authentication: &Authentication, name, given: &Password| {
            let proof = Proof::Password(given.clone());
            format!("{:?}", authentication.judge(name, &proof, false))
        };
        let rows = [
            (&with_tokens, Some("user"), &token, "CheckToken(Password)"),
            (&with_tokens, None, &token, "CheckToken(Password)"),
            (&with_tokens, Some("user"), &password, "Check(\"user\", Password)"),
            (&with_both, Some("user"), &password, "Check(\"user\", Password)"),
            (&with_both, Some("else"), &password, "Ask(Password)"),
            (&with_both, None, &token, "CheckToken(Password)"),
            (&authentication(false), Some("user"), &token, "Check(\"user\", Password)"),
        ];
        for (authentication, name, given, verdict) in rows {
            assert_eq!(judge(authentication, name, given), verdict);
        }
        let only_tokens = Authentication { users: Users::default(), ..with_tokens };
        assert_eq!(only_tokens.judge(None, &Proof::Nothing, false), Verdict::Refused(UNPROVED));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let shown = format!("{:?}", authentication(false));
        let rest = "tokens: TokenRules(0 issuers, 0 revoked), asks: false";
        assert_eq!(
            shown,
            format!("Authentication {{ users: Users(1), anonymous: false, {rest} }}")
        );
        assert_eq!(format!("{:?}", Password::from(&b"pencil"[..])), "Password");
        assert_eq!(format!("{:?}", Secret::from([1; 32])), "Secret");
    }
}
