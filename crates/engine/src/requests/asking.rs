//! A message that is a request: checked, given a key, added to the batch, and sent out once the batch has its offsets.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::access::{Right, Subject};
use slipring_core::ledger::{RequestManner, RequestRecord};
use slipring_core::requests::{Asked, RequestEvent, RequestKey, RequestTerms, TermsError};
use slipring_core::{Durability, JournalPlace, Limit, Offset, SessionKey, memory};
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Value, Version};

use super::Job;
use super::batch::{Draft, PendingRequest, RequestWork};
use super::telling::{AskerMessage, tell_refusal};
use crate::broker::Broker;
use crate::client::Client;
use crate::event::{EventKind, Report};
use crate::feed::Feed;
use crate::paths::TopicKind;
use crate::publishing::Publication;
use crate::routes::topics_of;

impl Feed {
    /// Takes a message that is a request. None if it is not one.
    #[inline]
    pub fn take_request(
        &mut self,
        publication: &Publication<'_>,
    ) -> Option<Result<Reason, Reason>> {
        let Publication { broker, from, message, version } = *publication;
        let is_plain = matches!(self.paths.found().kind, TopicKind::Plain(_));
        if message.properties.is_empty() || version != Version::V5 || !is_plain {
            return None;
        }
        if !from.way.is_client() {
            return None; // nobody waits for the answer to a will
        }
        let rule = self.paths.found().request;
        let timeout_max_s = broker.plan.load().limits.request_timeout_s;
        match RequestTerms::of(message.properties, rule.as_ref(), timeout_max_s) {
            Ok(None) => None,
            Ok(Some(_)) if !self.paths.found().grant.allows(Right::Request) => {
                Some(Err(Reason::NotAuthorized))
            }
            Ok(Some(terms)) => Some(self.ask(publication, &terms)),
            Err(error) => {
                if matches!(error, TermsError::TimeOut(_)) {
                    broker.monitor.reached.count(Limit::RequestTimeout);
                }
                self.refusal = Some(error.to_string());
                Some(Err(self.refuse_request(publication, Reason::ImplementationSpecificError)))
            }
        }
    }

    fn ask(
        &mut self,
        publication: &Publication<'_>,
        terms: &RequestTerms<'_>,
    ) -> Result<Reason, Reason> {
        let Publication { broker, from, message, .. } = *publication;
        let Some(asker) = self.requests.client.clone() else { return Ok(Reason::Success) };
        if self.is_asked(broker, from.session, message, terms) {
            self.wait_for(self.paths.found().level_of(message.qos));
            return Ok(Reason::Success);
        }
        if let Err(limit) = self.check_room(broker, &asker) {
            broker.monitor.reached.count(limit);
            self.quota = Some(limit).filter(|limit| limit.is_quota());
            self.refusal = Some(format!("there is no room for another request ({})", limit.path()));
            return Err(self.refuse_request(publication, Reason::QuotaExceeded));
        }
        let key = broker.requests.next_key();
        let mut properties = std::mem::take(&mut self.requests.properties);
        for_service(message.properties, key, &mut properties);
        let changed =
            Publish { properties: properties.borrow(), retain: false, dup: false, ..*message };
        let route = self.paths.found();
        let (level, is_journaled) = (route.level_of(message.qos), route.is_journaled);
        let manner = RequestManner {
            priority: terms.priority.unwrap_or(route.priority),
            waits: terms.waits,
            balance: terms.balance.unwrap_or(route.balance),
            retries: terms.retries,
        };
        let topic = Arc::clone(&route.topic);
        let place = is_journaled.then_some((self.batch.len() as u32, level));
        let is_recorded = is_journaled && asker.is_durable && level > Durability::Memory;
        if is_recorded {
            let left_ns = i64::try_from(terms.timeout_ms).unwrap_or(i64::MAX);
            let expires_ns = self.receive_ns.saturating_add(left_ns.saturating_mul(1_000_000));
            let (index, answer_topic) = (self.batch.len() as u32, terms.answer_topic);
            let asker = asker.key;
            RequestRecord::Asked { index, key, asker, answer_topic, expires_ns, manner }
                .encode(self.batch.records());
        }
        self.tally.add(&self.paths.found().prefix, message.payload.len(), 1);
        let now_ms = self.requests.now_ms(&broker.clock);
        self.post.encoded.begin(&changed, 1);
        let mut kept = self.post.encoded.keep(&changed, topic, now_ms);
        let expires_ms = now_ms.saturating_add(terms.timeout_ms);
        kept.expires_ms = Some(kept.expires_ms.map_or(expires_ms, |at| at.min(expires_ms)));
        self.add_to_batch(&Publication { message: &changed, ..*publication }, None);
        properties.rest();
        self.requests.properties = properties;
        let request = Draft {
            key,
            asker,
            answer_topic: self.requests.share_answer_topic(terms.answer_topic),
            correlation: terms.correlation.map(Into::into),
            timeout_ms: terms.timeout_ms,
            manner,
            is_recorded,
        };
        let place = place.filter(|_| is_recorded);
        let is_cancelled = false;
        broker.tell_request(EventKind::RequestReceived, key, from.client_id, message.topic, &"");
        self.requests.asked.push(PendingRequest { request, message: kept, place, is_cancelled });
        Ok(Reason::Success)
    }

