//! Delivering the messages of one publisher: QoS 0 at once, QoS 1 when the journal has given it an
//! offset, QoS 2 when it is safe, so that no crash can deliver it twice.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use slipring_core::{
    Delivery, Dropped, Durability, Extras, Identifiers, Limit, Message, Millis, Pushed, Record,
    encode, expiry,
};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::client::Client;
use crate::gates::Gate;
use crate::routes::Target;

/// Bytes of QoS 2 messages of one publisher that may wait for the journal before it is not read.
const LATER_BYTES_MAX: usize = 16 << 20;

/// What delivering a batch needs.
#[derive(Default)]
pub(crate) struct Post {
    /// The message being delivered, encoded at most once for each version and retain flag.
    encoded: [Vec<u8>; 4],
    /// The same for one subscriber alone, with its subscription identifiers.
    identified: Vec<u8>,
    /// The same message to be kept, made at most once.
    kept: Option<Arc<Message>>,
    expires_ms: Option<Millis>,
    /// Its place in the batch, and what it is promised.
    place: Option<u32>,
    level: Durability,
    /// QoS 1 and 2 messages of this batch.
    parcels: Vec<Parcel>,
    /// What the sessions that outlive the broker get of this batch.
    runs: Runs,
    /// QoS 2 messages of earlier batches that are not safe yet.
    later: VecDeque<(Gate, Vec<Parcel>)>,
    later_bytes: usize,
    /// What sessions that outlive the broker lost to a bound, for the journal.
    lost: Vec<u8>,
    /// Subscribers to wake at the end of the batch.
    woken: Vec<Arc<Client>>,
}

/// One message for one subscriber.
struct Parcel {
    client: Arc<Client>,
    delivery: Delivery,
    /// Its place in the batch, if the journal has to make it safe.
    place: Option<u32>,
}

/// Messages of one batch for sessions that outlive the broker: consecutive ones as one record.
#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
    /// The last run of a session.
    last: HashMap<u64, usize>,
}

struct Run {
    session: u64,
    first: u32,
    count: u32,
    qos: QoS,
    retain: bool,
    identifiers: Identifiers,
}

impl Runs {
    fn add(&mut self, session: u64, place: u32, delivery: &Delivery) {
        let Delivery { qos, retain, ref identifiers, .. } = *delivery;
        if let Some(run) = self.last.get(&session).map(|at| &mut self.runs[*at]) {
            let same = run.qos == qos && run.retain == retain && run.identifiers == *identifiers;
            if same && run.first + run.count == place {
                run.count += 1;
                return;
            }
        }
        self.last.insert(session, self.runs.len());
        let identifiers = identifiers.clone();
        self.runs.push(Run { session, first: place, count: 1, qos, retain, identifiers });
    }

    fn write(&mut self, records: &mut Vec<u8>) {
        for Run { session, first, count, qos, retain, identifiers } in self.runs.drain(..) {
            let identifiers = identifiers.as_deref().unwrap_or_default();
            Record::Delivered { session, first, count, qos, retain, identifiers }.encode(records);
        }
        self.last.clear();
    }
}

impl Post {
    /// Begins with a message.
    pub fn begin(
        &mut self,
        broker: &Broker,
        message: &Publish<'_>,
        place: Option<u32>,
        level: Durability,
    ) {
        self.encoded.iter_mut().for_each(Vec::clear);
        self.kept = None;
        (self.place, self.level) = (place, level);
        self.expires_ms = if message.properties.is_empty() {
            None
        } else {
            expiry(message.properties, broker.now_ms())
        };
    }

    #[inline]
    pub fn deliver(
        &mut self,
        broker: &Broker,
        to: &Target,
        message: &Publish<'_>,
        topic: &Arc<str>,
    ) {
        let retain = message.retain && to.retain_as_published; // MQTT-3.3.1-12, -13
        let qos = message.qos.min(to.qos); // MQTT-3.8.4-8
        if qos == QoS::AtMostOnce && (message.qos < QoS::ExactlyOnce || self.place.is_none()) {
            let identifiers = to.identifiers.as_deref().unwrap_or_default();
            let mut outgoing = to.client.outgoing();
            let Some(version) = outgoing.version() else { return };
            let expires_ms = self.expires_ms;
            let pushed = outgoing
                .push_encoded(self.encode(message, version, retain, identifiers), expires_ms);
            drop(outgoing);
            return self.pushed(broker, &to.client, pushed);
        }
        let keep = || Arc::new(Message::new(message, Arc::clone(topic), broker.now_ms()));
        let kept = Arc::clone(self.kept.get_or_insert_with(keep));
        let identifiers = to.identifiers.clone();
        let (offset, durability) = (None, self.level);
        let delivery = Delivery { message: kept, qos, retain, identifiers, offset, durability };
        if let (Some(place), true) = (self.place, qos > QoS::AtMostOnce && to.client.is_durable()) {
            self.runs.add(to.client.key, place, &delivery);
        }
        self.parcels.push(Parcel { client: Arc::clone(&to.client), delivery, place: self.place });
    }

    /// Writes what the sessions that outlive the broker get of this batch.
    pub fn write_runs(&mut self, records: &mut Vec<u8>) {
        self.runs.write(records);
    }

