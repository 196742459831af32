//! What neighbours say. They may say anything; whatever is against the rules ends their link, and changes nothing.

use super::Domain;
use crate::control::{Acknowledgement, ControlMessage, Hello};
use crate::known_brokers::DifferenceReceived;
use crate::neighbour::Neighbour;
use crate::record::{RecordDifference, RecordHead};
use crate::{BrokerId, BrokerRecord, DomainEvent, Received, RecordError, RecordVersion};

/// Why the link to a neighbour has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The bytes are no control message.
    #[error("the neighbour sent bytes that make no sense: {0}")]
    Malformed(#[from] RecordError),
    /// There is no link to it.
    #[error("there is no link to the neighbour")]
    NoLink,
    /// It says that it is another broker than the one that the link leads to.
    #[error("the neighbour says that it is {0}, which it is not")]
    WrongIdentity(BrokerId),
    /// It said hello twice, which would have it sent everything again.
    #[error("the neighbour said hello a second time")]
    RepeatedHello,
    /// It said something else before hello.
    #[error("the neighbour began without hello")]
    NoHello,
}

impl Domain {
    /// Takes a control message of a neighbour. After an error the driver ends the link.
    pub fn receive(
        &mut self,
        neighbour: BrokerId,
        bytes: &[u8],
        now_ms: u64,
    ) -> Result<(), ReceiveError> {
        self.pass(now_ms);
        let link = self.neighbours.get(&neighbour).ok_or(ReceiveError::NoLink)?;
        let has_greeted = link.has_greeted();
        match ControlMessage::decode(bytes)? {
            ControlMessage::Hello(_) if has_greeted => return Err(ReceiveError::RepeatedHello),
            ControlMessage::Hello(hello) => self.receive_hello(neighbour, hello)?,
            _ if !has_greeted => return Err(ReceiveError::NoHello),
            ControlMessage::Record(record) => self.receive_record(neighbour, &record)?,
            ControlMessage::Difference(difference) => {
                self.receive_difference(neighbour, &difference)?;
            }
            ControlMessage::Lacking(brokers) => self.with_neighbour(neighbour, |link| {
                for id in brokers {
                    link.send_whole(id);
                }
            }),
            ControlMessage::Acknowledgements(entries) => {
                for entry in entries {
                    self.receive_acknowledgement(entry);
                }
            }
        }
        Ok(())
    }

    fn receive_hello(&mut self, from: BrokerId, hello: Hello) -> Result<(), ReceiveError> {
        if hello.id != from {
            return Err(ReceiveError::WrongIdentity(hello.id));
        }
        let own = self.known.own();
        let (id, version) = (own.id(), own.version());
        let knows_me = hello.digest.iter().find(|(known, _)| *known == id);
        match knows_me.map(|(_, known)| *known) {
            Some(known) if known > version => self.tell(DomainEvent::IdentityClash(id)),
            Some(known) => self.acknowledged_by(from, known.start(), known.counter()),
            None => {}
        }
        let lacking = self.known.lacking(&hello.digest);
        if let Some(link) = self.neighbours.get_mut(&from) {
            link.greet(hello.digest, lacking);
        }
        self.announce_links();
        Ok(())
    }

    fn receive_record(&mut self, from: BrokerId, bytes: &[u8]) -> Result<(), RecordError> {
        let head = RecordHead::decode(bytes)?;
        let (id, version) = (head.id, head.version);
        let received = match self.known.look(head) {
            Some(received) => received,
            None => self.known.receive(BrokerRecord::decode(bytes)?, self.now_ms),
        };
        match received {
            Received::News { before, displaced } => {
                if let Some(displaced) = displaced {
                    self.forget(&displaced);
                }
                self.take_news(from, id, before.as_deref());
                self.pass_on(from, id, version);
            }
            Received::Known => self.with_neighbour(from, |link| link.has(id, version)),
            Received::Older(_) => self.with_neighbour(from, |link| link.has_older(id, version)),
            Received::Clash => self.tell(DomainEvent::IdentityClash(id)),
            Received::Full => self.tell(DomainEvent::DomainFull(id)),
        }
        Ok(())
    }

    fn take_news(&mut self, from: BrokerId, id: BrokerId, before: Option<&BrokerRecord>) {
        let Some(record) = self.known.get(id).cloned() else { return };
        self.record_changed(before, &record);
        if before.is_none_or(|before| before.description() != record.description()) {
            self.tell(DomainEvent::Described(id));
        }
        if before.is_some_and(|before| before.version().start() != record.version().start()) {
            // It has lost what it acknowledged.
            self.acknowledged.remove(&id);
        }
        let start = record.version().start();
        let step = before.map_or(0, |before| start.saturating_sub(before.version().start()));
        if step > self.settings.start_step_max {
            self.tell(DomainEvent::ImplausibleStart { of: id, from, start });
        }
    }

    fn receive_difference(
        &mut self,
        from: BrokerId,
        difference: &RecordDifference,
    ) -> Result<(), RecordError> {
        let RecordDifference { of: id, after, parts, .. } = difference;
        match self.known.receive_difference(difference)? {
            DifferenceReceived::News(before) => {
                self.parts_changed(*id, before.next() == *after, parts);
                self.pass_on(from, *id, *after);
            }
            DifferenceReceived::Known => self.with_neighbour(from, |link| link.has(*id, *after)),
            DifferenceReceived::Older => {
                self.with_neighbour(from, |link| link.has_older(*id, *after));
            }
            DifferenceReceived::OtherBase => self.with_neighbour(from, |link| link.ask(*id)),
            DifferenceReceived::Clash => self.tell(DomainEvent::IdentityClash(*id)),
        }
        Ok(())
    }

    /// Tells everybody else of a record that a neighbour told first, and the neighbour that it is taken.
    fn pass_on(&mut self, from: BrokerId, id: BrokerId, version: RecordVersion) {
        self.tellers.insert(id, from);
        self.spread(id);
        let entry = Acknowledgement { of: id, version, by: self.id() };
        self.with_neighbour(from, |link| {
            link.has(id, version);
            link.acknowledge(entry);
        });
    }

    /// An acknowledgement for this broker, or one to pass on to where the record came from. It cannot go in a circle:
    /// whoever told of a record had it, or a newer one, before. Made-up brokers would take the room of real ones.
    fn receive_acknowledgement(&mut self, entry: Acknowledgement) {
        if entry.of == self.id() {
            let (start, counter) = (entry.version.start(), entry.version.counter());
            self.acknowledged_by(entry.by, start, counter);
        } else if self.known.get(entry.by).is_some()
            && let Some(teller) = self.tellers.get(&entry.of)
        {
            self.with_neighbour(*teller, |link| link.acknowledge(entry));
        }
    }

    fn acknowledged_by(&mut self, by: BrokerId, start: u64, counter: u64) {
        let own = self.known.own().version();
        if start == own.start() && counter <= own.counter() && self.known.get(by).is_some() {
            let newest = self.acknowledged.entry(by).or_insert(counter);
            *newest = counter.max(*newest);
        }
    }

    fn with_neighbour(&mut self, id: BrokerId, change: impl FnOnce(&mut Neighbour)) {
        self.neighbours.get_mut(&id).map(change);
    }
}
