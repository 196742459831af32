//! What people are shown of requests and services. Python gets the serialised form; `slipring.status` says what each
//! field means.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde::Serialize;
use slipring_core::Millis;
use slipring_core::requests::{
    Participant, RequestKey, RequestPage, RequestState, RequestSummary, ResponseTimes,
    ServiceSummary,
};
use slipring_wire::matches;

use crate::Engine;
use crate::broker::Broker;
use crate::client::Client;
use crate::status::{seconds_left, since_ms};

/// Requests as a whole, since the start and now.
#[derive(Clone, Debug, Serialize)]
pub struct RequestsStatus {
    pub asked: u64,
    pub open: usize,
    pub states: BTreeMap<&'static str, usize>,
    pub ends: BTreeMap<&'static str, u64>,
    pub topics: usize,
    pub services: usize,
    pub room: usize,
    pub retried: u64,
    pub parts: u64,
    pub late: u64,
    pub refused: u64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

/// One request.
#[derive(Clone, Debug, Serialize)]
pub struct RequestStatus {
    pub key: String,
    pub topic: String,
    pub state: &'static str,
    pub asker: String,
    pub service: Option<String>,
    pub priority: &'static str,
    pub payload_bytes: usize,
    pub asked_ms: f64,
    pub stored_ms: Option<f64>,
    pub delivered_ms: Option<f64>,
    pub ended_ms: Option<f64>,
    pub times_out_ms: Option<f64>,
    pub reason: Option<String>,
}

/// One service.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceStatus {
    pub client_id: String,
    pub connected: bool,
    pub busy: usize,
    pub limit: u16,
    pub answered: u64,
    pub failed: u64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

/// The open requests of one topic.
#[derive(Clone, Debug, Serialize)]
pub struct TopicRequests {
    pub topic: String,
    pub open: usize,
    pub stored: usize,
}

/// Which requests are asked for.
#[derive(Clone, Debug, Default)]
pub struct RequestQuery {
    /// Those in this state; None is every open one, and the last ones that ended.
    pub state: Option<String>,
    /// Those on topics that this filter matches.
    pub topic: Option<String>,
    /// Those that this client asked, or has as their service.
    pub client: Option<String>,
    /// The one with this key.
    pub key: Option<String>,
    /// At most so many.
    pub most: usize,
}

impl Engine {
    /// Requests: open ones, and the last ones that ended.
    pub fn requests(&self, query: &RequestQuery) -> Vec<RequestStatus> {
        self.broker.requests_shown(query)
    }

    /// The topics with the most open requests.
    pub fn request_topics(&self, most: usize) -> Vec<TopicRequests> {
        self.broker.request_topics(most)
    }

    /// The services of requests, the busiest first.
    pub fn services(&self, most: usize) -> Vec<ServiceStatus> {
        self.broker.services_shown(most)
    }
}

fn quantile_ms(times: &ResponseTimes, per_mille: u64) -> Option<f64> {
    times.quantile_us(per_mille).map(|us| Duration::from_micros(us).as_secs_f64() * 1e3)
}

impl Broker {
    pub fn requests_status(&self) -> RequestsStatus {
        let book = self.requests.book();
        let (states, counts) = (book.states(), &book.counts);
        let all = RequestState::ALL.into_iter();
        let (ends, open): (Vec<_>, Vec<_>) = all.partition(|state| state.is_end());
        let (services, room) = book.services_total();
        RequestsStatus {
            asked: counts.asked,
            open: book.len(),
            states: open.iter().map(|state| (state.name(), states[*state as usize])).collect(),
            ends: ends.iter().map(|state| (state.name(), counts.ends[*state as usize])).collect(),
            topics: book.topics_total(),
            services,
            room,
            retried: counts.retried,
            parts: self.requests.parts.load(Relaxed),
            late: self.requests.late.load(Relaxed),
            refused: self.requests.refused.load(Relaxed),
            p50_ms: quantile_ms(&counts.times, 500),
            p99_ms: quantile_ms(&counts.times, 990),
        }
    }