    /// The batch has its offsets: sends what may go, and keeps what has to be safe first.
    pub fn send(&mut self, broker: &Broker, first_offset: u64, gate: Gate) {
        let open = broker.gates.is_open(gate);
        let mut later = Vec::new();
        let mut parcels = std::mem::take(&mut self.parcels);
        for mut parcel in parcels.drain(..) {
            parcel.delivery.offset = parcel.place.map(|place| first_offset + u64::from(place));
            let qos2 = parcel.delivery.message.qos == QoS::ExactlyOnce;
            if qos2 && parcel.place.is_some() && (!open || !self.later.is_empty()) {
                self.later_bytes += parcel.delivery.message.bytes();
                later.push(parcel);
            } else {
                self.hand_over(broker, parcel);
            }
        }
        self.parcels = parcels;
        if !later.is_empty() {
            self.later.push_back((gate, later));
        }
        self.tell(broker);
    }

    /// The journal took nothing: only what was promised nothing is sent.
    pub fn send_unplaced(&mut self, broker: &Broker) {
        self.parcels.retain(|parcel| parcel.place.is_none());
        self.send(broker, 0, Gate::OPEN);
    }

    /// Sends what is safe by now.
    pub fn release(&mut self, broker: &Broker) {
        while self.later.front().is_some_and(|(gate, _)| broker.gates.is_open(*gate)) {
            self.send_next(broker);
        }
    }

    fn send_next(&mut self, broker: &Broker) {
        let Some((_, parcels)) = self.later.pop_front() else { return };
        for parcel in parcels {
            self.later_bytes -= parcel.delivery.message.bytes();
            self.hand_over(broker, parcel);
        }
        self.tell(broker);
    }

    /// Sends everything without waiting for the journal.
    pub fn send_all(&mut self, broker: &Broker) {
        while !self.later.is_empty() {
            self.send_next(broker);
        }
    }

    pub fn is_behind(&self) -> bool {
        self.later_bytes > LATER_BYTES_MAX
    }

    /// What is not safe yet, apart.
    pub fn take_later(&mut self) -> Option<Self> {
        if self.later.is_empty() {
            return None;
        }
        let later = std::mem::take(&mut self.later);
        let later_bytes = std::mem::take(&mut self.later_bytes);
        Some(Self { later, later_bytes, ..Self::default() })
    }

    /// Sends everything as it becomes safe; what never does is not sent.
    pub async fn settle(mut self, broker: Arc<Broker>) {
        while let Some(gate) = self.later.front().map(|(gate, _)| *gate) {
            if !broker.gates.passed(gate).await {
                return;
            }
            self.send_next(&broker);
        }
    }

    /// Tells the subscribers, and the journal of what they lost.
    fn tell(&mut self, broker: &Broker) {
        self.wake();
        if !self.lost.is_empty() {
            broker.note_all(&mut self.lost);
        }
    }

    pub fn wake(&mut self) {
        for client in self.woken.drain(..) {
            client.wake();
        }
    }

    fn hand_over(&mut self, broker: &Broker, parcel: Parcel) {
        let Parcel { client, delivery, .. } = parcel;
        let mut outgoing = client.outgoing();
        let pushed = if delivery.qos > QoS::AtMostOnce {
            outgoing.push(delivery)
        } else {
            let Some(version) = outgoing.version() else { return };
            let Delivery { message, qos, retain, identifiers, .. } = delivery;
            let publish = Publish { qos, retain, ..message.publish() };
            let extras = Extras::identified(identifiers.as_deref().unwrap_or_default());
            self.identified.clear();
            encode(publish, &extras, version, &mut self.identified);
            outgoing.push_encoded(&self.identified, message.expires_ms)
        };
        if matches!(pushed, Pushed::Dropped(_)) && outgoing.is_durable() {
            outgoing.take_records(&mut self.lost);
        }
        drop(outgoing);
        self.pushed(broker, &client, pushed);
    }

    #[inline]
    fn pushed(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Quiet => {}
            Pushed::Wake => self.woken.push(Arc::clone(client)),
            lost => self.lose(broker, client, lost),
        }
    }

    /// A bound was reached on the way to a client.
    #[cold]
    fn lose(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Held => broker.reached.count(Limit::Inflight),
            Pushed::Dropped(dropped) => {
                broker.count_dropped(client, dropped);
                if dropped.wake {
                    self.woken.push(Arc::clone(client));
                }
            }
            Pushed::Overflow(limit) => {
                let dropped = Dropped { limit: Some(limit), messages: 1, wake: false };
                broker.count_dropped(client, dropped);
                client.close(Reason::QuotaExceeded);
            }
            Pushed::Quiet | Pushed::Wake => {}
        }
    }

    fn encode(
        &mut self,
        message: &Publish<'_>,
        version: Version,
        retain: bool,
        identifiers: &[u32],
    ) -> &[u8] {
        let qos = QoS::AtMostOnce;
        let publish = Publish { dup: false, qos, packet_id: None, retain, ..*message };
        if !identifiers.is_empty() {
            self.identified.clear();
            encode(publish, &Extras::identified(identifiers), version, &mut self.identified);
            return &self.identified;
        }
        let out = &mut self.encoded[usize::from(version == Version::V5) * 2 + usize::from(retain)];
        if out.is_empty() {
            encode(publish, &Extras::default(), version, out);
        }
        out
    }
}
