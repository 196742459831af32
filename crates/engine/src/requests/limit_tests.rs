//! How many requests a session computes at once, by several filters.

use std::sync::Arc;

use slipring_core::Plan;
use slipring_wire::{PropertiesBuf, PropertyId, Value};

use crate::broker::Broker;
use crate::test_peer::{Terms, TestPeer, Told, running};

/// Asks on a topic; returns the limit of the only service then.
async fn limit_after(broker: &Arc<Broker>, asker: &mut TestPeer, topic: &str) -> u16 {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ResponseTopic, Value::Text("answers"));
    properties.push(PropertyId::UserProperty, Value::Pair("slipring-timeout", "60"));
    asker.publish(topic, "?", false, properties.borrow()).await;
    let services = broker.requests.book().services(9);
    assert_eq!(services.len(), 1);
    services[0].limit
}

#[tokio::test(start_paused = true)]
async fn a_session_with_several_filters_has_the_largest_limit_on_each_topic() {
    let broker = running(Plan::default());
    let (mut service, _) = TestPeer::connect(&broker, Terms::new("service")).await;
    let (mut asker, _) = TestPeer::connect(&broker, Terms::new("asker")).await;
    service.subscribe("a/#", &[("slipring-serve", "1")]).await;
    service.subscribe("b/#", &[("slipring-serve", "100")]).await;
    for topic in ["a/1", "b/1", "a/2"] {
        assert_eq!(limit_after(&broker, &mut asker, topic).await, 100, "{topic}");
        assert_eq!(service.next().await, Told::message(topic, "?"));
    }
    service.subscribe("b/#", &[("slipring-serve", "7")]).await;
    assert_eq!(limit_after(&broker, &mut asker, "a/3").await, 7);
}
