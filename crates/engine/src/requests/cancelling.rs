//! `$slipring/cancel`: an asker gives up its requests with some correlation data. `docs/requests.md` has it.

use slipring_core::Principal;
use slipring_core::requests::{RequestEvent, RequestKey};
use slipring_wire::{PropertyId, Publish, Reason, Value};

use super::telling::{AskerMessage, tell_service};
use crate::broker::Broker;
use crate::feed::Feed;

const NO_CORRELATION: &str = "a cancel needs the Correlation Data of the request";

impl Feed {
    /// Takes a cancel. Returns the reason code of its acknowledgement, which waits until the ends are safe.
    pub fn cancel(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
    ) -> Reason {
        let Some(Value::Binary(data)) = message.properties.get(PropertyId::CorrelationData) else {
            self.refusal = Some(NO_CORRELATION.to_owned());
            return Reason::ImplementationSpecificError;
        };
        let keys: Vec<RequestKey> = broker.requests.book().asked_with(from.session, data).collect();
        let mut is_found = self.requests.cancel_pending(data);
        for key in keys {
            let announced = broker.requests.book().announce(key, RequestEvent::Cancel, None);
            let Some(ending) = announced else { continue };
            is_found = true;
            self.tell(broker, from.client_id, &ending, &AskerMessage::end(ending.state, None));
            tell_service(broker, &ending, &mut self.post);
            self.requests.ended.push((key, ending.is_recorded));
        }
        if is_found { Reason::Success } else { Reason::NoMatchingSubscribers }
    }
}
