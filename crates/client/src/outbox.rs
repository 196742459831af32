//! What was accepted and is not sent yet: the machine's output, bounded, shared with the driver.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::machine::{Event, Machine, Notice, Receipt, SendError};

/// A buffer that grew beyond this in a burst is given back afterwards.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

struct State {
    machine: Machine,
    /// Taken by the driver and not written.
    in_flight: usize,
    /// Of what the driver took, messages at QoS 0.
    once_in_flight: usize,
    wants_room: bool,
    /// Bytes the driver ever took.
    taken: u64,
    /// There will be no other connection.
    over: bool,
}

/// A place in the stream of bytes: the end of what was accepted at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    connection: u64,
    end: u64,
}

pub(crate) struct Outbox {
    /// Any thread publishes while the driver sends and receives; held for one packet to encode or
    /// a few to decode and deliver, never to wait. The inbox is locked after it, never before.
    state: Mutex<State>,
    work: Notify,
    /// Something was written or answered, or the connection is another one.
    progress: Notify,
    bytes_max: usize,
}

/// What the driver has to do next.
pub(crate) enum Plan {
    /// Send, receive, and call `handle_timeout` at the deadline.
    Go(Option<Instant>),
    /// The same, and whatever arrives is taken, even where nobody reads it any more.
    Drain(Option<Instant>),
    /// Everything is sent, the last word too.
    Sent(Option<Instant>),
    /// There is no connection; call `handle_timeout` at the deadline, then make one.
    Wait(Option<Instant>),
    /// Nothing.
    Stop,
}

impl Outbox {
    pub fn new(machine: Machine, bytes_max: usize) -> Self {
        let (in_flight, once_in_flight, taken) = (0, 0, 0);
        let (wants_room, over) = (false, false);
        let state = State { machine, in_flight, once_in_flight, wants_room, taken, over };
        let (work, progress) = (Notify::new(), Notify::new());
        Self { state: Mutex::new(state), work, progress, bytes_max }
    }

    /// Appends a packet, unless so much waits already that the caller has to wait too.
    pub fn send<T>(
        &self,
        write: impl FnOnce(&mut Machine) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let mut state = self.lock();
        if state.held_bytes() >= self.bytes_max && !state.machine.is_closed() {
            state.wants_room = true;
            return Err(SendError::Full);
        }
        let idle = state.machine.output().is_empty();
        let written = write(&mut state.machine)?;
        self.wake(idle, state);
        Ok(written)
    }

    /// Appends a packet that belongs to one connection alone, and tells where it ends.
    pub fn send_on(
        &self,
        connection: u64,
        write: impl FnOnce(&mut Machine) -> Result<(), SendError>,
    ) -> Result<Mark, SendError> {
        let mut state = self.lock();
        if state.machine.connection() != Some(connection) {
            return Err(SendError::Away);
        }
        if state.held_bytes() >= self.bytes_max {
            return Err(SendError::Full);
        }
        let idle = state.machine.output().is_empty();
        write(&mut state.machine)?;
        let end = state.taken + state.machine.output().len() as u64;
        self.wake(idle, state);
        Ok(Mark { connection, end })
    }

    /// Whether what was accepted up to a place is written, or gone with its connection.
    pub fn is_past(&self, mark: Mark) -> bool {
        let state = self.lock();
        let written = state.taken - state.in_flight as u64;
        state.machine.connection() != Some(mark.connection) || written >= mark.end
    }

    /// Whether nothing more is accepted, now and later.
    pub fn is_over(&self) -> bool {
        let state = self.lock();
        state.over || state.machine.is_draining() || state.machine.is_closing()
    }

