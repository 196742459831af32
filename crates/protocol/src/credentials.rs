//! What a client proves its name with. `Debug` never prints a secret.

use zeroize::Zeroizing;

/// How a client proves its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProofMethod {
    /// CONNECT carries the user name and the password.
    #[default]
    Password,
    /// Neither side sends the password: SCRAM-SHA-256 by enhanced authentication (MQTT 5, 4.12).
    Scram,
    /// The password is a token, sent by enhanced authentication as `OAUTH2-JWT`.
    Token,
}

/// A user name and a password, which may be a token; MQTT 5 allows either alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The user name.
    pub user: Option<String>,
    /// The password, which may be any bytes, or the token. Its memory is overwritten when it is dropped.
    pub password: Option<Zeroizing<Vec<u8>>>,
    /// How they are sent.
    pub method: ProofMethod,
    /// Whether the owner gives another token before each further connection
    /// ([`super::ClientProtocol::renew`]).
    pub renewed: bool,
}

/// 32 random bytes, different for every client: the nonces of SCRAM are made from them.
#[derive(Clone, Default)]
pub struct NonceSeed(pub [u8; 32]);

impl ProofMethod {
    /// The method's name in MQTT; `None` if it is not an enhanced authentication.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Password => None,
            Self::Scram => Some("SCRAM-SHA-256"),
            Self::Token => Some("OAUTH2-JWT"),
        }
    }
}

impl Credentials {
    /// Whether CONNECT can carry them: 65,535 bytes each, no null character in the name.
    pub fn fit(&self) -> bool {
        let user = self.user.as_deref().unwrap_or_default();
        u16::try_from(user.len()).is_ok()
            && !user.contains('\0')
            && u16::try_from(self.secret().len()).is_ok()
    }

    /// Whether the method has what it needs.
    pub fn are_complete(&self) -> bool {
        match self.method {
            ProofMethod::Password => true,
            ProofMethod::Scram => {
                self.user.as_deref().is_some_and(|user| !user.is_empty()) && self.password.is_some()
            }
            ProofMethod::Token => !self.secret().is_empty(),
        }
    }

    /// The password or the token.
    pub(super) fn secret(&self) -> &[u8] {
        self.password.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let password = self.password.as_ref().map(|_| "...");
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .field("password", &password)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for NonceSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NonceSeed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(user: Option<&str>, password: Option<&[u8]>) -> Credentials {
        let password = password.map(|bytes| Zeroizing::new(bytes.to_vec()));
        Credentials { user: user.map(str::to_owned), password, ..Credentials::default() }
    }

    #[test]
    fn a_password_is_never_shown() {
        let shown = format!("{:?}", given(Some("me"), Some(b"hunter2")));
        assert!(shown.contains("me") && !shown.contains("hunter2") && !shown.contains("104"));
    }

    #[test]
    fn too_long_credentials_do_not_fit() {
        assert!(!given(None, Some(&vec![0; 65_536])).fit());
        assert!(!given(Some("a\0"), None).fit());
        assert!(Credentials::default().fit());
    }

    #[test]
    fn scram_needs_a_name_and_a_password_and_a_token_is_not_empty() {
        let complete =
            |user, password, method| Credentials { method, ..given(user, password) }.are_complete();
        assert!(complete(None, None, ProofMethod::Password));
        assert!(complete(Some("me"), Some(b"pw"), ProofMethod::Scram));
        assert!(!complete(Some(""), Some(b"pw"), ProofMethod::Scram));
        assert!(!complete(Some("me"), None, ProofMethod::Scram));
        assert!(complete(None, Some(b"token"), ProofMethod::Token));
        assert!(!complete(Some("me"), Some(b""), ProofMethod::Token));
    }
}
