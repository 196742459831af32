//! How a subscription stands at the broker: with its properties and its identifier, or not at all.

use slipring_wire::{PropertiesBuf, PropertyId, VARINT_MAX, Value};

use super::SendError;
use super::properties::push_user;

/// How a subscription is made, and made again.
#[derive(Clone, Debug)]
pub(super) enum Manner {
    /// Other subscriptions of this client may share its filters.
    Shared,
    /// With user properties, on filters of its own. The identifier comes with each of its messages,
    /// and only with those.
    Selected { properties: PropertiesBuf, identifier: u32 },
    /// The broker is not asked: it answers requests on a topic that the request names.
    Unasked,
}

impl Manner {
    /// Without user properties, a subscription is one of the usual kind.
    pub fn of(user: &[(&str, &str)], identifier: u32) -> Result<Self, SendError> {
        if user.is_empty() {
            return Ok(Self::Shared);
        }
        let mut properties = PropertiesBuf::new();
        for (name, text) in user {
            push_user(&mut properties, name, text)?;
        }
        Ok(Self::Selected { properties, identifier })
    }

    /// What SUBSCRIBE says beside the filters.
    pub fn properties(&self, identifiers_available: bool) -> PropertiesBuf {
        let Self::Selected { properties, identifier } = self else { return PropertiesBuf::new() };
        let mut all = properties.clone();
        if identifiers_available {
            all.push(PropertyId::SubscriptionIdentifier, Value::Varint(*identifier));
        }
        all
    }

    pub fn identifier(&self) -> Option<u32> {
        match self {
            Self::Selected { identifier, .. } => Some(*identifier),
            Self::Shared | Self::Unasked => None,
        }
    }
}

/// The identifier after this one; 0 is none (MQTT 5, 3.8.2.1.2).
pub(super) fn next_identifier(newest: u32) -> u32 {
    newest % VARINT_MAX + 1
}
