//! Publishing the will of a client that is gone.

use std::sync::Arc;

use slipring_core::WillMessage;
use slipring_wire::Version;

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::supervision::spawn;

/// Publishes a will in the name of its client. At QoS 2 it goes once it is safe, like all others: until the
/// journal knows that the client has gone, a crash would have it published again.
pub(crate) async fn publish(
    broker: &Arc<Broker>,
    feed: &mut Feed,
    client: &Client,
    will: &WillMessage,
) {
    feed.begin(broker, broker.clock.now_ns());
    feed.paths.forget(broker); // those of another client may be there
    feed.publish(broker, &client.will_principal(), &will.publish(), Version::V311);
    feed.refusal = None; // nobody is answered
    broker.monitor.traffic.received(feed.finish(), 0);
    let _ = feed.journal(broker).await; // nobody waits for an answer
    if let Some(later) = feed.take_later() {
        spawn(broker, &client.name, later.settle(Arc::clone(broker)));
    }
}
