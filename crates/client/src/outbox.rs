//! The outbox: bytes that were accepted and are not sent, bounded. Holds the protocol, which the threads of
//! the client's owner share with the driver.

use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use slipring_protocol::{ClientEvent, ClientProtocol, DeliveryTag, ProtocolEvent, SendError};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// A buffer that grew beyond this in a burst is freed afterwards.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

struct State {
    protocol: ClientProtocol,
    /// Bytes that the driver has taken and not written.
    unwritten: usize,
    /// How many bytes of what the driver took last were messages at QoS 0.
    qos0_unwritten: usize,
    wants_room: bool,
    /// All bytes that the driver has ever taken.
    taken: u64,
    /// There will be no other connection.
    over: bool,
}

/// A position in a connection's output: the end of what was accepted at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxPosition {
    connection: u64,
    end: u64,
}

pub(crate) struct Outbox {
    /// Any thread publishes while the driver sends and receives. The lock is held to encode one
    /// packet or to decode and deliver a few, never to wait. Lock order: the outbox, then the inbox.
    state: Mutex<State>,
    work: Notify,
    /// Something was written or acknowledged, or there is another connection.
    progress: Notify,
    bytes_max: usize,
}

/// The next task of the driver.
pub(crate) enum DriverStep {
    /// Send, receive, and call `handle_timeout` at the deadline.
    Go(Option<Instant>),
    /// The same, and read even while the inbox is full: only acknowledgements matter.
    Drain(Option<Instant>),
    /// Everything is sent, DISCONNECT too: close the connection.
    Sent(Option<Instant>),
    /// There is no connection; call `handle_timeout` at the deadline, then make one.
    Wait(Option<Instant>),
    /// The connection has ended.
    Stop,
}

impl Outbox {
    pub fn new(protocol: ClientProtocol, bytes_max: usize) -> Self {
        let (unwritten, qos0_unwritten, taken) = (0, 0, 0);
        let (wants_room, over) = (false, false);
        let state = State { protocol, unwritten, qos0_unwritten, wants_room, taken, over };
        let (work, progress) = (Notify::new(), Notify::new());
        Self { state: Mutex::new(state), work, progress, bytes_max }
    }

    /// Appends a packet, or returns `Full` if the outbox has reached its bound.
    pub fn send<T>(
        &self,
        write: impl FnOnce(&mut ClientProtocol) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let mut state = self.lock();
        if state.held_bytes() >= self.bytes_max && !state.protocol.is_closed() {
            state.wants_room = true;
            return Err(SendError::Full);
        }
        let idle = state.protocol.output().is_empty();
        let written = write(&mut state.protocol)?;
        self.wake(idle, state);
        Ok(written)
    }

    /// Appends a packet that belongs to one connection alone. Returns the position of its end.
    pub fn send_on(
        &self,
        connection: u64,
        write: impl FnOnce(&mut ClientProtocol) -> Result<(), SendError>,
    ) -> Result<OutboxPosition, SendError> {
        let mut state = self.lock();
        if state.protocol.connection() != Some(connection) {
            return Err(SendError::Away);
        }
        if state.held_bytes() >= self.bytes_max {
            return Err(SendError::Full);
        }
        let idle = state.protocol.output().is_empty();
        write(&mut state.protocol)?;
        let end = state.taken + state.protocol.output().len() as u64;
        self.wake(idle, state);
        Ok(OutboxPosition { connection, end })
    }

    /// Whether everything up to this position is written, or lost with its connection.
    pub fn is_past(&self, position: OutboxPosition) -> bool {
        let state = self.lock();
        let written = state.taken - state.unwritten as u64;
        state.protocol.connection() != Some(position.connection) || written >= position.end
    }

    /// Whether nothing more will ever be accepted.
    pub fn is_over(&self) -> bool {
        let state = self.lock();
        state.over || state.protocol.is_draining() || state.protocol.is_closing()
    }

