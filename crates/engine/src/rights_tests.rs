//! What a plan takes back while something is on its way.

use std::collections::HashMap;

use slipring_core::access::{AccessPolicy, AccessRule};
use slipring_core::{Limit, Limits, Offset, Packets, Principal};
use slipring_journal::JournalOptions;
use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, RetainHandling,
    Subscribe, Subscription, Value, Version,
};

use super::*;
use crate::connection_end::ConnectionEnd;
use crate::gates::Gate;
use crate::post::Post;
use crate::proving::ConnectionProof;
use crate::returning::tests::{connect, declare, take};

/// Everybody may do everything, except who a rule denies it.
fn plan(denied: &[(&str, &str, &str)]) -> Plan {
    let rule = |who: &str, is_allowed, right: &str, topic: &str| {
        AccessRule::parse(&[who], is_allowed, &[right], &[topic]).unwrap()
    };
    let mut rules: Vec<_> =
        Right::ALL.iter().map(|right| rule("anyone", true, right.name(), "#")).collect();
    rules.extend(denied.iter().map(|(who, right, topic)| rule(who, false, right, topic)));
    let access = Arc::new(AccessPolicy::enforced(rules, HashMap::new()));
    let limits = Limits { values: 2, ..Limits::default() };
    Plan { access, limits, ..Plan::default() }
}

fn broker(denied: &[(&str, &str, &str)]) -> Arc<Broker> {
    Arc::new(Broker::open(plan(denied), None, JournalOptions::default()).unwrap().0)
}

fn subscribe(party: &mut Party, filter: &str, qos: QoS) {
    assert!(take(party, &subscribe_packet(filter, qos, Properties::NONE)));
}

fn subscribe_packet(filter: &str, qos: QoS, properties: Properties<'_>) -> Vec<u8> {
    let (packet_id, retain_handling) = (PacketId::new(1).unwrap(), RetainHandling::DoNotSend);
    let subscriptions = vec![Subscription { qos, retain_handling, ..Subscription::new(filter) }];
    let mut bytes = Vec::new();
    Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
        .encode(Version::V5, &mut bytes);
    bytes
}

/// How many messages a client is sent now.
fn sent(party: &Party, broker: &Broker) -> u64 {
    let client = party.client.as_ref().unwrap();
    let find = &mut |_: &slipring_core::Replay, _: Option<&str>| panic!("nothing is retained");
    let mut packets = Packets::default();
    client.outgoing().take(broker.clock.now_ms(), find, &mut packets).messages
}

/// Brings a message to its subscribers, and replaces the plan before the journal has it.
fn sent_after(denied: &[(&str, &str, &str)], topic: &str, message_qos: QoS, qos: QoS) -> u64 {
    let broker = broker(&[]);
    let mut reader = connect(&broker, b'r');
    subscribe(&mut reader, topic, qos);
    let mut post = Post::default();
    post.set_generation(broker.topics.generation());
    let policy = Arc::clone(&broker.plan.load().access);
    let audience = broker.topics.audience(topic, SessionKey::BROKER, &policy);
    let name: Arc<str> = topic.into();
    let message = Publish { qos: message_qos, ..Publish::new(topic, b"1") };
    let level = slipring_core::Durability::Memory;
    post.begin(&broker, &message, Some(0), level, 1);
    post.deliver(&broker, &audience.targets[0], &message, &name);
    broker.apply(plan(denied));
    post.send(&broker, Offset::default(), Gate::OPEN);
    sent(&reader, &broker)
}

#[test]
fn a_message_that_was_on_its_way_when_the_right_was_taken_back_is_not_sent() {
    for (message_qos, qos) in [
        (QoS::AtLeastOnce, QoS::AtLeastOnce),
        (QoS::ExactlyOnce, QoS::ExactlyOnce),
        (QoS::ExactlyOnce, QoS::AtMostOnce),
    ] {
        let taken = [("anyone", "subscribe", "a/#")];
        assert_eq!(sent_after(&taken, "a/b", message_qos, qos), 0, "{message_qos:?} {qos:?}");
        let others = [("anyone", "subscribe", "x/#")];
        assert_eq!(sent_after(&others, "a/b", message_qos, qos), 1, "{message_qos:?} {qos:?}");
    }
}

#[test]
fn a_notice_that_waits_is_sent_whatever_right_was_taken_back() {
    let taken = [("anyone", "subscribe", "#")];
    let qos = QoS::AtLeastOnce;
    assert_eq!(sent_after(&taken, "$slipring/notices", qos, qos), 1);
}

