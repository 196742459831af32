//! The user name and password of CONNECT. `Debug` never prints the password.

/// A user name and a password; MQTT 5 allows either alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The user name.
    pub user: Option<String>,
    /// The password, which may be any bytes.
    pub password: Option<Vec<u8>>,
}

impl Credentials {
    /// Whether CONNECT can carry them: 65,535 bytes each, no null character in the name.
    pub fn fit(&self) -> bool {
        let user = self.user.as_deref().unwrap_or_default();
        let password = self.password.as_deref().unwrap_or_default();
        u16::try_from(user.len()).is_ok()
            && !user.contains('\0')
            && u16::try_from(password.len()).is_ok()
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let password = self.password.as_ref().map(|_| "...");
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .field("password", &password)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let secret = Credentials { user: Some("me".into()), password: Some(b"hunter2".into()) };
        let shown = format!("{secret:?}");
        assert!(shown.contains("me") && !shown.contains("hunter2") && !shown.contains("104"));
    }

    #[test]
    fn too_long_credentials_do_not_fit() {
        let long = Credentials { user: None, password: Some(vec![0; 65_536]) };
        assert!(!long.fit());
        assert!(!Credentials { user: Some("a\0".into()), password: None }.fit());
        assert!(Credentials::default().fit());
    }
}
