//! Publishes the wills of clients.

use std::sync::Arc;

use slipring_core::WillMessage;
use slipring_wire::Version;

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::supervision::spawn;

/// Publishes a will in the name of its client. At QoS 2 it goes when it is safe, like all other messages: before the
/// journal has the record that the client left, a crash would make the broker publish it again.
pub(crate) async fn publish(
    broker: &Arc<Broker>,
    feed: &mut Feed,
    client: &Client,
    will: &WillMessage,
) {
    feed.begin(broker, broker.clock.now_ns());
    feed.paths.forget(broker); // they may be another client's
    feed.publish(broker, &client.will_principal(), &will.publish(), Version::V311);
    feed.refusal = None; // a will has no answer
    broker.monitor.traffic.received(feed.finish(), 0);
    let _ = feed.journal(broker).await; // nobody waits for an answer
    if let Some(later) = feed.post.take_later() {
        spawn(broker, &client.name, later.settle(Arc::clone(broker)));
    }
}
