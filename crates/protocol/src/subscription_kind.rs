//! The three kinds of subscription, and the properties that SUBSCRIBE carries for each.

use slipring_wire::{PropertiesBuf, PropertyId, VARINT_MAX, Value};

use super::SendError;
use super::properties::push_user;

/// How a subscription is made, and made again on another connection.
#[derive(Clone, Debug)]
pub(super) enum SubscriptionKind {
    /// Without properties: other plain subscriptions of this client may use the same filters.
    Plain,
    /// With user properties, on filters that no other subscription here uses. The broker puts the
    /// identifier on each message of this subscription, and on no other.
    Selected { properties: PropertiesBuf, identifier: u32 },
    /// No SUBSCRIBE is sent: the broker answers requests on a topic that the request names.
    AnswersOnly,
}

impl SubscriptionKind {
    /// Selected if there are user properties, else plain.
    pub fn of(user: &[(&str, &str)], identifier: u32) -> Result<Self, SendError> {
        if user.is_empty() {
            return Ok(Self::Plain);
        }
        let mut properties = PropertiesBuf::new();
        for (name, text) in user {
            push_user(&mut properties, name, text)?;
        }
        Ok(Self::Selected { properties, identifier })
    }

    /// The properties of SUBSCRIBE.
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
            Self::Plain | Self::AnswersOnly => None,
        }
    }
}

/// The identifier after this one; 0 is none (MQTT 5, 3.8.2.1.2).
pub(super) fn next_identifier(newest: u32) -> u32 {
    newest % VARINT_MAX + 1
}
