//! What brokers tell each other of the domain. A neighbour may send anything; whatever it sends, a broker keeps its own
//! record, and tells others only what they accept.

use slipring_domain::{
    BrokerDescription, BrokerId, BrokerRecord, Domain, DomainSettings, InterestBounds, Load,
    WantedRate,
};

/// A neighbour that the bytes speak for, the broker, and one behind it.
struct DomainBrokers {
    hostile: Domain,
    broker: Domain,
    behind: Domain,
    subscribed: Vec<String>,
    is_honest: bool,
    now_ms: u64,
}

/// The bytes are a record, and lines that say what the neighbour does.
pub fn domain(data: &[u8]) {
    if let Ok(record) = BrokerRecord::decode(data) {
        let mut encoded = Vec::new();
        record.encode(&mut encoded);
        assert_eq!(encoded, data);
    }
    let mut brokers = DomainBrokers::new();
    for line in data.split(|byte| *byte == b'\n') {
        brokers.take(line);
    }
    brokers.judge();
}

impl DomainBrokers {
    fn new() -> Self {
        let domain = |number: u8| {
            let interest = InterestBounds { filters_max: 8, bytes_max: 200 };
            let settings =
                DomainSettings { foreign_bytes_max: 4_000, interest, ..DomainSettings::default() };
            let id = BrokerId::from_bytes([number; BrokerId::BYTES]);
            Domain::new(id, 1, BrokerDescription::default(), settings)
        };
        let [hostile, mut broker, mut behind] = [1, 2, 3].map(domain);
        broker.link_up(behind.id(), 1, 0).unwrap();
        behind.link_up(broker.id(), 1, 0).unwrap();
        broker.subscribe("own/#", WantedRate::EVERY_SAMPLE, 0);
        let (subscribed, is_honest) = (Vec::new(), true);
        let mut brokers = Self { hostile, broker, behind, subscribed, is_honest, now_ms: 0 };
        brokers.connect();
        brokers
    }

    /// The neighbour's link is made again.
    fn connect(&mut self) {
        self.broker.link_up(self.hostile.id(), 1, self.now_ms).unwrap();
        self.hostile.link_up(self.broker.id(), 1, self.now_ms).unwrap();
        self.exchange();
    }

    fn take(&mut self, line: &[u8]) {
        self.now_ms += 20;
        let Some((step, rest)) = line.split_first() else { return };
        let filter = String::from_utf8_lossy(rest).into_owned();
        match step {
            b's' if slipring_wire::check_filter(&filter).is_ok() => {
                self.hostile.subscribe(&filter, WantedRate::EVERY_SAMPLE, self.now_ms);
                self.subscribed.push(filter);
            }
            b'u' => {
                let Some(filter) = self.subscribed.pop() else { return };
                self.hostile.unsubscribe(&filter, WantedRate::EVERY_SAMPLE, self.now_ms);
            }
            b'l' => {
                let load = Load { clients: rest.len() as u32, clients_max: 9 };
                self.hostile.set_load(load, self.now_ms);
            }
            b'c' => self.exchange(),
            b'm' => self.change_a_message(rest),
            b'r' => self.send(rest),
            _ => {}
        }
    }

    /// The next message of the neighbour arrives with a byte changed, or cut.
    fn change_a_message(&mut self, rest: &[u8]) {
        self.hostile.handle_timeout(self.now_ms);
        let Some(mut bytes) = self.hostile.poll_transmit(self.broker.id()) else { return };
        let &[high, low, change, ..] = rest else { return };
        let at = usize::from(u16::from_be_bytes([high, low])) % bytes.len();
        bytes[at] ^= change;
        if change == 0 {
            bytes.truncate(at);
        }
        self.send(&bytes);
    }

    fn send(&mut self, bytes: &[u8]) {
        self.is_honest = false;
        if self.broker.receive(self.hostile.id(), bytes, self.now_ms).is_err() {
            self.connect();
        }
    }

    /// Everything that waits is carried; brokers accept what brokers say.
    fn exchange(&mut self) {
        let Self { hostile, broker, behind, now_ms, .. } = self;
        for _ in 0..9 {
            for one in [&mut *hostile, &mut *broker, &mut *behind] {
                one.handle_timeout(*now_ms);
            }
            carry(hostile, broker, *now_ms);
            carry(broker, hostile, *now_ms);
            carry(broker, behind, *now_ms);
            carry(behind, broker, *now_ms);
        }
    }

    fn judge(&mut self) {
        self.now_ms += 2_000;
        self.connect();
        let own = self.broker.known().own();
        assert_eq!(own.version().start(), 1);
        assert_eq!(own.interest().filters().len(), 1);
        assert_eq!(self.behind.known().get(own.id()), Some(own));
        if self.is_honest {
            let newest = self.hostile.known().own();
            assert_eq!(self.behind.known().get(newest.id()), Some(newest));
        }
    }
}

fn carry(from: &mut Domain, to: &mut Domain, now_ms: u64) {
    while let Some(bytes) = from.poll_transmit(to.id()) {
        to.receive(from.id(), &bytes, now_ms).unwrap();
    }
}