    /// Resolves when something is written or answered, or the connection is another one.
    pub fn progress(&self) -> Notified<'_> {
        self.progress.notified()
    }

    /// Lets the machine write something small, whatever waits.
    pub fn write(&self, write: impl FnOnce(&mut Machine)) {
        let mut state = self.lock();
        let idle = state.machine.output().is_empty();
        write(&mut state.machine);
        self.wake(idle, state);
    }

    /// Output that was there before has woken the driver already.
    fn wake(&self, idle: bool, state: MutexGuard<'_, State>) {
        let written = !state.machine.output().is_empty();
        drop(state);
        if idle && written {
            self.work.notify_one();
        }
    }

    /// Looks at the machine.
    pub fn look<T>(&self, look: impl FnOnce(&Machine) -> T) -> T {
        look(&self.lock().machine)
    }

    /// Changes the machine whatever waits.
    pub fn change<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        let changed = change(&mut self.lock().machine);
        self.work.notify_one();
        self.progress.notify_waiters();
        changed
    }

    /// Resolves when there may be something new to do.
    pub async fn work(&self) {
        self.work.notified().await;
    }

    pub fn plan(&self) -> Plan {
        let state = self.lock();
        let deadline = state.machine.deadline();
        if state.machine.is_closed() {
            Plan::Stop
        } else if state.machine.is_away() {
            Plan::Wait(deadline)
        } else if state.machine.is_closing() && state.unwritten_bytes() == 0 {
            Plan::Sent(deadline)
        } else if state.machine.is_draining() {
            Plan::Drain(deadline)
        } else {
            Plan::Go(deadline)
        }
    }

    /// Takes what waits, to be written; `sent` is the buffer written before.
    pub fn take(&self, mut sent: Vec<u8>, now: Instant) -> Vec<u8> {
        sent.clear();
        if sent.capacity() > BUFFER_BYTES_KEPT {
            sent = Vec::new();
        }
        let mut state = self.lock();
        if state.machine.output().is_empty() {
            return sent;
        }
        state.once_in_flight = state.machine.once_bytes();
        let output = state.machine.take_output(sent, now);
        state.in_flight = output.len();
        state.taken += output.len() as u64;
        output
    }

    pub fn written(&self, bytes: usize) {
        self.lock().in_flight -= bytes;
        self.progress.notify_waiters();
    }

    /// Whether a caller who found it full may try again; says so once.
    #[must_use]
    pub fn has_room_again(&self) -> bool {
        let mut state = self.lock();
        state.held_bytes() <= self.bytes_max / 2 && std::mem::take(&mut state.wants_room)
    }

    /// Receives some packets, and delivers what came in one step with it: whoever changes a
    /// subscription meanwhile finds both before, or both after. What cannot be delivered stays with
    /// the broker.
    pub fn receive(
        &self,
        bytes: &[u8],
        now: Instant,
        events: &mut Vec<Event>,
        deliver: impl FnOnce(&mut Vec<Event>) -> Vec<Receipt>,
    ) -> usize {
        let mut state = self.lock();
        let used = state.machine.receive(bytes, now, events);
        let refused = deliver(events);
        state.machine.abandon(&refused);
        drop(state);
        self.progress.notify_waiters();
        used
    }

    /// Accepted bytes that are not sent yet.
    pub fn unsent_bytes(&self) -> usize {
        let state = self.lock();
        let unwritten = state.unwritten_bytes().saturating_sub(state.machine.own_bytes());
        unwritten + state.machine.waiting_bytes()
    }

    /// After a connection: the notice that another one will be made; none if not.
    pub fn retry(&self, now: Instant, random: u32) -> Option<Notice> {
        let mut state = self.lock();
        let loss = state.machine.loss()?.clone();
        let unsent_bytes = state.once_bytes();
        let retry_in = state.machine.retry(now, random)?;
        state.in_flight = 0;
        Some(Notice::Away { loss, unsent_bytes, retry_in })
    }

    /// The last notice, once the machine is closed.
    pub fn last_notice(&self) -> Notice {
        let mut state = self.lock();
        state.over = true;
        self.progress.notify_waiters();
        let unsent_bytes = state.once_bytes() + state.machine.waiting_bytes();
        match state.machine.loss() {
            Some(loss) => Notice::Lost { loss: loss.clone(), unsent_bytes },
            None => Notice::Closed,
        }
    }

    /// Ends an orderly close, bounded by the time-out.
    pub fn disconnect(&self, timeout: Duration, now: Instant) {
        self.change(|machine| machine.disconnect(timeout, now));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while the outbox is locked")
    }
}

impl State {
    fn unwritten_bytes(&self) -> usize {
        self.machine.output().len() + self.in_flight
    }

    /// Messages at QoS 0 that are not written, as far as can be told of one half written.
    fn once_bytes(&self) -> usize {
        self.machine.once_bytes() + self.once_in_flight.min(self.in_flight)
    }

    /// All that is kept for what was accepted: not written, or not acknowledged.
    fn held_bytes(&self) -> usize {
        self.unwritten_bytes() + self.machine.unacknowledged_bytes()
    }
}