    /// Whether a message that is sent again is a request that the broker has already.
    fn is_asked(
        &self,
        broker: &Broker,
        asker: SessionKey,
        message: &Publish<'_>,
        terms: &RequestTerms<'_>,
    ) -> bool {
        let Some(correlation) = terms.correlation.filter(|_| message.dup) else { return false };
        let is_pending =
            |pending: &PendingRequest| pending.request.correlation.as_deref() == Some(correlation);
        self.requests.asked.iter().any(is_pending)
            || broker.requests.book().is_open(asker, correlation)
    }

    fn check_room(&self, broker: &Broker, asker: &Client) -> Result<(), Limit> {
        if memory::is_short() {
            return Err(Limit::MemoryBytes);
        }
        let more = self.requests.asked.len() + 1;
        let identity = asker.identity.load();
        let subject = Subject { identity: &identity, client_id: &asker.name };
        let limits = &broker.plan.load().limits_for(subject);
        let (quota, open) = (limits.requests_quota(), broker.requests.open.load(Ordering::Relaxed));
        if open + more <= quota.of_one().min(quota.all.0 - quota.reserve()) {
            return Ok(()); // whoever has them
        }
        broker.requests.book().check_room(&asker.owner, more, limits)
    }

    /// Refuses a message that asks to be a request. At QoS 0 the asker is told on its answer topic.
    #[cold]
    fn refuse_request(&mut self, publication: &Publication<'_>, reason: Reason) -> Reason {
        let Publication { broker, message, .. } = *publication;
        broker.requests.refused.fetch_add(1, Ordering::Relaxed);
        let why = self.refusal.clone().unwrap_or_default();
        let report = Report::new(EventKind::RequestRefused, publication.from.client_id);
        broker.monitor.tell(&report.topic(message.topic).detail(&why));
        let client = self.requests.client.clone();
        if let (QoS::AtMostOnce, Some(client)) = (message.qos, client) {
            tell_refusal(broker, &client, message, &AskerMessage::refused(&why), &mut self.post);
        }
        reason
    }

    /// Does what the batch says about requests, now that it has its offsets.
    #[inline]
    pub fn place_requests(&mut self, broker: &Broker, first_offset: Offset) {
        if !self.requests.is_empty() {
            self.place_all_requests(broker, first_offset);
        }
    }

