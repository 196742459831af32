//! Who a client has proved to be.

use std::sync::{Arc, OnceLock};

/// A proven name with its roles and claims. Whoever has proved nothing is [`Identity::anonymous`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The user name.
    pub user: Option<Box<str>>,
    /// Roles that the proof itself names; those of the plan are added.
    pub roles: Box<[Box<str>]>,
    /// Claims of a token as pairs; a claim with several values is several pairs.
    pub claims: Box<[(Box<str>, Box<str>)]>,
}

/// An identity that acts by a client.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Who acts.
    pub identity: &'a Identity,
    /// The client identifier.
    pub client_id: &'a str,
}

impl Identity {
    /// Somebody who has proved a name, and nothing else.
    pub fn named(user: &str) -> Self {
        Self { user: Some(user.into()), ..Self::default() }
    }

    /// Somebody who has proved nothing.
    pub fn anonymous() -> &'static Arc<Self> {
        static ANONYMOUS: OnceLock<Arc<Identity>> = OnceLock::new();
        ANONYMOUS.get_or_init(Arc::default)
    }

    /// The only value of a claim. A claim with several values is none: which one is meant is not certain.
    pub fn claim(&self, key: &str) -> Option<&str> {
        let mut values = self.claims.iter().filter(|(known, _)| **known == *key);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }
}
