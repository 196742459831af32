//! Retained messages of one publisher: kept or refused, and whose they are.

use slipring_core::ledger::{ContextRecord, StockRecord};
use slipring_core::{JournalPlace, Limit, Offset, Owner, Principal, Work};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::feed::Feed;

impl Feed {
    /// Keeps a retained message, or says why it is refused.
    pub fn retain(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Result<(), Reason> {
        let route = self.paths.found();
        let (level, journaled) = (route.level_of(message.qos), route.journaled);
        self.work.add(Work::RETAINED);
        let index = self.batch.len() as u32;
        let plan = broker.plan.load();
        match broker.topics.retain(message, from.owner, &plan.limits, broker.clock.now_ms()) {
            Ok(Some(kept)) if journaled => {
                self.own(from.owner);
                self.retained.push((kept, index, level));
            }
            Ok(_) => {}
            Err(limit) => {
                if version == Version::V5 && message.qos > QoS::AtMostOnce {
                    return Err(self.refuse_to_keep(broker, limit));
                }
                broker.monitor.reached.count(limit);
                if journaled {
                    StockRecord::Unretained { index }.encode(self.batch.records());
                }
            }
        }
        // Whoever subscribed before the message was kept must get it live.
        self.paths.check(broker);
        Ok(())
    }

    /// Retained messages have their places in the journal.
    pub fn place_retained(&mut self, broker: &Broker, first_offset: Offset) {
        for (message, index, durability) in self.retained.drain(..) {
            let offset = first_offset.plus(index);
            broker.topics.retained().set_place(&message, JournalPlace { offset, durability });
        }
    }

    /// The sessions, retained and waiting messages of this batch are this owner's.
    pub fn own(&mut self, owner: &Owner) {
        if self.owner.as_ref() != Some(owner) {
            ContextRecord::Owner { owner: owner.as_str() }.encode(self.batch.records());
            self.owner = Some(owner.clone());
        }
    }

    /// A message finds no room where it wants to be kept.
    #[cold]
    pub fn refuse_to_keep(&mut self, broker: &Broker, limit: Limit) -> Reason {
        broker.monitor.reached.count(limit);
        let why = match limit {
            Limit::OwnerRetained => {
                "this user or address has as many retained messages as one may \
                                     have; remove some of them first"
            }
            Limit::OwnerWaiting => {
                "this user or address has as many messages waiting for a \
                                    subscriber as one may have; publish it again later"
            }
            Limit::ReservePercent => {
                "the last room is kept for users and addresses that hold little"
            }
            _ => "there is no more room to keep it; publish it again later",
        };
        self.refusal = Some(format!("{why} (limits.{})", limit.name()));
        Reason::QuotaExceeded
    }
}
