//! The four kinds of subscription, and the properties that SUBSCRIBE carries for each.

use slipring_wire::{PropertiesBuf, PropertyId, VARINT_MAX, Value};

use super::SendError;
use super::properties::push_user;

/// Says how many requests a service computes at once.
const SERVE_PROPERTY: &str = "slipring-serve";

/// How a subscription is made, and made again on another connection.
#[derive(Clone, Debug)]
pub(super) enum SubscriptionKind {
    /// Without properties: other plain subscriptions of this client may use the same filters.
    Plain,
    /// With user properties, on filters that no other subscription here uses. The broker puts the
    /// identifier on each message of this subscription, and on no other.
    Selected { properties: PropertiesBuf, identifier: u32 },
    /// With the user properties of a service, on filters that no other subscription here uses. Its
    /// messages are known by their topics.
    Serving { properties: PropertiesBuf },
    /// No SUBSCRIBE is sent: the broker answers requests on a topic that the request names.
    AnswersOnly,
}

impl SubscriptionKind {
    /// Plain without user properties, serving with that of a service, else selected.
    pub fn of(user: &[(&str, &str)], identifier: u32) -> Result<Self, SendError> {
        if user.is_empty() {
            return Ok(Self::Plain);
        }
        let mut properties = PropertiesBuf::new();
        for (name, text) in user {
            push_user(&mut properties, name, text)?;
        }
        if user.iter().any(|(name, _)| *name == SERVE_PROPERTY) {
            return Ok(Self::Serving { properties });
        }
        Ok(Self::Selected { properties, identifier })
    }

    /// The properties of SUBSCRIBE.
    pub fn properties(&self, identifiers_available: bool) -> PropertiesBuf {
        match self {
            Self::Plain | Self::AnswersOnly => PropertiesBuf::new(),
            Self::Serving { properties } => properties.clone(),
            Self::Selected { properties, identifier } => {
                let mut all = properties.clone();
                if identifiers_available {
                    all.push(PropertyId::SubscriptionIdentifier, Value::Varint(*identifier));
                }
                all
            }
        }
    }

    /// Whether no other subscription here may use the same filters: the broker has the properties of the
    /// last SUBSCRIBE.
    pub fn is_alone(&self) -> bool {
        matches!(self, Self::Selected { .. } | Self::Serving { .. })
    }

    pub fn identifier(&self) -> Option<u32> {
        match self {
            Self::Selected { identifier, .. } => Some(*identifier),
            Self::Plain | Self::Serving { .. } | Self::AnswersOnly => None,
        }
    }
}

/// The identifier after this one; 0 is none (MQTT 5, 3.8.2.1.2).
pub(super) fn next_identifier(newest: u32) -> u32 {
    newest % VARINT_MAX + 1
}
