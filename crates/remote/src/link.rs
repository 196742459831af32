//! One connection to a broker, and the questions asked by it. Blocks; never asks twice, never
//! connects again.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use slipring_client::{Address, Client, Loss, Notice, Options, SendError, SubscriptionId};
use slipring_journal::Request;
use slipring_wire::{PropertiesBuf, PropertyId, Publish, QoS, Value};

use crate::RemoteError;

/// What the topics of requests begin with.
const TOPIC: &str = "$slipring/journal/";
/// Where answers come. Nobody can publish on it but the broker itself.
const ANSWERS: [&str; 2] = ["$slipring/journal/answer/0", "$slipring/journal/answer/1"];

/// One of the two places for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// What is known of a question.
#[derive(Default)]
enum Place {
    #[default]
    Free,
    Asked,
    Answered(Box<[u8]>),
}

/// A connection that is let in.
pub(crate) struct Link {
    client: Client,
    answers: SubscriptionId,
    places: [Place; 2],
    timeout: Duration,
}

impl Link {
    /// Connects, and listens for answers.
    pub fn open(address: &Address, options: &Options) -> Result<Self, RemoteError> {
        let client = Client::connect(address.clone(), options.clone())?;
        let (timeout, until) = (options.timeout, Instant::now() + options.timeout);
        await_notice(&client, until, |notice| matches!(notice, Notice::Connected(_)))?;
        let answers = client.subscribe(&ANSWERS, QoS::AtMostOnce, &[]).map_err(unsent)?;
        await_notice(&client, until, |notice| matches!(notice, Notice::Subscribed { .. }))?;
        Ok(Self { client, answers, places: Default::default(), timeout })
    }

    /// Asks. Panics when two questions are open already.
    pub fn ask(&mut self, request: &Request<'_>) -> Result<Slot, RemoteError> {
        let free = self.places.iter().position(|place| matches!(place, Place::Free));
        let slot = free.expect("not more than two questions are open");
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text(ANSWERS[slot]));
        let (topic, body) = (format!("{TOPIC}{}", request.name()), request.encode());
        let publish = Publish { properties: properties.borrow(), ..Publish::new(&topic, &body) };
        self.client.publish(&publish).map_err(unsent)?;
        self.places[slot] = Place::Asked;
        Ok(Slot(slot))
    }

    /// Waits for an answer.
    pub fn answer(&mut self, Slot(slot): Slot) -> Result<Box<[u8]>, RemoteError> {
        let until = Instant::now() + self.timeout;
        loop {
            self.collect();
            if let Place::Answered(body) = &mut self.places[slot] {
                let body = std::mem::take(body);
                self.places[slot] = Place::Free;
                return Ok(body);
            }
            await_notice(&self.client, until, |notice| matches!(notice, Notice::Readable(_)))
                .map_err(|error| match error {
                    RemoteError::Lost(Loss::ConnectTimeout(_)) => {
                        RemoteError::Silent(self.timeout.as_secs_f64())
                    }
                    error => error,
                })?;
        }
    }

    fn collect(&mut self) {
        for message in self.client.take(self.answers, usize::MAX, usize::MAX) {
            let slot = ANSWERS.iter().position(|topic| **topic == *message.topic);
            if let Some(place @ Place::Asked) = slot.map(|slot| &mut self.places[slot]) {
                *place = Place::Answered(message.payload);
            }
        }
    }
}

/// Waits until a notice is there, or the connection is lost, or it takes too long.
fn await_notice(
    client: &Client,
    until: Instant,
    wanted: impl Fn(&Notice) -> bool,
) -> Result<(), RemoteError> {
    let asked = Instant::now();
    loop {
        let notices = client.notices();
        if let Some(loss) = notices.iter().find_map(loss_in) {
            return Err(RemoteError::Lost(loss));
        }
        if notices.iter().any(&wanted) {
            return Ok(());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(RemoteError::Lost(Loss::ConnectTimeout(until - asked)));
        }
        let mut watched = [PollFd::new(client, PollFlags::IN)];
        let left = Timespec::try_from(left).unwrap_or_default();
        // Interrupted or not, the clock and the notices say how it stands.
        let _ = poll(&mut watched, Some(&left));
    }
}

fn loss_in(notice: &Notice) -> Option<Loss> {
    match notice {
        Notice::Lost { loss, .. } => Some(loss.clone()),
        Notice::Closed => Some(Loss::Closed),
        _ => None,
    }
}

fn unsent(error: SendError) -> RemoteError {
    match error {
        SendError::NotConnected(loss) => RemoteError::Lost(loss.unwrap_or(Loss::Closed)),
        error => RemoteError::Nonsense(error.to_string()),
    }
}
