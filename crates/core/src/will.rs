//! The will: a message to publish when the client disappears without a DISCONNECT.

use slipring_wire::{PropertiesBuf, PropertyId, Publish, QoS, Will, check_topic};

/// The will of a client, which the broker keeps until the connection ends and its delay is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WillMessage {
    topic: Box<str>,
    payload: Box<[u8]>,
    qos: QoS,
    retain: bool,
    /// Properties as encoded, without the delay (MQTT-3.1.3-9).
    properties: PropertiesBuf,
    /// Seconds to wait for the client to come back. The will is published earlier if the session ends.
    pub delay_s: u32,
}

impl From<Will<'_>> for WillMessage {
    fn from(will: Will<'_>) -> Self {
        let mut properties = PropertiesBuf::new();
        for (id, value) in will.properties.iter() {
            if id != PropertyId::WillDelayInterval {
                properties.push(id, value);
            }
        }
        Self {
            topic: will.topic.into(),
            payload: will.payload.into(),
            qos: will.qos,
            retain: will.retain,
            properties,
            delay_s: will.properties.number(PropertyId::WillDelayInterval).unwrap_or(0),
        }
    }
}

impl WillMessage {
    /// Makes a will of a stored one, and checks its topic.
    pub(crate) fn restored(publish: &Publish<'_>, delay_s: u32) -> Result<Self, &'static str> {
        let Publish { topic, payload, qos, retain, properties, .. } = *publish;
        check_topic(topic).map_err(|_| "a stored will has no valid topic")?;
        let (topic, payload, properties) = (topic.into(), payload.into(), properties.into());
        Ok(Self { topic, payload, qos, retain, properties, delay_s })
    }

    /// The message to publish.
    pub fn publish(&self) -> Publish<'_> {
        Publish {
            qos: self.qos,
            retain: self.retain,
            properties: self.properties.borrow(),
            ..Publish::new(&self.topic, &self.payload)
        }
    }
}
