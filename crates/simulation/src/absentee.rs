//! A client that loses its connection and is away for a while. It checks that its session ends and its will is
//! published in time, even if the broker crashes meanwhile.
//!
//! Example: a client loses its connection at 10 s; its will has a delay of 5 s. At 12 s the broker is killed, at
//! 14 s it is up again. If the journal has the record that the client left, the will is published at 15 s. If the
//! crash lost that record, the broker assumes that the client was connected until the last record: the will is
//! published between 5 s after the client came and 17 s.

use std::collections::BTreeSet;

use slipring_engine::simulated::Simulated;
use slipring_wire::{Packet, PropertiesBuf, PropertyId, QoS, Value, Will};

use crate::line::{Line, Stay, subscribe};
use crate::subscriber::Subscriber;

const NAME: &str = "absentee";
/// Its wills go to all subscribers, and are numbered like messages of QoS 2.
const TOPIC: &str = "simulated/absentee";
/// How long its sessions are kept.
pub const EXPIRY_S: u32 = 20;
/// How long its wills wait.
const DELAY_S: u32 = 5;
/// How often it looks for the answers to its CONNECT and its SUBSCRIBE.
const LOOKS_MAX: usize = 16;

/// Its last connection. Times are milliseconds since the history began.
#[derive(Clone, Copy, Debug)]
struct Visit {
    came_ms: u64,
    /// None while it is connected.
    left_ms: Option<u64>,
    /// The journal has the record of when it left, and no crash can lose it.
    is_noted: bool,
    /// When the broker last ended since then, and when it last started.
    restart_ms: Option<(u64, u64)>,
}

impl Visit {
    /// The earliest and the latest time of an event that is due so many seconds after it left.
    fn due_ms(&self, seconds: u32, has_jumped: bool) -> Option<(u64, u64)> {
        let (left_ms, after_ms) = (self.left_ms?, u64::from(seconds) * 1_000);
        let exact_ms = left_ms + after_ms;
        Some(match self.restart_ms {
            None => (exact_ms, exact_ms),
            Some((_, started_ms)) if has_jumped => (self.came_ms, started_ms + after_ms),
            Some((_, started_ms)) if self.is_noted => (exact_ms, exact_ms.max(started_ms)),
            Some((ended_ms, started_ms)) => {
                (self.came_ms + after_ms, started_ms.max(ended_ms + after_ms))
            }
        })
    }
}

/// The client, over all its connections.
#[derive(Default)]
pub struct Absentee {
    line: Option<Line>,
    /// None if it does not know whether its CONNECT was accepted.
    visit: Option<Visit>,
    connects: u64,
    /// The wall clock was moved. A broker that starts after that cannot know how long a client has been away.
    has_jumped: bool,
    /// Wills that were due, and those that were cancelled because it came back in time.
    due: BTreeSet<u64>,
    cancelled: BTreeSet<u64>,
    /// How many of its sessions ended in its absence.
    pub expired: usize,
    /// Broken promises, in words.
    pub broken: Vec<String>,
}

impl Absentee {
    /// Connects if it is away. The answer about its session counts once SUBACK has come: then the session and its
    /// will are safe.
    pub fn come(&mut self, broker: &mut Simulated, now_ms: u64) {
        if self.line.is_some() {
            return;
        }
        let mut line = open(broker, self.will() + 3);
        subscribe(&mut line, "nothing/comes");
        let (mut session_present, mut is_safe, mut is_open) = (false, false, true);
        for _ in 0..LOOKS_MAX {
            is_open &= line.exchange(broker);
            line.receive(|_, packet| match packet {
                Packet::ConnAck(connack) => session_present = connack.session_present,
                Packet::SubAck(_) => is_safe = true,
                _ => {}
            });
            broker.commit();
        }
        let is_in = is_safe && is_open;
        if is_in {
            self.note_return(now_ms);
        }
        self.connects += 1;
        let before = self.visit.take();
        if !is_in {
            return;
        }
        if let Some((soonest_ms, latest_ms)) =
            before.and_then(|visit| visit.due_ms(EXPIRY_S, self.has_jumped))
        {
            self.expired += usize::from(!session_present);
            if session_present && now_ms > latest_ms {
                self.broken.push(format!("at {now_ms} a session was there, due at {latest_ms}"));
            }
            if !session_present && now_ms < soonest_ms {
                self.broken.push(format!("at {now_ms} a session was gone, due at {soonest_ms}"));
            }
        }
        self.line = Some(line);
        let (came_ms, left_ms, restart_ms) = (now_ms, None, None);
        self.visit = Some(Visit { came_ms, left_ms, is_noted: false, restart_ms });
    }

