//! A client as its owner sees it: calls that never block, and a descriptor that says "look".

use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use slipring_wire::{Publish, QoS};
use tokio::runtime::Handle;

use crate::credentials::Credentials;
use crate::driver::{self, Boxes};
use crate::inbox::Inbox;
use crate::machine::{
    BatchId, Greeting, Machine, Message, Notice, PingId, PublishId, Receipt, SendError,
    SubscriptionId, Tally,
};
use crate::outbox::Outbox;
use crate::transport::{TlsError, TlsFiles, Trust};
use crate::writer::{Writer, WriterOptions};
use crate::{Address, runtime};

/// How a client connects, and its bounds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Empty asks the broker for one.
    pub client_id: String,
    /// What the client proves itself with.
    pub credentials: Credentials,
    /// What TLS is done with; only for an address that asks for it.
    pub tls: Option<TlsFiles>,
    /// Seconds of silence before a ping; 0 is never.
    pub keep_alive_s: u16,
    /// Seconds that the broker shall keep the session without a connection.
    pub session_expiry_s: u32,
    /// Whether a session that the broker has kept is forgotten first.
    pub clean_start: bool,
    /// How long a lost connection is tried to be made again; nothing is never.
    pub reconnect: Duration,
    /// From the call to the broker's yes; and from `close` to the end, the rest sent or not.
    pub timeout: Duration,
    /// Accepted and not sent yet; at the bound, publishing is answered with `Full`.
    pub outbox_bytes_max: usize,
    /// Received and not taken yet; at the bound, the socket is not read.
    pub inbox_bytes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client_id: String::new(),
            credentials: Credentials::default(),
            tls: None,
            keep_alive_s: 30,
            session_expiry_s: 0,
            clean_start: true,
            reconnect: Duration::ZERO,
            timeout: Duration::from_secs(10),
            outbox_bytes_max: 16 << 20,
            inbox_bytes_max: 64 << 20,
        }
    }
}

/// Why a client was not even started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A client id that the protocol cannot carry.
    #[error("a client id has at most 65,535 bytes and no null character; choose another one")]
    ClientId,
    /// Credentials that the protocol cannot carry.
    #[error("a user name and a password have at most 65,535 bytes, the name no null character")]
    Credentials,
    /// Files that TLS cannot be done with.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The operating system gave no thread or no descriptor.
    #[error("the client could not be started: {0}; see the system's limits (ulimit -a)")]
    System(#[from] io::Error),
}

/// A connection to one broker. Every call returns at once, from any thread.
pub struct Client {
    boxes: Arc<Boxes>,
    runtime: Handle,
    close_timeout: Duration,
}

impl Client {
    /// Starts connecting; a `Connected`, `Lost` or `Closed` notice tells how it went.
    pub fn connect(address: Address, options: Options) -> Result<Self, StartError> {
        let id = &options.client_id;
        if u16::try_from(id.len()).is_err() || id.contains('\0') {
            return Err(StartError::ClientId);
        }
        if !options.credentials.fit() {
            return Err(StartError::Credentials);
        }
        let trust = trust(&address, options.tls)?;
        let greeting = Greeting {
            client_id: options.client_id,
            credentials: options.credentials,
            keep_alive_s: options.keep_alive_s,
            timeout: options.timeout,
            // What arrives must fit into the inbox.
            packet_bytes_max: options.inbox_bytes_max,
            session_expiry_s: options.session_expiry_s,
            clean_start: options.clean_start,
            reconnect: options.reconnect,
        };
        let machine = Machine::new(greeting, Instant::now());
        let boxes = Arc::new(Boxes {
            outbox: Outbox::new(machine, options.outbox_bytes_max),
            inbox: Inbox::new(options.inbox_bytes_max)?,
        });
        let runtime = runtime::handle()?;
        runtime.spawn(driver::run(boxes.clone(), address, trust));
        Ok(Self { boxes, runtime, close_timeout: options.timeout })
    }

    /// The descriptor that is readable when there are notices; valid as long as the client.
    pub fn fd(&self) -> RawFd {
        self.boxes.inbox.fd()
    }

    /// The notices since the last call, in order.
    pub fn notices(&self) -> Vec<Notice> {
        self.boxes.inbox.notices()
    }

    /// Accepts a message to be sent; at QoS 1 and 2 a `Published` notice tells what became of it.
    pub fn publish(&self, publish: &Publish<'_>) -> Result<Option<PublishId>, SendError> {
        self.boxes.outbox.send(|machine| machine.publish(publish))
    }

    /// Begins a batch, whose acknowledgements are counted: a `Tallied` notice tells to look.
    pub fn open_batch(&self) -> BatchId {
        self.boxes.outbox.change(Machine::open_batch)
    }

    /// Accepts a message of a batch.
    pub fn publish_in(&self, batch: BatchId, publish: &Publish<'_>) -> Result<(), SendError> {
        self.boxes.outbox.send(|machine| machine.publish_in(batch, publish))
    }

