//! One connection to a broker, with at most two requests open at a time. Blocks. Never repeats a
//! request and never reconnects; the journal does that.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use slipring_client::{Address, Client, ClientOptions};
use slipring_journal::JournalRequest;
use slipring_protocol::{ClientEvent, ConnectionLoss, SendError, SubscriptionId};
use slipring_wire::{PropertiesBuf, PropertyId, Publish, QoS, Value};

use crate::RemoteError;

/// The topic of a request is this and the request's name.
const TOPIC: &str = "$slipring/journal/";
/// The response topic of each slot. Only the broker itself can publish to it.
const ANSWERS: [&str; 2] = ["$slipring/journal/answer/0", "$slipring/journal/answer/1"];

/// The handle of an open request: which of the two slots it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSlot(usize);

#[derive(Default)]
enum SlotState {
    #[default]
    Free,
    Asked,
    Answered(Box<[u8]>),
}

/// A connection that the broker has accepted.
pub(crate) struct JournalConnection {
    client: Client,
    answers: SubscriptionId,
    slots: [SlotState; 2],
    timeout: Duration,
}

impl JournalConnection {
    /// Connects, and subscribes to the answers.
    pub fn open(address: &Address, options: &ClientOptions) -> Result<Self, RemoteError> {
        let client = Client::connect(address.clone(), options.clone())?;
        let (timeout, until) = (options.connect.timeout, Instant::now() + options.connect.timeout);
        await_event(&client, until, |event| matches!(event, ClientEvent::Connected(_)))?;
        let answers = client.subscribe(&ANSWERS, QoS::AtMostOnce, &[]).map_err(unsent)?;
        await_event(&client, until, |event| matches!(event, ClientEvent::Subscribed { .. }))?;
        Ok(Self { client, answers, slots: Default::default(), timeout })
    }

    /// Sends a request. Panics when two are open already.
    pub fn ask(&mut self, request: &JournalRequest<'_>) -> Result<RequestSlot, RemoteError> {
        let free = self.slots.iter().position(|slot| matches!(slot, SlotState::Free));
        let slot = free.expect("at most two requests are open");
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text(ANSWERS[slot]));
        let (topic, body) = (format!("{TOPIC}{}", request.name()), request.encode());
        let publish = Publish { properties: properties.borrow(), ..Publish::new(&topic, &body) };
        self.client.publish(&publish).map_err(unsent)?;
        self.slots[slot] = SlotState::Asked;
        Ok(RequestSlot(slot))
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, RequestSlot(slot): RequestSlot) -> Result<Box<[u8]>, RemoteError> {
        let until = Instant::now() + self.timeout;
        loop {
            self.collect();
            if let SlotState::Answered(body) = &mut self.slots[slot] {
                let body = std::mem::take(body);
                self.slots[slot] = SlotState::Free;
                return Ok(body);
            }
            await_event(&self.client, until, |event| matches!(event, ClientEvent::Readable(_)))
                .map_err(|error| match error {
                    RemoteError::Lost(ConnectionLoss::ConnectTimeout(_)) => {
                        RemoteError::Silent(self.timeout.as_secs_f64())
                    }
                    error => error,
                })?;
        }
    }

    /// Takes what has arrived, until nothing is left: only then does the client announce the next
    /// answer. Otherwise a prefetched answer would hide the one that is awaited, until the timeout.
    fn collect(&mut self) {
        loop {
            let messages = self.client.take(self.answers, usize::MAX, usize::MAX);
            if messages.is_empty() {
                return;
            }
            for message in messages {
                let slot = ANSWERS.iter().position(|topic| **topic == *message.topic);
                if let Some(state @ SlotState::Asked) = slot.map(|slot| &mut self.slots[slot]) {
                    *state = SlotState::Answered(message.payload);
                }
            }
        }
    }
}

/// Waits for an event. A lost connection and `until` are errors.
fn await_event(
    client: &Client,
    until: Instant,
    wanted: impl Fn(&ClientEvent) -> bool,
) -> Result<(), RemoteError> {
    let asked = Instant::now();
    loop {
        let events = client.events();
        if let Some(loss) = events.iter().find_map(loss_in) {
            return Err(RemoteError::Lost(loss));
        }
        if events.iter().any(&wanted) {
            return Ok(());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(RemoteError::Lost(ConnectionLoss::ConnectTimeout(until - asked)));
        }
        let mut watched = [PollFd::new(client, PollFlags::IN)];
        let left = Timespec::try_from(left).unwrap_or_default();
        // A poll that was interrupted or failed is harmless: the loop looks at events and clock again.
        let _ = poll(&mut watched, Some(&left));
    }
}

fn loss_in(event: &ClientEvent) -> Option<ConnectionLoss> {
    match event {
        ClientEvent::Lost { loss, .. } => Some(loss.clone()),
        ClientEvent::Closed => Some(ConnectionLoss::Closed),
        _ => None,
    }
}

fn unsent(error: SendError) -> RemoteError {
    match error {
        SendError::NotConnected(loss) => RemoteError::Lost(loss.unwrap_or(ConnectionLoss::Closed)),
        error => RemoteError::Unusable(error.to_string()),
    }
}
