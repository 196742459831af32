//! The keeper of requests: ends those whose time is over, whose asker or service has gone, or that were cancelled.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use slipring_core::ledger::RequestRecord;
use slipring_core::requests::{Asked, GivenBack, Handing, RequestEvent, RequestKey};
use slipring_core::{Durability, Limit, Millis, SessionKey};

use super::Job;
use super::telling::{AskerMessage, tell_service};
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::feed::Feed;
use crate::locks::lock;
use crate::supervision::spawn;

/// Ends that are written down together, at most.
const ENDS_MAX: usize = 512;
/// The pause after the journal has refused an end.
const PAUSE: Duration = Duration::from_millis(100);
/// How often it looks when no request has a deadline.
const IDLE_MS: Millis = 60_000;
const GONE: &str = "the service has gone";

/// Looks after the requests until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::default();
    while !broker.stopping.is_set() {
        let woken = broker.requests.woken.notified();
        while work(&broker, &mut feed).await {}
        let next_ms = broker.requests.sleep(broker.clock.now_ms());
        tokio::select! {
            () = broker.clock.sleep_until(next_ms) => {}
            () = woken => {}
            () = broker.stopping.wait() => {}
        }
    }
}

/// Does some of the work; returns whether there may be more.
async fn work(broker: &Arc<Broker>, feed: &mut Feed) -> bool {
    let jobs = broker.requests.take_jobs(ENDS_MAX);
    let due = broker.requests.book().due(broker.clock.now_ms(), ENDS_MAX);
    if (jobs.is_empty() && due.is_empty()) || broker.stopping.is_set() {
        return false;
    }
    feed.begin(broker, broker.clock.now_ns());
    let mut shift = Shift { broker, feed, handings: Vec::new() };
    for job in jobs {
        shift.take(job);
    }
    for key in due {
        shift.end(key, RequestEvent::TimeOut, None);
    }
    let handings = shift.handings;
    let is_refused = feed.journal(broker).await.is_err();
    broker.hand_out(handings, &mut feed.post); // after the records that they were given back
    feed.finish();
    if let Some(later) = feed.post.take_later() {
        spawn(broker, "requests", later.settle(Arc::clone(broker)));
    }
    if is_refused || broker.requests.is_held_up() {
        tokio::time::sleep(PAUSE).await;
    }
    true
}

/// One piece of the keeper's work.
struct Shift<'a> {
    broker: &'a Arc<Broker>,
    feed: &'a mut Feed,
    handings: Vec<Handing<Client>>,
}

impl Shift<'_> {
    fn take(&mut self, job: Job) {
        match job {
            Job::End(key, event, reason) => self.end(key, event, reason),
            Job::Left(session) => {
                let lost = self.broker.requests.book().service_left(session);
                for key in lost {
                    self.give_back(key);
                }
            }
            Job::Gone(session) => self.gone(session),
            Job::Lost(key) => self.give_back(key),
            Job::Restored(topics) => self.end_unserved(&topics),
            Job::Unsubscribed(session) => {
                let backlog = self.broker.requests.book().backlog(session);
                self.end_unserved(&backlog);
            }
            Job::HandOut(mut handings) => self.handings.append(&mut handings),
        }
    }

    /// A session is over: as an asker, and as a service.
    fn gone(&mut self, session: SessionKey) {
        let mut book = self.broker.requests.book();
        let asked = book.asker_gone(session);
        let backlog = book.backlog(session);
        let held = book.service_gone(session);
        drop(book);
        for key in asked {
            self.end(key, RequestEvent::AskerGone, None);
        }
        for key in held {
            self.give_back(key);
        }
        self.end_unserved(&backlog);
    }

    fn end_unserved(&mut self, topics: &[Arc<str>]) {
        let unserved = self.broker.with_requests(|book, around| book.unserved(topics, around));
        for key in unserved {
            self.end(key, RequestEvent::NoService, None);
        }
    }

    /// The service of a request has gone: another one gets it, or it fails.
    fn give_back(&mut self, key: RequestKey) {
        let given = self.broker.with_requests(|book, around| book.give_back(key, around));
        let (asked, mut handings) = match given {
            GivenBack::Again(asked, handings) => (asked, handings),
            GivenBack::Failed => return self.end(key, RequestEvent::Fail, Some(GONE)),
            GivenBack::Over => return,
        };
        RequestRecord::Returned { key }.encode(self.feed.records(Durability::Memory));
        match asked {
            Asked::Handed(handing) => {
                let (name, topic) = (&handing.client.name, handing.message.topic());
                self.broker.tell_request(EventKind::RequestRetried, key, name, topic, &GONE);
                self.handings.push(handing);
            }
            Asked::Stored => {}
            Asked::NoService => self.end(key, RequestEvent::NoService, None),
        }
        self.handings.append(&mut handings);
    }

    /// Ends a request: its asker is told, and the service that computes it.
    fn end(&mut self, key: RequestKey, event: RequestEvent, reason: Option<&str>) {
        let Some(ending) = self.broker.requests.book().announce(key, event, None) else { return };
        if event == RequestEvent::AskerGone {
            self.feed.close_untold(self.broker, &ending);
        } else {
            self.feed.tell(self.broker, "", &ending, &AskerMessage::end(ending.state, reason));
        }
        if event == RequestEvent::Drop {
            self.broker.shortage.count_request();
            self.broker.monitor.reached.count(Limit::MemoryBytes);
        }
        if event != RequestEvent::Fail {
            tell_service(self.broker, &ending, &mut self.feed.post);
        }
        self.feed.requests.ended.push((key, ending.is_recorded));
    }
}

impl super::SharedRequests {
    fn take_jobs(&self, most: usize) -> Vec<Job> {
        let mut jobs = lock(&self.jobs);
        let taken = jobs.len().min(most);
        jobs.drain(..taken).collect()
    }

    /// When the keeper has to look again.
    fn sleep(&self, now_ms: Millis) -> Millis {
        let book = self.book(); // whoever adds a request after this sees until when it sleeps
        let next_ms = book.next_deadline_ms().unwrap_or(Millis::MAX).min(now_ms + IDLE_MS);
        self.sleeps_until_ms.store(next_ms, Ordering::SeqCst);
        next_ms
    }

    /// Whether requests wait for room in the journal.
    fn is_held_up(&self) -> bool {
        matches!(lock(&self.jobs).front(), Some(Job::HandOut(_)))
    }
}