    /// Resolves when something is written or acknowledged, or there is another connection.
    pub fn progress(&self) -> Notified<'_> {
        self.progress.notified()
    }

    /// Lets the protocol write something small, even beyond the bound.
    pub fn write(&self, write: impl FnOnce(&mut ClientProtocol)) {
        let mut state = self.lock();
        let idle = state.protocol.output().is_empty();
        write(&mut state.protocol);
        self.wake(idle, state);
    }

    /// Wakes the driver if the output was empty; else it has been woken before.
    fn wake(&self, idle: bool, state: MutexGuard<'_, State>) {
        let written = !state.protocol.output().is_empty();
        drop(state);
        if idle && written {
            self.work.notify_one();
        }
    }

    /// Looks at the protocol.
    pub fn look<T>(&self, look: impl FnOnce(&ClientProtocol) -> T) -> T {
        look(&self.lock().protocol)
    }

    /// Changes the protocol, and wakes the driver and the writers.
    pub fn change<T>(&self, change: impl FnOnce(&mut ClientProtocol) -> T) -> T {
        let changed = change(&mut self.lock().protocol);
        self.work.notify_one();
        self.progress.notify_waiters();
        changed
    }

    /// Resolves when there may be something new to do.
    pub async fn work(&self) {
        self.work.notified().await;
    }

    pub fn plan(&self) -> DriverStep {
        let state = self.lock();
        let deadline = state.protocol.deadline();
        if state.protocol.is_closed() {
            DriverStep::Stop
        } else if state.protocol.is_away() {
            DriverStep::Wait(deadline)
        } else if state.protocol.is_closing() && state.unwritten_bytes() == 0 {
            DriverStep::Sent(deadline)
        } else if state.protocol.is_draining() {
            DriverStep::Drain(deadline)
        } else {
            DriverStep::Go(deadline)
        }
    }

    /// Takes the output, to be written; `sent` is the buffer that was written before.
    pub fn take(&self, mut sent: Vec<u8>, now: Instant) -> Vec<u8> {
        sent.clear();
        if sent.capacity() > BUFFER_BYTES_KEPT {
            sent = Vec::new();
        }
        let mut state = self.lock();
        if state.protocol.output().is_empty() {
            return sent;
        }
        state.qos0_unwritten = state.protocol.qos0_bytes();
        let output = state.protocol.take_output(sent, now);
        state.unwritten = output.len();
        state.taken += output.len() as u64;
        output
    }

    pub fn written(&self, bytes: usize) {
        self.lock().unwritten -= bytes;
        self.progress.notify_waiters();
    }

    /// Whether a caller who found the outbox full may try again; true once.
    #[must_use]
    pub fn has_room_again(&self) -> bool {
        let mut state = self.lock();
        state.held_bytes() <= self.bytes_max / 2 && std::mem::take(&mut state.wants_room)
    }

    /// Receives some packets and delivers their messages under one lock, so that a change of a
    /// subscription falls before both or after both. Messages whose tags `deliver` returns stay
    /// unacknowledged.
    pub fn receive(
        &self,
        bytes: &[u8],
        now: Instant,
        events: &mut Vec<ProtocolEvent>,
        deliver: impl FnOnce(&mut Vec<ProtocolEvent>) -> Vec<DeliveryTag>,
    ) -> usize {
        let mut state = self.lock();
        let used = state.protocol.receive(bytes, now, events);
        let refused = deliver(events);
        state.protocol.abandon(&refused);
        drop(state);
        self.progress.notify_waiters();
        used
    }

    /// Accepted bytes that are not sent yet.
    pub fn unsent_bytes(&self) -> usize {
        let state = self.lock();
        let unwritten = state.unwritten_bytes().saturating_sub(state.protocol.own_bytes());
        unwritten + state.protocol.waiting_bytes()
    }

    /// After a connection: the event that announces another one; `None` if there will be none.
    pub fn retry(&self, now: Instant, random: u32) -> Option<ClientEvent> {
        let mut state = self.lock();
        let loss = state.protocol.loss()?.clone();
        let unsent_bytes = state.qos0_bytes();
        let retry_in = state.protocol.retry(now, random)?;
        state.unwritten = 0;
        Some(ClientEvent::Away { loss, unsent_bytes, retry_in })
    }

    /// The last event, once the protocol is closed.
    pub fn last_event(&self) -> ClientEvent {
        let mut state = self.lock();
        state.over = true;
        self.progress.notify_waiters();
        let unsent_bytes = state.qos0_bytes() + state.protocol.waiting_bytes();
        match state.protocol.loss() {
            Some(loss) => ClientEvent::Lost { loss: loss.clone(), unsent_bytes },
            None => ClientEvent::Closed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while the outbox is locked")
    }
}

impl State {
    fn unwritten_bytes(&self) -> usize {
        self.protocol.output().len() + self.unwritten
    }

    /// Bytes of messages at QoS 0 that are not written; an estimate for a buffer half written.
    fn qos0_bytes(&self) -> usize {
        self.protocol.qos0_bytes() + self.qos0_unwritten.min(self.unwritten)
    }

    /// Bytes that are kept because they are not written, or not acknowledged.
    fn held_bytes(&self) -> usize {
        self.unwritten_bytes() + self.protocol.unacknowledged_bytes()
    }
}
