//! Encodes the message that is being delivered: once for each form that subscribers get, with the payload shared if it
//! is large.

use std::sync::Arc;

use slipring_core::{
    Delivery, Expiry, Extras, Message, Millis, Outgoing, Priority, Pushed, SHARED_BYTES_MIN,
    SharedBytes, encode, encode_head,
};
use slipring_wire::{Publish, QoS, Version};

/// Subscribers that are far behind share payloads of at least this size, if there are `SUBSCRIBERS_MANY`: each may
/// hold thousands of them.
const SHARED_BEHIND_BYTES_MIN: usize = 512;
const SUBSCRIBERS_MANY: usize = 8;

/// The forms of one message at QoS 0.
#[derive(Default)]
pub(crate) struct Encoded {
    /// The buffer that messages were read into, if it can be shared: their payload is shared from there.
    pub buffer: Option<SharedBytes>,
    /// Encoded at most once for each version and retain flag; of a message with a shared payload only what
    /// comes before it.
    forms: [Vec<u8>; 4],
    /// The form for one subscriber alone, with its subscription identifiers.
    identified: Vec<u8>,
    /// The shared payload in a buffer of about its length, once a subscriber holds it.
    payload: Option<SharedBytes>,
    /// The shared payload in the buffer where it was read among other packets, once a subscriber holds it.
    part: Option<SharedBytes>,
    /// Whether subscribers that are far behind share the payload although it is not large.
    shares_behind: bool,
}

/// How one subscriber gets a message.
pub(crate) struct Form<'a> {
    pub retain: bool,
    pub identifiers: &'a [u32],
    pub expiry: Option<Expiry>,
    pub priority: Priority,
}

impl Encoded {
    /// Begins with another message, for so many subscribers.
    #[inline]
    pub fn begin(&mut self, message: &Publish<'_>, subscribers: usize) {
        self.forms.iter_mut().for_each(Vec::clear);
        (self.payload, self.part) = (None, None);
        let is_for_many = subscribers >= SUBSCRIBERS_MANY;
        self.shares_behind = is_for_many && message.payload.len() >= SHARED_BEHIND_BYTES_MIN;
    }

    /// Drops the buffer and the payload: an idle publisher holds neither.
    pub fn release(&mut self) {
        (self.buffer, self.payload, self.part) = (None, None, None);
    }

    /// Adds the message to an outbox.
    #[inline]
    pub fn push(&mut self, message: &Publish<'_>, form: &Form<'_>, to: &mut Outgoing) -> Pushed {
        let Some(version) = to.version() else { return Pushed::Quiet };
        let bytes = message.payload.len();
        if bytes >= SHARED_BYTES_MIN || (self.shares_behind && to.is_far_behind()) {
            let payload = self.part_for(message, to).unwrap_or_else(|| self.share(message));
            let encoded = self.form(message, version, form);
            let head = without_payload(encoded, bytes);
            return to.push_shared(head, &payload, form.expiry, form.priority);
        }
        to.push_encoded(self.form(message, version, form), form.expiry, form.priority)
    }

    /// Adds a message that the broker kept to an outbox, at QoS 0.
    pub fn push_kept(&mut self, delivery: &Delivery, to: &mut Outgoing) -> Pushed {
        let Some(version) = to.version() else { return Pushed::Quiet };
        let Delivery { message, qos, retain, identifiers, priority, .. } = delivery;
        let topic = delivery.topic();
        let publish = Publish { topic: &topic, qos: *qos, retain: *retain, ..message.publish() };
        let extras = Extras::identified(identifiers.as_deref().unwrap_or_default());
        let head = &mut self.identified;
        head.clear();
        if let Some(payload) = message.shared_payload() {
            encode_head(publish, payload.len(), &extras, version, head);
            return to.push_shared(head, payload, message.expiry(), *priority);
        }
        encode(publish, &extras, version, head);
        to.push_encoded(head, message.expiry(), *priority)
    }

    /// Makes a message that can be kept; a large payload is shared.
    pub fn keep(&mut self, message: &Publish<'_>, topic: Arc<str>, now_ms: Millis) -> Message {
        if message.payload.len() < SHARED_BYTES_MIN {
            return Message::new(message, topic, now_ms);
        }
        Message::sharing(message, self.share(message), topic, now_ms)
    }

    /// The payload, for any number of subscribers and any time.
    fn share(&mut self, message: &Publish<'_>) -> SharedBytes {
        let payload = self.payload.get_or_insert_with(|| {
            let bytes = message.payload.len();
            let own = self.buffer.as_ref().filter(|buffer| buffer.held_bytes() <= 2 * bytes);
            let found = own.and_then(|buffer| buffer.part(message.payload));
            found.unwrap_or_else(|| SharedBytes::copied(message.payload))
        });
        payload.clone()
    }

    /// The payload in the buffer where it was read, for a subscriber that holds few such buffers.
    fn part_for(&mut self, message: &Publish<'_>, to: &Outgoing) -> Option<SharedBytes> {
        let buffer = self.buffer.as_ref().filter(|buffer| to.can_hold_part(buffer))?;
        if self.part.is_none() {
            self.part = buffer.part(message.payload);
        }
        self.part.clone()
    }

    #[inline]
    fn form(&mut self, message: &Publish<'_>, version: Version, form: &Form<'_>) -> &[u8] {
        let (qos, retain) = (QoS::AtMostOnce, form.retain);
        let publish = Publish { dup: false, qos, packet_id: None, retain, ..*message };
        let out = if form.identifiers.is_empty() {
            &mut self.forms[usize::from(version == Version::V5) * 2 + usize::from(retain)]
        } else {
            self.identified.clear();
            &mut self.identified
        };
        if !out.is_empty() {
            return out;
        }
        let extras = Extras::identified(form.identifiers);
        encode_head(publish, publish.payload.len(), &extras, version, out);
        if publish.payload.len() < SHARED_BYTES_MIN {
            out.extend_from_slice(publish.payload);
        }
        out
    }
}

/// The bytes before the payload. Of a large message only these were encoded.
fn without_payload(encoded: &[u8], payload_bytes: usize) -> &[u8] {
    if payload_bytes >= SHARED_BYTES_MIN {
        return encoded;
    }
    &encoded[..encoded.len() - payload_bytes]
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_core::Limits;

    #[test]
    fn a_publisher_holds_no_payload_once_its_batch_is_done() {
        let read = SharedBytes::from(vec![7; 100_000]);
        let message = Publish::new("t", &read[100..90_000]);
        let form =
            Form { retain: false, identifiers: &[], expiry: None, priority: Priority::Normal };
        let mut encoded = Encoded { buffer: Some(read.clone()), ..Encoded::default() };
        let mut nobody = Outgoing::new(&Limits::default());
        encoded.begin(&message, 1);
        encoded.push(&message, &form, &mut nobody);
        encoded.keep(&message, "t".into(), 0);
        assert!(encoded.payload.as_ref().is_some_and(|payload| payload.is_beside(&read)));
        encoded.release();
        assert!(encoded.buffer.is_none() && encoded.payload.is_none() && encoded.part.is_none());
    }
}
