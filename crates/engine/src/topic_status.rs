//! What people are shown of topics: who is subscribed to one, what came on it, and what waits on which. Python gets the
//! serialised form; `slipring.status` says what each field means.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use std::sync::Arc;

use serde::Serialize;
use slipring_core::Options;
use slipring_wire::{matches, shared};

use crate::Engine;
use crate::broker::Broker;
use crate::client::Client;
use crate::parameter_status::SelectorStatus;
use crate::routes::topics_of;
use crate::status::since_ms;

/// One topic, and its subscriptions.
#[derive(Clone, Debug, Serialize)]
pub struct TopicStatus {
    pub topic: String,
    pub messages: Option<u64>,
    pub last_ms: Option<f64>,
    pub last_bytes: Option<usize>,
    pub subscribers: Vec<SubscriberStatus>,
    pub subscribers_total: usize,
    pub selections: Vec<SelectorStatus>,
    pub selections_total: usize,
}

/// One subscription that matches a topic.
#[derive(Clone, Debug, Serialize)]
pub struct SubscriberStatus {
    pub client_id: String,
    pub connected: bool,
    pub filter: String,
    pub qos: u8,
    pub share: Option<String>,
    pub serve: u16,
    pub priority: Option<&'static str>,
}

/// Messages of one topic that wait for their first subscriber.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingTopic {
    pub topic: String,
    pub messages: usize,
    pub bytes: usize,
}

impl Engine {
    /// What came on a topic, and at most so many of its subscriptions.
    pub fn topic(&self, topic: &str, most: usize) -> TopicStatus {
        self.broker.topic_status(topic, most)
    }

    /// The topics on which most messages wait for their first subscriber.
    pub fn waiting(&self, most: usize) -> Vec<WaitingTopic> {
        self.broker.waiting_topics(most)
    }
}

impl Broker {
    /// A topic with at most so many of its subscriptions.
    pub fn topic_status(&self, topic: &str, most: usize) -> TopicStatus {
        let newest = self.topics.values().newest(topic);
        let (clients, subscribers_total) = self.topics.routes().subscribed(topic, most);
        let mut subscribers = Vec::new();
        for client in clients {
            subscribed(&client, topic, most - subscribers.len(), &mut subscribers);
        }
        let (selections, selections_total) = self.selectors(topic, most);
        TopicStatus {
            topic: topic.into(),
            messages: newest.as_ref().map(|newest| newest.count),
            last_ms: newest.as_ref().map(|newest| since_ms(newest.receive_ns)),
            last_bytes: newest.as_ref().map(|newest| newest.payload_bytes),
            subscribers,
            subscribers_total,
            selections,
            selections_total,
        }
    }

    /// The topics on which most messages wait for their first subscriber.
    pub fn waiting_topics(&self, most: usize) -> Vec<WaitingTopic> {
        let waiting = self.topics.waiting().by_topic(most).into_iter();
        let shown = waiting.map(|(topic, messages, bytes)| WaitingTopic {
            topic: topic.to_string(),
            messages,
            bytes,
        });
        shown.collect()
    }
}

/// Adds the subscriptions of a client that match a topic.
fn subscribed(client: &Arc<Client>, topic: &str, most: usize, found: &mut Vec<SubscriberStatus>) {
    let connected = client.connection().is_some();
    let state = client.state();
    let matching = state.session.plain().filter(|(filter, _)| matches(topics_of(filter), topic));
    let row = |(filter, options): (&str, Options)| SubscriberStatus {
        client_id: client.name.to_string(),
        connected,
        filter: topics_of(filter).into(),
        qos: options.qos as u8,
        share: shared(filter).and_then(Result::ok).map(|(name, _)| name.into()),
        serve: options.serve,
        priority: options.priority.map(slipring_core::Priority::name),
    };
    found.extend(matching.take(most).map(row));
}
