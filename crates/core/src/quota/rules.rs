//! Quotas by user: how much each user, or each address, may have or send, as the `[[quota]]` tables say.

use std::collections::HashMap;

use super::Shares;
use crate::access::{AccessPolicy, RuleError, Subject, Who};
use crate::{Limit, Limits, Owner, Plan};

macro_rules! quotas {
    ($($(#[$doc:meta])* $key:ident;)*) => {
        /// The quotas of one owner; None is no quota.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct OwnerQuotas {
            $($(#[$doc])* pub $key: Option<usize>,)*
        }

        impl OwnerQuotas {
            /// Sets a quota by its key in the configuration. Returns false if there is no such key.
            #[must_use]
            pub fn set(&mut self, key: &str, number: usize) -> bool {
                match key {
                    $(stringify!($key) => self.$key = Some(number),)*
                    _ => return false,
                }
                true
            }

            /// The same, with the quotas of `others` where there are none.
            fn or(self, others: &Self) -> Self {
                Self { $($key: self.$key.or(others.$key),)* }
            }
        }
    };
}

quotas! {
    /// Connections at once; a further one is refused (0x97).
    connections;
    /// Messages that it may publish in a second, on all its connections; beyond it they are read more slowly.
    messages_per_s;
    /// Bytes that it may send in a second; beyond it its connections are read more slowly.
    bytes_per_s;
    /// Subscriptions of all its sessions; a further one is refused (0x97).
    subscriptions;
    /// Bytes of its retained messages, and of those that wait for their first subscriber, each; a further one is
    /// refused (0x97).
    stored_bytes;
    /// Parameters that it has declared; a declaration of further ones is refused.
    parameters;
    /// Its requests that are not over; a further one is refused (0x97).
    requests;
}

impl OwnerQuotas {
    /// Whether an owner with so many subscriptions may have one more.
    pub fn has_room_for_subscription(&self, held: usize) -> bool {
        self.subscriptions.is_none_or(|most| held < most)
    }

    /// Whether the owner's rate of messages or bytes is bounded.
    pub fn has_rate(&self) -> bool {
        self.messages_per_s.is_some() || self.bytes_per_s.is_some()
    }
}

/// Whom a rule is about, and the quotas that each of them has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QuotaRule {
    who: Vec<Who>,
    quotas: OwnerQuotas,
}

/// All `[[quota]]` tables, in their order. For each quota the first table that is about a client and has it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaRules {
    rules: Vec<QuotaRule>,
    /// The rules that name a user, and those that may be about anybody: a client with thousands of rules about others
    /// costs no more than one with none.
    users: HashMap<Box<str>, Vec<usize>>,
    general: Vec<usize>,
}

impl QuotaRules {
    /// Adds a rule.
    pub fn add<S: AsRef<str>>(&mut self, who: &[S], quotas: OwnerQuotas) -> Result<(), RuleError> {
        let who: Vec<Who> =
            who.iter().map(|who| Who::parse(who.as_ref())).collect::<Result<_, _>>()?;
        let at = self.rules.len();
        for one in &who {
            let about = match one {
                Who::User(name) => self.users.entry(name.clone()).or_default(),
                _ => &mut self.general,
            };
            if about.last() != Some(&at) {
                about.push(at);
            }
        }
        self.rules.push(QuotaRule { who, quotas });
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The quotas of somebody.
    pub fn of(&self, policy: &AccessPolicy, subject: Subject<'_>) -> OwnerQuotas {
        let named = subject.identity.user.as_ref().and_then(|user| self.users.get(user));
        let mut about: Vec<usize> =
            named.into_iter().chain([&self.general]).flatten().copied().collect();
        about.sort_unstable();
        let about = about.into_iter().map(|at| &self.rules[at]);
        let about = about.filter(|rule| rule.is_about(policy, subject));
        about.fold(OwnerQuotas::default(), |quotas, rule| quotas.or(&rule.quotas))
    }
}

impl QuotaRule {
    fn is_about(&self, policy: &AccessPolicy, subject: Subject<'_>) -> bool {
        let identity = subject.identity;
        self.who.iter().any(|who| match who {
            Who::Anyone => true,
            Who::Anonymous => identity.user.is_none(),
            Who::Known => identity.user.is_some(),
            Who::User(name) => identity.user.as_ref() == Some(name),
            Who::Role(name) => policy.has_role(subject, name),
            Who::Claim(name, value) => {
                identity.claims.iter().any(|(key, own)| key == name && own == value)
            }
        })
    }
}

impl Plan {
    /// The limits for what somebody does, with its own quotas.
    pub fn limits_for(&self, subject: Subject<'_>) -> Limits {
        if self.quotas.is_empty() {
            return self.limits;
        }
        Limits { own: self.quotas.of(&self.access, subject), ..self.limits }
    }
}

/// What an owner may have beyond its share in a limit that all owners divide.
pub(super) fn check_own(
    own: Option<(usize, Limit)>,
    shares: &Shares,
    owner: &Owner,
    more: usize,
) -> Result<(), Limit> {
    match own {
        Some((most, limit)) if shares.held(owner) + more > most => Err(limit),
        _ => Ok(()),
    }
}
