//! What the audit keeps: the kinds of its records, and the rules of the plan about them. It writes nothing itself.

/// Defines the kinds with their names, and a list of all.
macro_rules! kinds {
    ($($(#[$meaning:meta])* $kind:ident = $name:literal,)*) => {
        /// The kinds of records in the audit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum AuditKind {
            $($(#[$meaning])* $kind,)*
        }

        impl AuditKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Its name in records, topics and the configuration.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The broker began to keep the audit.
    Started = "started",
    /// The broker stopped in order.
    Stopped = "stopped",
    /// A client was let in.
    Connected = "connected",
    /// A client that was let in has gone.
    Disconnected = "disconnected",
    /// A connection ended before its client was let in.
    Refused = "refused",
    /// A client subscribed to messages, or became a service.
    Subscribed = "subscribed",
    /// A client selected parameters or followed streams.
    Selected = "selected",
    /// Somebody read the journal, or asked for values.
    Read = "read",
    /// Somebody did what no rule allows.
    Denied = "denied",
    /// Somebody changed the configuration, rights, users, limits or sessions.
    Changed = "changed",
    /// Somebody logged in to the console, or tried.
    Login = "login",
    /// Somebody logged out of the console.
    Logout = "logout",
    /// A token was issued.
    TokenIssued = "token_issued",
    /// A token was revoked.
    TokenRevoked = "token_revoked",
    /// A user or an address reached a quota.
    Quota = "quota",
    /// Records were not written: there were too many, or the disk took none.
    Lost = "lost",
}

impl AuditKind {
    /// The kind with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Its bit in a set of kinds.
    pub const fn bit(self) -> u32 {
        1 << self as u8
    }

    /// Whether records tell of the audit itself: they are always written.
    pub fn is_about_audit(self) -> bool {
        matches!(self, Self::Started | Self::Stopped | Self::Lost)
    }
}

/// The plan's rules about the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditRules {
    /// The kinds that are written, as a set of [`AuditKind::bit`]; 0 keeps no audit.
    pub kinds: u32,
    /// Records older than so many seconds are removed; None: age is no reason.
    pub age_s: Option<u64>,
    /// The oldest records beyond so many bytes are removed; None: size is no reason.
    pub bytes: Option<u64>,
    /// Whether no client is let in while the audit cannot be written.
    pub is_required: bool,
}

impl AuditRules {
    /// No audit.
    pub const OFF: Self = Self { kinds: 0, age_s: None, bytes: None, is_required: false };

    /// Whether an audit is kept at all.
    pub fn is_on(&self) -> bool {
        self.kinds != 0
    }
}

impl Default for AuditRules {
    fn default() -> Self {
        Self::OFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name_and_has_a_bit_of_its_own() {
        let mut bits = 0;
        for kind in AuditKind::ALL {
            assert_eq!(AuditKind::of(kind.name()), Some(*kind));
            assert_eq!(bits & kind.bit(), 0);
            bits |= kind.bit();
        }
        assert_eq!(AuditKind::of("unheard of"), None);
    }
}