    fn place_all_requests(&mut self, broker: &Broker, first_offset: Offset) {
        let RequestWork { asked, ended, subscribed, .. } = &mut self.requests;
        let (mut ends, mut cancelled) = (VecDeque::new(), Vec::new());
        let handings = broker.with_requests(|book, around| {
            let mut handings = Vec::new();
            for (key, _) in ended.drain(..) {
                handings.append(&mut book.finish(key, around));
            }
            if !subscribed.is_empty() {
                subscribed.drain(..).for_each(|filter| book.look_at_filter(&filter));
                let mut looked = book.look(around); // the keeper goes on
                handings.append(&mut looked.handings);
                ends.extend(looked.unserved);
            }
            broker.tell_handed(&handings);
            for PendingRequest { request, message, place, is_cancelled } in asked.drain(..) {
                let (key, asker) = (request.key, Arc::clone(&request.asker));
                let topic = Arc::clone(message.topic());
                if is_cancelled {
                    cancelled.push(key);
                }
                let message = match place {
                    Some((index, durability)) => {
                        message.at(JournalPlace { offset: first_offset.plus(index), durability })
                    }
                    None => message,
                };
                match book.ask(request.with(message), around) {
                    Asked::Handed(handing) => handings.push(handing),
                    Asked::Stored => {
                        let kind = EventKind::RequestStored;
                        broker.tell_request(kind, key, &asker.name, &topic, &"");
                    }
                    Asked::NoService => ends.push_back(key),
                }
            }
            handings
        });
        for key in cancelled {
            broker.requests.later(Job::End(key, RequestEvent::Cancel, None));
        }
        if !ends.is_empty() {
            broker.requests.later(Job::EndAll(ends, RequestEvent::NoService));
        }
        broker.hand_out(handings, &mut self.post);
    }

    /// A client is back: answers that waited for it are its own now, and its services get requests again.
    pub fn come_back(&mut self, broker: &Broker, client: &Arc<Client>) {
        let mut book = broker.requests.book();
        if book.is_empty() {
            return;
        }
        let answers = book.asker_back(client.key);
        drop(book);
        if answers > 0 && broker.monitor.events.wants(EventKind::AnswerRestored) {
            let count = format!("{answers} answers waited for it");
            let report = Report::new(EventKind::AnswerRestored, &client.name);
            broker.monitor.tell(&report.detail(&count));
        }
        let state = client.state();
        let filters = state.session.plain().map(|(filter, _)| topics_of(filter));
        self.requests.subscribed.extend(filters.map(Box::from));
    }

    /// Nothing of the batch goes on.
    #[cold]
    pub fn forget_requests(&mut self, broker: &Broker) {
        self.requests.asked.clear();
        self.requests.subscribed.clear();
        let mut book = broker.requests.book();
        self.requests.ended.drain(..).for_each(|(key, _)| book.undo(key));
        drop(book);
        broker.requests.wake(); // the time of some may be over
    }

    /// The journal refused the batch: only what it need not know of goes on.
    #[cold]
    pub fn give_up_requests(&mut self, broker: &Broker) {
        let RequestWork { asked, ended, undone, client, .. } = &mut self.requests;
        asked.retain(|pending| !pending.request.is_recorded);
        let mut book = broker.requests.book();
        ended.retain(|(key, is_recorded)| {
            if *is_recorded {
                book.undo(*key);
                undone.extend(client.is_none().then_some(*key)); // a client is told that it was refused
            }
            !is_recorded
        });
        drop(book);
        broker.requests.wake(); // the time of some may be over
        self.place_requests(broker, Offset::default());
    }
}

/// The properties of a request, with the topic that its service answers to.
fn for_service(given: Properties<'_>, key: RequestKey, properties: &mut PropertiesBuf) {
    let answer_topic = key.answer_topic();
    properties.clear();
    for (id, piece) in given.pieces() {
        if id == PropertyId::ResponseTopic {
            properties.push(id, Value::Text(&answer_topic));
        } else {
            properties.push_piece(piece);
        }
    }
}
