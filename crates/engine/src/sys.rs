//! The `$SYS` topics: the broker's own figures, under the names that MQTT tools know.

use std::sync::atomic::Ordering::Relaxed;

use crate::broker::Broker;

/// Topics and their values now.
pub(crate) fn topics(broker: &Broker) -> Vec<(String, String)> {
    let status = broker.status();
    let totals = status.totals;
    let away = status.sessions - status.clients;
    let figures = [
        ("version", format!("slipring {}", env!("CARGO_PKG_VERSION"))),
        ("uptime", format!("{} seconds", status.uptime.as_secs())),
        ("clients/connected", status.clients.to_string()),
        ("clients/disconnected", away.to_string()),
        ("clients/total", status.sessions.to_string()),
        ("messages/received", totals.messages_in.to_string()),
        ("messages/sent", totals.messages_out.to_string()),
        ("bytes/received", totals.bytes_in.to_string()),
        ("bytes/sent", totals.bytes_out.to_string()),
        ("publish/messages/dropped", totals.dropped.to_string()),
        ("publish/messages/expired", totals.expired.to_string()),
        ("retained messages/count", status.retained_messages.to_string()),
        ("retained messages/bytes", status.retained_bytes.to_string()),
        ("subscriptions/count", status.subscriptions.to_string()),
        ("journal/not journaled", broker.not_journaled.load(Relaxed).to_string()),
    ];
    figures.into_iter().map(|(name, text)| (format!("$SYS/broker/{name}"), text)).collect()
}
