//! The will: a message to publish when the client goes without a goodbye.

use slipring_wire::{PropertiesBuf, PropertyId, Publish, Will};

/// The will, kept until the connection ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WillMessage {
    /// Where to.
    pub topic: String,
    /// What.
    pub payload: Vec<u8>,
    /// Properties as encoded, without the delay.
    pub properties: PropertiesBuf,
}

impl From<Will<'_>> for WillMessage {
    fn from(will: Will<'_>) -> Self {
        let mut properties = PropertiesBuf::new();
        for (id, value) in will.properties.iter() {
            if id != PropertyId::WillDelayInterval {
                properties.push(id, value);
            }
        }
        Self { topic: will.topic.into(), payload: will.payload.into(), properties }
    }
}

impl WillMessage {
    /// The message to publish.
    pub fn publish(&self) -> Publish<'_> {
        Publish { properties: self.properties.borrow(), ..Publish::new(&self.topic, &self.payload) }
    }
}
