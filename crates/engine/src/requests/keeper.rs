//! The keeper of requests: ends those whose time is over, whose asker or service has gone, or that were cancelled.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use slipring_core::ledger::RequestRecord;
use slipring_core::requests::{Asked, GivenBack, Handing, RequestBook, RequestEvent, RequestKey};
use slipring_core::{Durability, Limit, Millis};

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
/// Looks at topics between two turns of others.
const LOOKS_MAX: usize = 4;
/// The pause after the journal has refused an end.
const PAUSE: Duration = Duration::from_millis(100);
const GONE: &str = "the service has gone";

/// Looks after the requests until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::default();
    while !broker.stopping.is_set() {
        let woken = broker.requests.woken.notified();
        while work(&broker, &mut feed).await {}
        let next_ms = broker.requests.next_look_ms();
        tokio::select! {
            () = broker.clock.sleep_until(next_ms.unwrap_or_default()), if next_ms.is_some() => {}
            () = woken => {}
            () = broker.stopping.wait() => {}
        }
    }
}

/// Does some of the work; returns whether there may be more.
async fn work(broker: &Arc<Broker>, feed: &mut Feed) -> bool {
    if broker.stopping.is_set() || !broker.requests.has_work() {
        return false;
    }
    feed.begin(broker, broker.clock.now_ns());
    let mut shift = Shift { broker, feed, handings: Vec::new(), ended: Vec::new(), left: ENDS_MAX };
    if !shift.work() {
        return false;
    }
    let Shift { handings, mut ended, .. } = shift;
    let is_refused = feed.journal(broker).await.is_err();
    broker.hand_out(handings, &mut feed.post); // after the records that they were given back
    feed.finish();
    if let Some(later) = feed.post.take_later() {
        spawn(broker, "requests", later.settle(Arc::clone(broker)));
    }
    let undone = std::mem::take(&mut feed.requests.undone);
    ended.retain(|(key, ..)| undone.contains(key));
    broker.requests.try_again(ended);
    if is_refused || !undone.is_empty() || broker.requests.is_held_up() {
        tokio::time::sleep(PAUSE).await;
    }
    tokio::task::yield_now().await;
    true
}

/// How a request ends, and what is told.
type End = (RequestKey, RequestEvent, Option<&'static str>);

/// One piece of the keeper's work.
struct Shift<'a> {
    broker: &'a Arc<Broker>,
    feed: &'a mut Feed,
    handings: Vec<Handing<Client>>,
    /// The ends of this piece.
    ended: Vec<End>,
    /// How many requests it may still end or give back.
    left: usize,
}

impl Shift<'_> {
    /// Returns whether there was work.
    fn work(&mut self) -> bool {
        let due = self.broker.requests.book().due(self.broker.clock.now_ms(), ENDS_MAX);
        let mut has_worked = !due.is_empty();
        while self.left > 0 {
            let Some(job) = lock(&self.broker.requests.jobs).pop_front() else { break };
            has_worked = true;
            self.take(job);
        }
        for _ in 0..LOOKS_MAX {
            if self.left == 0 || !self.broker.requests.book().has_looks() {
                break;
            }
            has_worked = true;
            self.look();
        }
        for key in due {
            self.end(key, RequestEvent::TimeOut, None);
        }
        has_worked
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::End(key, event, reason) => self.end(key, event, reason),
            Job::EndAll(mut keys, event) => {
                self.end_some(&mut keys, event);
                self.go_on_later(keys, |keys| Job::EndAll(keys, event));
            }
            Job::Left(session) => {
                let lost = self.broker.requests.book().service_left(session);
                self.take(Job::GiveBack(lost.into()));
            }
            Job::Gone(session) => {
                let mut book = self.broker.requests.book();
                let asked = book.asker_gone(session);
                let held = book.service_gone(session);
                drop(book);
                self.take(Job::EndAll(asked.into(), RequestEvent::AskerGone));
                self.take(Job::GiveBack(held.into()));
            }
            Job::GiveBack(mut keys) => {
                while self.left > 0 {
                    let Some(key) = keys.pop_front() else { break };
                    self.give_back(key);
                }
                self.go_on_later(keys, Job::GiveBack);
            }
            Job::HandOut(mut handings) => self.handings.append(&mut handings),
        }
    }

    fn end_some(&mut self, keys: &mut VecDeque<RequestKey>, event: RequestEvent) {
        while self.left > 0 {
            let Some(key) = keys.pop_front() else { break };
            self.end(key, event, None);
        }
    }

    /// The next piece of work begins with the requests that are left of a job.
    fn go_on_later(
        &mut self,
        keys: VecDeque<RequestKey>,
        job: impl FnOnce(VecDeque<RequestKey>) -> Job,
    ) {
        if !keys.is_empty() {
            lock(&self.broker.requests.jobs).push_front(job(keys));
        }
    }

    /// Looks at some topics whose services have changed.
    fn look(&mut self) {
        let mut looked = self.broker.with_requests(RequestBook::look);
        self.broker.tell_handed(&looked.handings);
        self.handings.append(&mut looked.handings);
        self.take(Job::EndAll(looked.unserved.into(), RequestEvent::NoService));
    }

    /// The service of a request has gone: another one gets it, or it fails.
    fn give_back(&mut self, key: RequestKey) {
        self.left = self.left.saturating_sub(1);
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
    fn end(&mut self, key: RequestKey, event: RequestEvent, reason: Option<&'static str>) {
        self.left = self.left.saturating_sub(1);
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
        self.ended.push((key, event, reason));
    }
}

impl super::SharedRequests {
    /// Ends that the journal refused are tried again; a time-out is due again by itself.
    fn try_again(&self, ends: Vec<End>) {
        let again = ends.into_iter().filter(|(_, event, _)| *event != RequestEvent::TimeOut);
        let mut jobs = lock(&self.jobs);
        jobs.extend(again.map(|(key, event, reason)| Job::End(key, event, reason)));
    }

    /// Whether the keeper has something to do, now or at a deadline.
    fn has_work(&self) -> bool {
        let book = self.book();
        book.has_looks() || book.next_deadline_ms().is_some() || !lock(&self.jobs).is_empty()
    }

    /// When the keeper has to look again if nobody wakes it; None if no request has a deadline.
    fn next_look_ms(&self) -> Option<Millis> {
        let book = self.book(); // whoever adds a request after this sees until when it sleeps
        let next_ms = book.next_deadline_ms();
        self.sleeps_until_ms.store(next_ms.unwrap_or(Millis::MAX), Ordering::SeqCst);
        next_ms
    }

    /// Whether requests wait for room in the journal.
    fn is_held_up(&self) -> bool {
        matches!(lock(&self.jobs).front(), Some(Job::HandOut(_)))
    }
}
