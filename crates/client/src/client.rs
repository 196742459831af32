//! A client as its owner sees it: calls that never block, and a descriptor that is readable when
//! there are events.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use slipring_protocol::{
    BatchId, ClientEvent, ClientProtocol, ConnectOptions, DeliveryTag, NonceSeed, PingId,
    PublishId, PublishTally, ReceivedMessage, SendError, SubscriptionId,
};
use slipring_wire::{Publish, QoS};
use tokio::runtime::Handle;
use zeroize::Zeroizing;

use crate::driver::{self, Mailboxes};
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::transport::{ClientTlsError, ClientTlsFiles, Trust};
use crate::writer::{Writer, WriterOptions};
use crate::{Address, runtime};

/// How a client connects, and its bounds.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// How it connects. The time-out is also that of [`Client::close`].
    pub connect: ConnectOptions,
    /// The files for TLS; only for an address that asks for TLS.
    pub tls: Option<ClientTlsFiles>,
    /// Bytes accepted and not sent; at the bound, publishing returns [`SendError::Full`].
    pub outbox_bytes_max: usize,
    /// Bytes received and not taken; at the bound, the driver stops reading the socket.
    pub inbox_bytes_max: usize,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let connect = ConnectOptions::default();
        Self { connect, tls: None, outbox_bytes_max: 16 << 20, inbox_bytes_max: 64 << 20 }
    }
}

