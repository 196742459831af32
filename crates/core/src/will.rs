//! The will: a message to publish when the client goes without a goodbye.

use slipring_wire::{
    Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Violation, Will, check_topic,
};

/// The will, kept until the connection ends, and its delay after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WillMessage {
    topic: Box<str>,
    payload: Box<[u8]>,
    qos: QoS,
    retain: bool,
    /// Properties as encoded, without the delay (MQTT-3.1.3-9).
    properties: PropertiesBuf,
    /// Seconds to wait for the client to come back; the end of the session ends the wait.
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
    /// A will that was stored, after its bytes are checked.
    pub(crate) fn restored(
        topic: &str,
        properties: &[u8],
        payload: &[u8],
        delay_s: u32,
    ) -> Result<Self, Violation> {
        if check_topic(topic).is_err() {
            let what = "a stored will has no valid topic";
            return Err(Violation { reason: Reason::TopicNameInvalid, what });
        }
        let properties = Properties::of_publish(properties)?.into();
        let (topic, payload) = (topic.into(), payload.into());
        Ok(Self { topic, payload, qos: QoS::AtMostOnce, retain: false, properties, delay_s })
    }

    /// The same will, published like this.
    pub(crate) fn with(self, qos: QoS, retain: bool) -> Self {
        Self { qos, retain, ..self }
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
