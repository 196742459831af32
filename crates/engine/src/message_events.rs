//! Events of plain messages, for the log: received, stored, restored, delivered. They are made only while the control
//! plane wants them; otherwise a message costs a look at a flag of its batch.

use slipring_core::{Outgoing, Principal, Priority, Pushed, Way};
use slipring_wire::{PacketId, Publish, QoS};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::{EventKind, Report};
use crate::monitor::Monitor;
use crate::party::Party;

/// The kinds that a publisher's batch can have.
const OF_BATCH: u64 = EventKind::MessageReceived.bit()
    | EventKind::MessageStored.bit()
    | EventKind::MessageRestored.bit()
    | EventKind::MessageDelivered.bit();

impl Monitor {
    /// Whether the messages of a batch are reported one by one.
    #[inline]
    pub fn tells_messages(&self) -> bool {
        self.events.wants_any(OF_BATCH)
    }

    /// Reports what happened to one message.
    #[cold]
    pub fn tell_message(&self, kind: EventKind, client: &str, topic: &str, detail: &str) {
        self.tell(&Report::new(kind, client).topic(topic).detail(&detail));
    }

    /// Reports a message of a client; those of the broker itself are no news.
    #[cold]
    pub fn tell_received(&self, from: &Principal<'_>, message: &Publish<'_>) {
        if from.way == Way::Broker {
            return;
        }
        let mut detail = format!("QoS {}, {} bytes", message.qos as u8, message.payload.len());
        if let Err(problem) = Priority::checked(message.properties) {
            detail = format!("{detail}; it counts as if it named no priority: {problem}");
        }
        self.tell_message(EventKind::MessageReceived, from.client_id, message.topic, &detail);
    }
}

/// Reports a message that was given to a subscriber's queue: one at QoS 0 is delivered, one for a client that is away
/// is stored. One at QoS 1 or 2 is delivered when the subscriber acknowledges it.
#[cold]
pub(crate) fn tell_handed_over(
    broker: &Broker,
    client: &Client,
    outgoing: &Outgoing,
    pushed: Pushed,
    (topic, qos): (&str, QoS),
) {
    if matches!(pushed, Pushed::Dropped(_) | Pushed::Overflow(_)) {
        return; // reported as a loss
    }
    let (kind, detail) = match (outgoing.version().is_some(), qos) {
        (true, QoS::AtMostOnce) => (EventKind::MessageDelivered, "QoS 0"),
        (false, QoS::AtLeastOnce | QoS::ExactlyOnce) => {
            (EventKind::MessageStored, "until the client is back")
        }
        _ => return,
    };
    broker.monitor.tell_message(kind, &client.name, topic, detail);
}

/// Reports that a subscriber acknowledges a message in flight, or refuses it.
#[cold]
pub(crate) fn tell_acknowledged(
    monitor: &Monitor,
    client: &Client,
    outgoing: &Outgoing,
    id: PacketId,
    refused: bool,
) {
    let Some(topic) = outgoing.topic_in_flight(id) else { return };
    let (kind, detail) = if refused {
        (EventKind::MessageNotDelivered, "the subscriber refused it")
    } else {
        (EventKind::MessageDelivered, "acknowledged")
    };
    monitor.tell_message(kind, &client.name, topic, detail);
}

impl Party {
    /// Reports how many messages waited for a client that is back. Those in the journal alone are reported one by one
    /// when they are read.
    pub fn tell_waited(&self, client: &Client) {
        let (messages, _) = client.outgoing().waiting();
        if messages > 0 && self.broker.monitor.events.wants(EventKind::MessageRestored) {
            let detail = format!("{messages} waited while it was away");
            let kind = EventKind::MessageRestored;
            self.broker.monitor.tell_message(kind, &client.name, "", &detail);
        }
    }
}