    /// How far a batch has come.
    pub fn tally(&self, batch: BatchId) -> Tally {
        self.boxes.outbox.look(|machine| machine.tally(batch))
    }

    /// Ends a batch; what was accepted is sent all the same.
    pub fn close_batch(&self, batch: BatchId) {
        self.boxes.outbox.change(|machine| machine.close_batch(batch));
    }

    /// Subscribes to some filters at once; a `Subscribed` notice has the broker's answer.
    ///
    /// With user properties, which the broker may understand, the subscription has its filters for
    /// itself, and gets what the broker sends for it alone. It is made again on every connection.
    pub fn subscribe(
        &self,
        filters: &[&str],
        qos: QoS,
        user: &[(&str, &str)],
    ) -> Result<SubscriptionId, SendError> {
        self.boxes.outbox.send(|machine| {
            let id = machine.subscribe(filters, qos, user)?;
            // Before any message can arrive for it.
            self.boxes.inbox.open(id, qos, filters);
            Ok(id)
        })
    }

    /// Takes what the broker sends on these topics without being asked for it: its answers to
    /// requests that name one of them.
    pub fn listen(&self, topics: &[&str]) -> SubscriptionId {
        self.boxes.outbox.change(|machine| {
            let id = machine.listen(topics);
            self.boxes.inbox.open(id, QoS::AtMostOnce, topics);
            id
        })
    }

    /// The number of the present connection, the first is 1; none while there is none.
    pub fn connection(&self) -> Option<u64> {
        self.boxes.outbox.look(Machine::connection)
    }

    /// Gives a subscription up, with what was not taken from it.
    pub fn unsubscribe(&self, id: SubscriptionId) {
        self.boxes.outbox.write(|machine| {
            machine.done(&self.boxes.inbox.close(id));
            machine.unsubscribe(id);
        });
    }

    /// Ends the reading of a subscription, which stays at the broker. Messages that were taken and
    /// not counted by [`Self::done`], or not taken at all, stay there too.
    pub fn detach(&self, id: SubscriptionId) {
        self.boxes.outbox.write(|machine| {
            machine.detach(id);
            machine.abandon(&self.boxes.inbox.detach(id));
        });
    }

    /// Gives filters up that an earlier subscription of this session left at the broker, and what
    /// came for them.
    pub fn give_up(&self, filters: &[&str]) -> Result<(), SendError> {
        self.boxes.outbox.send(|machine| {
            machine.give_up(filters)?;
            machine.done(&self.boxes.inbox.give_up(filters));
            Ok(())
        })
    }

    /// Messages of the session that no subscription here asks for, and the topic of the first.
    pub fn unclaimed(&self) -> (usize, Option<Arc<str>>) {
        self.boxes.inbox.unclaimed()
    }

    /// Takes the oldest messages of a subscription: at most so many, and about so many bytes.
    ///
    /// When there are none, a `Readable` notice tells of the next. Of a subscription above QoS 0,
    /// a message is acknowledged when [`Self::done`] counts it.
    pub fn take(&self, id: SubscriptionId, count_max: usize, bytes_max: usize) -> Vec<Message> {
        let (messages, done) = self.boxes.inbox.take(id, count_max, bytes_max);
        self.settle(&done);
        messages
    }

    /// The reader of a subscription above QoS 0 is done with so many messages, the oldest it took.
    pub fn done(&self, id: SubscriptionId, count: usize) {
        self.settle(&self.boxes.inbox.done(id, count));
    }

    fn settle(&self, receipts: &[Receipt]) {
        if !receipts.is_empty() {
            self.boxes.outbox.write(|machine| machine.done(receipts));
        }
    }

    /// Starts a writer, which gathers samples and sends them as frames.
    pub fn writer(&self, options: WriterOptions) -> Result<Writer, SendError> {
        Writer::start(self.boxes.clone(), options, &self.runtime)
    }

    /// Measures the round trip to the broker; a `Pong` notice has the answer.
    pub fn ping(&self) -> Result<PingId, SendError> {
        self.boxes.outbox.send(|machine| machine.ping(Instant::now()))
    }

    /// Sends what was accepted, says goodbye and ends; a last notice tells how it went.
    pub fn close(&self) {
        self.boxes.outbox.disconnect(self.close_timeout, Instant::now());
    }

    /// Received and not taken yet.
    pub fn unread_bytes(&self) -> usize {
        self.boxes.inbox.bytes()
    }

    /// Accepted and not sent yet.
    pub fn unsent_bytes(&self) -> usize {
        self.boxes.outbox.unsent_bytes()
    }
}

fn trust(address: &Address, files: Option<TlsFiles>) -> Result<Option<Trust>, TlsError> {
    match (address, files) {
        (Address::Tls(place) | Address::WebSocket { place, secure: true, .. }, files) => {
            Trust::read(&files.unwrap_or_default(), &place.host).map(Some)
        }
        (_, None) => Ok(None),
        (_, Some(_)) => Err(TlsError::NotTls(address.to_string())),
    }
}

/// The descriptor that is readable when there are notices.
impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.boxes.inbox.as_fd()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
    }
}