/// Why a client was not started.
#[derive(Debug, thiserror::Error)]
pub enum ClientStartError {
    /// A client id that CONNECT cannot carry.
    #[error("a client id has at most 65,535 bytes and no null character; choose another one")]
    ClientId,
    /// Credentials that CONNECT cannot carry.
    #[error("a user name and a password have at most 65,535 bytes, the name no null character")]
    Credentials,
    /// Credentials without what their method needs.
    #[error("SCRAM needs a user name and a password, and a token must not be empty")]
    Incomplete,
    /// A will that CONNECT cannot carry.
    #[error(
        "a will is for a topic without + and #, and its payload and its properties have at most 65,535 bytes each; choose another"
    )]
    Will,
    /// Files that TLS cannot use.
    #[error(transparent)]
    Tls(#[from] ClientTlsError),
    /// The operating system gave no thread or no descriptor.
    #[error("the client could not be started: {0}; see the system's limits (ulimit -a)")]
    System(#[from] io::Error),
}

/// A connection to one broker. Every call returns at once, from any thread.
pub struct Client {
    boxes: Arc<Mailboxes>,
    runtime: Handle,
    close_timeout: Duration,
}

impl Client {
    /// Starts to connect. A `Connected`, `Lost` or `Closed` event tells the result.
    pub fn connect(address: Address, options: ClientOptions) -> Result<Self, ClientStartError> {
        let ClientOptions { mut connect, tls, outbox_bytes_max, inbox_bytes_max } = options;
        check(&connect)?;
        connect.nonce_seed = nonce_seed()?;
        let trust = trust(&address, tls)?;
        let close_timeout = connect.timeout;
        // A packet must fit into the inbox.
        let protocol = ClientProtocol::new(connect, inbox_bytes_max, Instant::now());
        let boxes = Arc::new(Mailboxes {
            outbox: Outbox::new(protocol, outbox_bytes_max),
            inbox: Inbox::new(inbox_bytes_max)?,
        });
        let runtime = runtime::handle()?;
        runtime.spawn(driver::run(boxes.clone(), address, trust));
        Ok(Self { boxes, runtime, close_timeout })
    }

    /// The events since the last call, in order.
    pub fn events(&self) -> Vec<ClientEvent> {
        self.boxes.inbox.events()
    }

    /// Accepts a message to be sent. At QoS 1 and 2 a `Published` event tells its outcome.
    pub fn publish(&self, publish: &Publish<'_>) -> Result<Option<PublishId>, SendError> {
        self.boxes.outbox.send(|protocol| protocol.publish(publish))
    }

    /// Accepts a message that means nothing in another session. A `Published` event tells of a fault alone.
    pub fn publish_in_session(
        &self,
        publish: &Publish<'_>,
    ) -> Result<Option<PublishId>, SendError> {
        self.boxes.outbox.send(|protocol| protocol.publish_in_session(publish))
    }

    /// Begins a batch, whose acknowledgements are counted: a `Tallied` event says when to look.
    pub fn open_batch(&self) -> BatchId {
        self.boxes.outbox.change(ClientProtocol::open_batch)
    }

    /// Accepts a message of a batch.
    pub fn publish_in(&self, batch: BatchId, publish: &Publish<'_>) -> Result<(), SendError> {
        self.boxes.outbox.send(|protocol| protocol.publish_in(batch, publish))
    }

    /// How far a batch has come.
    pub fn tally(&self, batch: BatchId) -> PublishTally {
        self.boxes.outbox.look(|protocol| protocol.tally(batch))
    }

    /// Forgets a batch. Its messages are sent all the same.
    pub fn close_batch(&self, batch: BatchId) {
        self.boxes.outbox.change(|protocol| protocol.close_batch(batch));
    }

    /// Subscribes to some filters at once; a `Subscribed` event has the broker's answer.
    ///
    /// With user properties, which the broker may understand, no other subscription here may use the
    /// same filters, and only the messages that the broker marks for this one belong to it. Such a
    /// subscription is made again on every connection.
    pub fn subscribe(
        &self,
        filters: &[&str],
        qos: QoS,
        user: &[(&str, &str)],
    ) -> Result<SubscriptionId, SendError> {
        self.boxes.outbox.send(|protocol| {
            let id = protocol.subscribe(filters, qos, user)?;
            // Before any message can arrive for it.
            self.boxes.inbox.open(id, qos, filters);
            Ok(id)
        })
    }

    /// Listens for answers to requests that name one of these topics, up to this QoS. A message is
    /// acknowledged when it is taken.
    pub fn listen(&self, topics: &[&str], qos: QoS) -> SubscriptionId {
        self.boxes.outbox.change(|protocol| {
            let id = protocol.listen(topics, qos);
            self.boxes.inbox.open(id, QoS::AtMostOnce, topics);
            id
        })
    }

    /// The number of the present connection, from 1; `None` while there is no connection.
    pub fn connection(&self) -> Option<u64> {
        self.boxes.outbox.look(ClientProtocol::connection)
    }

    /// Ends a subscription, and drops its messages that were not taken.
    pub fn unsubscribe(&self, id: SubscriptionId) {
        self.boxes.outbox.write(|protocol| {
            protocol.done(&self.boxes.inbox.close(id));
            protocol.unsubscribe(id);
        });
    }

    /// Ends a subscription at the broker. An `Unsubscribed` event says that its last message has come; then
    /// [`Self::detach`] forgets it.
    pub fn retire(&self, id: SubscriptionId) {
        self.boxes.outbox.write(|protocol| protocol.retire(id));
    }

    /// Stops reading a subscription, which stays with the session at the broker. So do messages that
    /// were not taken, or taken and not counted by [`Self::done`].
    pub fn detach(&self, id: SubscriptionId) {
        self.boxes.outbox.write(|protocol| {
            protocol.detach(id);
            protocol.abandon(&self.boxes.inbox.detach(id));
        });
    }

    /// Unsubscribes from filters that an earlier program of this session left at the broker, and
    /// drops their messages.
    pub fn give_up(&self, filters: &[&str]) -> Result<(), SendError> {
        self.boxes.outbox.send(|protocol| {
            protocol.give_up(filters)?;
            protocol.done(&self.boxes.inbox.give_up(filters));
            Ok(())
        })
    }

    /// How many messages of the session no subscription here asks for, and the topic of the first.
    pub fn unclaimed(&self) -> (usize, Option<Arc<str>>) {
        self.boxes.inbox.unclaimed()
    }

    /// Takes the oldest messages of a subscription: at most so many, and about so many bytes.
    ///
    /// When there are none, a `Readable` event announces the next. Of a subscription above QoS 0,
    /// a message is acknowledged when [`Self::done`] counts it.
    pub fn take(
        &self,
        id: SubscriptionId,
        count_max: usize,
        bytes_max: usize,
    ) -> Vec<ReceivedMessage> {
        let (messages, done) = self.boxes.inbox.take(id, count_max, bytes_max);
        self.settle(&done);
        messages
    }

    /// The reader of a subscription above QoS 0 is done with so many messages, the oldest it took.
    pub fn done(&self, id: SubscriptionId, count: usize) {
        self.settle(&self.boxes.inbox.done(id, count));
    }

    fn settle(&self, tags: &[DeliveryTag]) {
        if !tags.is_empty() {
            self.boxes.outbox.write(|protocol| protocol.done(tags));
        }
    }

    /// Starts a writer, which gathers samples and sends them as frames.
    pub fn writer(&self, options: WriterOptions) -> Result<Writer, SendError> {
        Writer::start(self.boxes.clone(), options, &self.runtime)
    }

    /// Takes another password or token: the open connection proves it at once, if its method allows that, and
    /// further connections begin with it. An `Authenticated` event says that the broker accepted it. Returns
    /// false for one that cannot be sent, or that the broker has just refused.
    pub fn renew(&self, secret: Zeroizing<Vec<u8>>) -> bool {
        self.boxes.outbox.change(|protocol| protocol.renew(secret))
    }

    /// Measures the round trip to the broker; a `Pong` event has the answer.
    pub fn ping(&self) -> Result<PingId, SendError> {
        self.boxes.outbox.send(|protocol| protocol.ping(Instant::now()))
    }

    /// Sends what was accepted, then DISCONNECT. The last event tells the result.
    pub fn close(&self) {
        let (timeout, now) = (self.close_timeout, Instant::now());
        self.boxes.outbox.change(|protocol| protocol.disconnect(timeout, now));
    }

    /// Bytes received and not taken.
    pub fn unread_bytes(&self) -> usize {
        self.boxes.inbox.bytes()
    }

    /// Bytes accepted and not sent.
    pub fn unsent_bytes(&self) -> usize {
        self.boxes.outbox.unsent_bytes()
    }
}

/// Refuses what CONNECT cannot carry.
fn check(connect: &ConnectOptions) -> Result<(), ClientStartError> {
    let id = &connect.client_id;
    if u16::try_from(id.len()).is_err() || id.contains('\0') {
        return Err(ClientStartError::ClientId);
    }
    if !connect.credentials.fit() {
        return Err(ClientStartError::Credentials);
    }
    if !connect.credentials.are_complete() {
        return Err(ClientStartError::Incomplete);
    }
    match &connect.will {
        Some(will) if !will.fits() => Err(ClientStartError::Will),
        _ => Ok(()),
    }
}

fn nonce_seed() -> io::Result<NonceSeed> {
    let mut seed = NonceSeed::default();
    let filled = SystemRandom::new().fill(&mut seed.0);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(seed)
}

fn trust(
    address: &Address,
    files: Option<ClientTlsFiles>,
) -> Result<Option<Trust>, ClientTlsError> {
    match (address, files) {
        (Address::Tls(host_port) | Address::WebSocket { host_port, secure: true, .. }, files) => {
            Trust::read(&files.unwrap_or_default(), &host_port.host).map(Some)
        }
        (_, None) => Ok(None),
        (_, Some(_)) => Err(ClientTlsError::NotTls(address.to_string())),
    }
}

/// The descriptor that is readable when there are events.
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
