//! What people see of the running broker: events, counters, limits reached, and whether it still works. No other
//! part of the broker depends on it.

use std::sync::{Arc, Mutex, OnceLock};

use slipring_core::Millis;

use crate::audit::Audit;
use crate::client::Client;
use crate::clock::Clock;
use crate::event::{EventKind, Report};
use crate::event_queue::{EventQueue, FetchedEvents};
use crate::notices::Notices;
use crate::pulse::Pulse;
use crate::traffic::{Prefixes, Reached, Traffic};
use crate::victims::VictimReports;

/// Its locks are taken last, and for a moment.
pub(crate) struct Monitor {
    clock: Clock,
    /// What happened, for the log.
    pub events: EventQueue,
    /// What happened, for the audit.
    pub audit: Audit,
    pub traffic: Traffic,
    pub prefixes: Prefixes,
    pub reached: Reached,
    pub notices: Notices,
    pub victims: VictimReports,
    pub pulse: Pulse,
    // Clients with losses to report, each once. A lock: taken when a client begins to lose messages, and
    // when events are fetched.
    pub losing: Mutex<Vec<Arc<Client>>>,
    /// Why the engine cannot go on, once one of its own tasks was given up.
    failure: OnceLock<String>,
}

impl Monitor {
    pub fn new(clock: Clock) -> Self {
        Self {
            audit: Audit::new(clock.clone()),
            clock,
            events: EventQueue::default(),
            traffic: Traffic::default(),
            prefixes: Prefixes::default(),
            reached: Reached::default(),
            notices: Notices::default(),
            victims: VictimReports::default(),
            pulse: Pulse::default(),
            losing: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// Reports what happened to a client.
    pub fn report(&self, kind: EventKind, client: &str, detail: impl AsRef<str>) {
        self.tell(&Report::new(kind, client).detail(&detail.as_ref()));
    }

    /// Reports what happened, with its topic or request. An event that can happen for each message or request is kept
    /// only while its kind is wanted.
    #[cold]
    pub fn tell(&self, report: &Report<'_>) {
        let now_ns = self.clock.now_ns();
        self.audit.see(now_ns, report);
        self.events.add(now_ns, report);
    }

    /// Records what happened for the audit alone.
    #[cold]
    pub fn record(&self, report: &Report<'_>) {
        self.audit.see(self.clock.now_ns(), report);
    }

    /// Reports what happened for the log alone.
    #[cold]
    pub fn log(&self, report: &Report<'_>) {
        self.events.add(self.clock.now_ns(), report);
    }

    /// The events since the last call.
    pub fn take_events(&self, now_ms: Millis) -> FetchedEvents {
        self.tell_losses(now_ms);
        self.events.take()
    }

    /// Notes that the engine cannot go on: its owner must end the process.
    pub fn fail(&self, why: String) {
        let _ = self.failure.set(why); // the first reason counts
    }

    /// Why the engine cannot go on.
    pub fn failed(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
