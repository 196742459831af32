//! Refused samples of one client: reported to the client if it subscribes to that, and as an event, at most once a
//! second.

use std::sync::Arc;

use slipring_core::access::Right;
use slipring_core::table::refusal_message;
use slipring_core::{Millis, Principal};
use slipring_wire::{Packet, Publish};

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::event::{EventKind, Report};
use crate::post::Post;

/// The topic that a client subscribes to.
const TOPIC: &str = "$slipring/refused";
/// Refusals are reported at most this often.
const TELL_MS: Millis = 1_000;

/// Refusals that were not reported yet.
#[derive(Default)]
pub(crate) struct Refused {
    count: u64,
    told_ms: Option<Millis>,
}

impl Refused {
    /// Counts one more, and reports it if the last report is long enough ago.
    #[cold]
    pub fn add(
        &mut self,
        broker: &Broker,
        client: &Arc<Client>,
        topic: &str,
        why: &str,
        post: &mut Post,
    ) {
        let Some(count) = self.due(broker.clock.now_ms()) else { return };
        let detail = in_words(why, count);
        let refused = Report::new(EventKind::PublishRefused, &client.name);
        broker.monitor.tell(&refused.topic(topic).detail(&detail));
        if !client.state().session.has(TOPIC) {
            return;
        }
        let Some(version) = client.outgoing().version() else { return };
        let json = refusal_message(topic, why, count);
        let mut packet = Vec::new();
        Packet::Publish(Publish::new(TOPIC, &json)).encode(version, &mut packet);
        post.push_packets(broker, client, &packet);
    }

    /// Counts one more message that the client has no right to publish, and reports it if the last report is long
    /// enough ago.
    #[cold]
    pub fn add_unauthorized(
        &mut self,
        broker: &Broker,
        by: &ConnectionHandle,
        from: &Principal<'_>,
        message: &Publish<'_>,
    ) {
        let refused = Report::new(EventKind::Unauthorized, from.client_id).topic(message.topic);
        broker.monitor.record(&refused.by(by).right(missing_right(broker, from, message)));
        let Some(count) = self.due(broker.clock.now_ms()) else { return };
        let detail = in_words("it may not publish there", count);
        broker.monitor.log(&refused.detail(&detail));
    }

    /// Counts one more. If a report is due, returns how many it is about.
    fn due(&mut self, now_ms: Millis) -> Option<u64> {
        self.count += 1;
        if self.told_ms.is_some_and(|told_ms| now_ms < told_ms + TELL_MS) {
            return None;
        }
        self.told_ms = Some(now_ms);
        Some(std::mem::take(&mut self.count))
    }
}

/// The right that a refused message needed.
fn missing_right(broker: &Broker, from: &Principal<'_>, message: &Publish<'_>) -> Right {
    match message.topic.strip_prefix("$slipring/") {
        Some(own) if own.starts_with("journal/") => return Right::Journal,
        Some("memory") => return Right::Administer,
        _ => {}
    }
    let publishing = from.way.publishing();
    let may_publish = broker.plan.load().allows(from, publishing, message.topic);
    if may_publish && message.retain { Right::Retain } else { publishing }
}

fn in_words(why: &str, count: u64) -> String {
    match count {
        1 => why.into(),
        _ => format!("{why}; {} more since it was told last", count - 1),
    }
}