#[test]
fn a_topic_that_a_client_may_not_publish_to_takes_no_room_and_tells_nothing() {
    let broker = broker(&[("anyone", "publish", "denied/#"), ("anyone", "request", "denied/#")]);
    let mut reader = connect(&broker, b'r');
    subscribe(&mut reader, "#", QoS::AtMostOnce);
    let client = connect(&broker, b'c').client.unwrap();
    let mut paths = crate::paths::Paths::default();
    let identity = client.identity.load_full();
    let from = client.will_principal(&identity);
    for number in 0..5 {
        let route = paths.find(&broker, &from, &format!("denied/{number}"));
        assert_eq!(route.audience.len(), 0, "how long it takes says nothing of its subscribers");
    }
    assert_eq!(paths.find(&broker, &from, "fine").audience.len(), 1);
    assert_eq!(broker.monitor.reached.all()[Limit::Values.name()], 0);
    let counted = broker.monitor.prefixes.busiest(10);
    assert!(counted.iter().all(|one| !one.prefix.starts_with("denied")));
}

#[test]
fn a_publisher_that_became_somebody_else_in_its_turn_has_the_rights_of_that_one() {
    let broker = broker(&[("user:anna", "publish", "a")]);
    let mut party = connect(&broker, b'p');
    let client = party.client.clone().unwrap();
    party.feed.begin(&broker, 0);
    broker.identify(&client, &Arc::new(Identity::named("anna")));
    party.feed.paths.check(&broker); // as a request in the same turn does
    publish(&mut party, "a");
    party.feed.begin(&broker, 0);
    party.follow_rights();
    party.reply.clear();
    publish(&mut party, "a");
    assert_eq!(party.reply[4], Reason::NotAuthorized as u8);
}

fn publish(party: &mut Party, topic: &str) {
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
    let mut bytes = Vec::new();
    Packet::Publish(Publish { qos, packet_id, ..Publish::new(topic, b"1") })
        .encode(Version::V5, &mut bytes);
    assert!(take(party, &bytes));
}

#[test]
fn what_the_broker_does_itself_needs_no_right() {
    let broker = broker(&[("anyone", "publish", "#")]);
    let mut paths = crate::paths::Paths::default();
    let grant = paths.find(&broker, &Principal::broker(), "a").grant;
    assert!(grant.allows(Right::Publish));
}

#[tokio::test]
async fn whose_proof_was_taken_back_is_nobody_while_it_is_away() {
    let broker = broker(&[]);
    let mut party = connect(&broker, b'p');
    let client = party.client.clone().unwrap();
    let mut asking = plan(&[]);
    (asking.authentication.asks, asking.authentication.anonymous) = (true, true);
    broker.apply(asking);
    party.connection.depend_on(ConnectionProof::Allowed);
    let anna = Arc::new(Identity::named("anna"));
    assert!(broker.identify(&client, &anna));
    party.leave(&ConnectionEnd::Lost("it is away".into())).await;
    broker.apply(plan(&[("anyone", "publish", "x")]));
    assert_eq!(client.identity.load().user, None);
}

#[test]
fn a_suback_does_not_tell_which_parameters_exist_beyond_the_right() {
    let rules = vec![AccessRule::parse(&["anyone"], true, &["subscribe"], &["mine/#"]).unwrap()];
    let mut access = AccessPolicy::enforced(rules, HashMap::new());
    access.narrows = true;
    let plan = Plan { access: Arc::new(access), ..Plan::default() };
    let broker = Arc::new(Broker::open(plan, None, JournalOptions::default()).unwrap().0);
    declare(&broker, 3); // a/0, a/1 and a/2
    let mut party = connect(&broker, b'p');
    let mut suback = |filter: &str| {
        party.reply.clear();
        subscribe(&mut party, filter, QoS::AtMostOnce);
        party.reply.clone()
    };
    assert_eq!(suback("+/1"), suback("+/9"));
}

/// In how many turns a client selects all of many parameters.
fn turns(denied: &[(&str, &str, &str)]) -> usize {
    let broker = broker(denied);
    declare(&broker, 20_000);
    let mut party = connect(&broker, b'p');
    let mut selects = PropertiesBuf::new();
    selects.push(PropertyId::UserProperty, Value::Pair("deliver", "json"));
    let packet = subscribe_packet("#", QoS::AtMostOnce, selects.borrow());
    let mut turns = 1;
    party.feed.work.begin();
    while !take(&mut party, &packet) {
        party.feed.work.begin();
        turns += 1;
    }
    turns
}

#[test]
fn a_selection_is_narrowed_in_turns_of_its_own() {
    let (without, within) = (turns(&[]), turns(&[("anyone", "select", "a/7")]));
    assert!(within > without + 2, "{without} turns without rights, {within} with them");
}