    /// The number of its newest will.
    fn will(&self) -> u64 {
        3 * self.connects + 2
    }

    /// Notes that coming back before the delay is over cancels the will.
    fn note_return(&mut self, now_ms: u64) {
        let due = self.visit.and_then(|visit| visit.due_ms(DELAY_S, self.has_jumped));
        if due.is_some_and(|(soonest_ms, _)| now_ms < soonest_ms) {
            self.cancelled.insert(self.will());
        }
    }

    /// Loses its connection.
    pub fn lose(&mut self, now_ms: u64) {
        self.line = None;
        if let Some(visit) = &mut self.visit {
            visit.left_ms.get_or_insert(now_ms);
        }
    }

    /// Notes that the broker has ended and was started again.
    pub fn restarted(&mut self, ended_ms: u64, started_ms: u64) {
        self.lose(ended_ms);
        if let Some(visit) = &mut self.visit {
            visit.restart_ms = Some((ended_ms, started_ms));
        }
    }

    /// Notes that the wall clock was moved.
    pub fn jumped(&mut self) {
        self.has_jumped = true;
    }

    /// Notes that the broker has done everything that was due, and the journal has all of it. `is_kept` says that
    /// no crash loses what is written.
    pub fn settled(&mut self, now_ms: u64, is_kept: bool) {
        let Some(visit) = &mut self.visit else { return };
        visit.is_noted |= is_kept && visit.left_ms.is_some() && visit.restart_ms.is_none();
        let Some((_, latest_ms)) = visit.due_ms(DELAY_S, self.has_jumped) else { return };
        if now_ms > latest_ms {
            self.due.insert(self.will());
        }
    }

    /// Checks that a will which a subscriber has was due.
    pub fn look_at(&mut self, subscriber: &Subscriber, now_ms: u64) {
        let Some(visit) = &self.visit else { return };
        let is_due = visit
            .due_ms(DELAY_S, self.has_jumped)
            .is_some_and(|(soonest_ms, _)| now_ms >= soonest_ms);
        let will = self.will();
        if !is_due && subscriber.received.has(TOPIC, will) {
            self.broken.push(format!("the will {will} was there at {now_ms}, too early"));
        }
    }

    /// Checks the wills that a subscriber has at the end.
    pub fn judge(&mut self, subscriber: &Subscriber) {
        let has = |will: &u64| subscriber.received.has(TOPIC, *will);
        let missed = self.due.iter().filter(|will| !has(will));
        self.broken.extend(missed.map(|will| format!("the will {will} was not published")));
        let wrong = self.cancelled.iter().filter(|will| has(will));
        self.broken.extend(wrong.map(|will| format!("the will {will} was cancelled, and came")));
    }

    /// How many wills were due.
    pub fn wills(&self) -> usize {
        self.due.len()
    }
}

fn open(broker: &Simulated, number: u64) -> Line {
    let payload = number.to_be_bytes();
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::WillDelayInterval, Value::Four(DELAY_S));
    let (qos, properties) = (QoS::ExactlyOnce, properties.borrow());
    let will = Will { topic: TOPIC, payload: &payload, qos, retain: false, properties };
    Line::open_with(broker, NAME, Stay::For(EXPIRY_S), Some(will))
}
