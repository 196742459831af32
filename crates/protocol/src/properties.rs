//! The properties of an outbound message, checked before they are encoded.

use slipring_wire::{Properties, PropertiesBuf, PropertyId, Value, check_topic};

use super::SendError;

/// What a message may carry beside its payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageProperties<'a> {
    /// What the payload is, such as a MIME type.
    pub content_type: Option<&'a str>,
    /// The topic on which a response is expected.
    pub response_topic: Option<&'a str>,
    /// Which request a response belongs to.
    pub correlation_data: Option<&'a [u8]>,
    /// Seconds after which it expires.
    pub expiry_s: Option<u32>,
}

impl MessageProperties<'_> {
    /// Encodes the properties, and these user properties after them.
    pub fn encode<'u>(
        &self,
        user: impl IntoIterator<Item = (&'u str, &'u str)>,
    ) -> Result<PropertiesBuf, SendError> {
        let mut encoded = PropertiesBuf::new();
        if let Some(seconds) = self.expiry_s {
            encoded.push(PropertyId::MessageExpiryInterval, Value::Four(seconds));
        }
        if let Some(kind) = self.content_type {
            check_text("content_type", kind)?;
            encoded.push(PropertyId::ContentType, Value::Text(kind));
        }
        if let Some(topic) = self.response_topic {
            check_topic(topic).map_err(|error| SendError::Topic(topic.to_owned(), error))?;
            encoded.push(PropertyId::ResponseTopic, Value::Text(topic));
        }
        if let Some(data) = self.correlation_data {
            if u16::try_from(data.len()).is_err() {
                return Err(SendError::Property("correlation_data".to_owned()));
            }
            encoded.push(PropertyId::CorrelationData, Value::Binary(data));
        }
        for (name, text) in user {
            push_user(&mut encoded, name, text)?;
        }
        Ok(encoded)
    }
}

/// Adds a user property, if MQTT can carry it.
pub(super) fn push_user(
    encoded: &mut PropertiesBuf,
    name: &str,
    text: &str,
) -> Result<(), SendError> {
    check_text(name, name)?;
    check_text(name, text)?;
    encoded.push(PropertyId::UserProperty, Value::Pair(name, text));
    Ok(())
}

fn check_text(name: &str, text: &str) -> Result<(), SendError> {
    if u16::try_from(text.len()).is_err() || text.contains('\0') {
        return Err(SendError::Property(name.to_owned()));
    }
    Ok(())
}

/// The broker's own words about a reason, if it sent any.
pub(super) fn reason_string(properties: Properties<'_>) -> Option<String> {
    properties.text(PropertyId::ReasonString).map(str::to_owned)
}
