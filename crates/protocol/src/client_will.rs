//! The message that the broker publishes if the client goes without saying so.

use slipring_wire::{PropertiesBuf, PropertyId, QoS, Value, Will, check_topic};

/// A client's will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientWill {
    /// Its topic.
    pub topic: String,
    /// Its payload.
    pub payload: Vec<u8>,
    /// Its QoS.
    pub qos: QoS,
    /// Whether the broker keeps it for later subscribers.
    pub retain: bool,
    /// Seconds that the broker waits for the client to come back before it publishes it.
    pub delay_s: u32,
    /// Those of the message, as [`super::MessageProperties`] encodes them.
    pub properties: PropertiesBuf,
}

/// Bytes of the properties, at most.
const PROPERTIES_BYTES_MAX: usize = 65_535;

impl ClientWill {
    /// Whether CONNECT can carry it.
    pub fn fits(&self) -> bool {
        check_topic(&self.topic).is_ok()
            && u16::try_from(self.payload.len()).is_ok()
            && self.properties.borrow().encoded().len() <= PROPERTIES_BYTES_MAX
    }

    pub(super) fn properties(&self) -> PropertiesBuf {
        let mut properties = self.properties.clone();
        if self.delay_s > 0 {
            properties.push(PropertyId::WillDelayInterval, Value::Four(self.delay_s));
        }
        properties
    }

    pub(super) fn packet<'a>(&'a self, properties: &'a PropertiesBuf) -> Will<'a> {
        Will {
            topic: &self.topic,
            payload: &self.payload,
            qos: self.qos,
            retain: self.retain,
            properties: properties.borrow(),
        }
    }
}
