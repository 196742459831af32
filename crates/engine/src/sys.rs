//! The `$SYS` topics: the broker's own figures, under the names that MQTT tools know.

use std::sync::atomic::Ordering::Relaxed;

use slipring_core::Principal;
use slipring_wire::{Publish, Version};

use crate::broker::Broker;
use crate::feed::Feed;

/// Publishes the `$SYS` topics, retained.
pub(crate) fn publish(broker: &Broker, feed: &mut Feed) {
    feed.begin(broker, broker.clock.now_ns());
    for (topic, text) in topics(broker) {
        let message = Publish { retain: true, ..Publish::new(&topic, text.as_bytes()) };
        feed.publish(broker, &Principal::broker(), &message, Version::V311);
    }
    feed.finish();
}

/// Topics and their values now.
fn topics(broker: &Broker) -> Vec<(String, String)> {
    let status = broker.status();
    let totals = status.totals.traffic;
    let figures = [
        ("version", format!("slipring {}", env!("CARGO_PKG_VERSION"))),
        ("uptime", format!("{} seconds", broker.clock.uptime().as_secs())),
        ("clients/connected", status.clients_total.to_string()),
        ("clients/disconnected", status.sessions_away.to_string()),
        ("clients/total", status.sessions_total.to_string()),
        ("messages/received", totals.messages_in.to_string()),
        ("messages/sent", totals.messages_out.to_string()),
        ("bytes/received", totals.bytes_in.to_string()),
        ("bytes/sent", totals.bytes_out.to_string()),
        ("publish/messages/dropped", totals.dropped.to_string()),
        ("publish/messages/expired", totals.expired.to_string()),
        ("retained messages/count", status.retained.messages.to_string()),
        ("retained messages/bytes", status.retained.bytes.to_string()),
        ("subscriptions/count", status.subscriptions_total.to_string()),
        ("journal/not journaled", broker.journal.not_journaled.load(Relaxed).to_string()),
    ];
    figures.into_iter().map(|(name, text)| (format!("$SYS/broker/{name}"), text)).collect()
}