    /// The requests that are asked for: open ones first, those that time out next before the others, then the last
    /// ones that ended.
    pub fn requests_shown(&self, query: &RequestQuery) -> Vec<RequestStatus> {
        if let Some(key) = &query.key {
            let book = self.requests.book();
            let found = key.parse::<RequestKey>().ok().and_then(|key| book.find(key));
            return found.iter().map(|found| self.request_shown(found)).collect();
        }
        let is_wanted = |request: &RequestSummary<Client>| query.wants(request);
        let (mut found, mut page) = (Vec::new(), RequestPage::Start);
        if query.is_of_none(&self.requests.book().states()) {
            page = RequestPage::End;
        }
        while page != RequestPage::End && found.len() < query.most {
            page = self.requests.book().page(page, &is_wanted, &mut found);
        }
        found.truncate(query.most);
        let left = query.most - found.len();
        let known: HashSet<RequestKey> = found.iter().map(|request| request.key).collect();
        let is_new = |ended: &RequestSummary<Client>| !known.contains(&ended.key); // it may just have ended
        let ended = self.requests.book().last_ended(usize::MAX).into_iter();
        found.extend(ended.filter(|ended| is_wanted(ended) && is_new(ended)).take(left));
        found.iter().map(|found| self.request_shown(found)).collect()
    }

    /// The topics with the most open requests.
    pub fn request_topics(&self, most: usize) -> Vec<TopicRequests> {
        let busiest = self.requests.book().busiest_topics(most).into_iter();
        let shown = busiest.map(|(topic, count)| TopicRequests {
            topic: topic.to_string(),
            open: count.open,
            stored: count.stored,
        });
        shown.collect()
    }

    /// The services, the busiest first.
    pub fn services_shown(&self, most: usize) -> Vec<ServiceStatus> {
        let services = self.requests.book().services(most);
        services.iter().map(service).collect()
    }
}

impl RequestQuery {
    fn wants(&self, request: &RequestSummary<Client>) -> bool {
        let is_of = |name: &str| {
            let service = request.service.as_ref();
            &*request.asker.name == name || service.is_some_and(|service| &*service.name == name)
        };
        self.state.as_deref().is_none_or(|name| request.state.name() == name)
            && self.topic.as_deref().is_none_or(|filter| matches(filter, &request.topic))
            && self.client.as_deref().is_none_or(is_of)
    }

    /// Whether no open request is in its state.
    fn is_of_none(&self, states: &[usize; RequestState::ALL.len()]) -> bool {
        let Some(wanted) = &self.state else { return false };
        let state = RequestState::ALL.into_iter().find(|state| state.name() == wanted);
        state.is_none_or(|state| states[state as usize] == 0)
    }
}

impl Broker {
    fn request_shown(&self, request: &RequestSummary<Client>) -> RequestStatus {
        let now_ms = since_ms(self.clock.now_ns());
        let left_s = |at_ms: Millis| seconds_left(at_ms, self.clock.now_ms());
        let times_out_ms = request.deadline_ms.map(|at_ms| now_ms + left_s(at_ms) * 1e3);
        shown(request, times_out_ms)
    }
}

fn shown(request: &RequestSummary<Client>, times_out_ms: Option<f64>) -> RequestStatus {
    let [asked, stored, delivered, ended] = request.times_ns;
    let some = |ns: i64| (ns != 0).then(|| since_ms(ns));
    RequestStatus {
        key: request.key.to_string(),
        topic: request.topic.to_string(),
        state: request.state.name(),
        asker: request.asker.name.to_string(),
        service: request.service.as_ref().map(|service| service.name.to_string()),
        priority: request.priority.name(),
        payload_bytes: request.payload_bytes,
        asked_ms: since_ms(asked),
        stored_ms: some(stored),
        delivered_ms: some(delivered),
        ended_ms: some(ended),
        times_out_ms,
        reason: request.reason.as_deref().map(str::to_owned),
    }
}

fn service(service: &ServiceSummary<Client>) -> ServiceStatus {
    ServiceStatus {
        client_id: service.client.name.to_string(),
        connected: service.client.is_connected(),
        busy: service.busy,
        limit: service.limit,
        answered: service.answered,
        failed: service.failed,
        p50_ms: quantile_ms(&service.times, 500),
        p99_ms: quantile_ms(&service.times, 990),
    }
}
