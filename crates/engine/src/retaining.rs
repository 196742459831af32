//! Retained messages of one publisher: keeps or refuses them, and counts them for their owner.

use slipring_core::ledger::{ContextRecord, StockRecord};
use slipring_core::{JournalPlace, Limit, Offset, Owner, Work};
use slipring_wire::{QoS, Reason, Version};

use crate::broker::Broker;
use crate::feed::Feed;
use crate::publishing::Publication;

impl Feed {
    /// Keeps a retained message, or refuses it.
    pub fn retain(&mut self, publication: &Publication<'_>) -> Result<(), Reason> {
        let Publication { broker, from, message, version } = *publication;
        let route = self.paths.found();
        let (level, is_journaled) = (route.level_of(message.qos), route.is_journaled);
        self.work.add(Work::RETAINED);
        let index = self.batch.len() as u32;
        let plan = broker.plan.load();
        match broker.topics.retain(message, from, &plan, broker.clock.now_ms()) {
            Ok(Some(kept)) if is_journaled => {
                self.own(from.owner);
                self.retained.push((kept, index, level));
            }
            Ok(_) => {}
            Err(limit) => {
                if version == Version::V5 && message.qos > QoS::AtMostOnce {
                    return Err(self.refuse_to_keep(broker, limit));
                }
                broker.monitor.reached.count(limit);
                if is_journaled {
                    StockRecord::Unretained { index }.encode(self.batch.records());
                }
            }
        }
        // A client that subscribed before the message was kept must get it live.
        self.paths.check(broker);
        self.paths.find(broker, from, message.topic);
        Ok(())
    }

    /// Notes the offsets of retained messages.
    pub fn place_retained(&mut self, broker: &Broker, first_offset: Offset) {
        for (message, index, durability) in self.retained.drain(..) {
            let offset = first_offset.plus(index);
            broker.topics.retained().set_place(&message, JournalPlace { offset, durability });
        }
    }

    /// Records that the sessions, retained and waiting messages that follow in this batch belong to this owner.
    pub fn own(&mut self, owner: &Owner) {
        if self.owner.as_ref() != Some(owner) {
            ContextRecord::Owner { owner: owner.as_str() }.encode(self.batch.records());
            self.owner = Some(owner.clone());
        }
    }

    /// Refuses a message because there is no room to keep it.
    #[cold]
    pub fn refuse_to_keep(&mut self, broker: &Broker, limit: Limit) -> Reason {
        broker.monitor.reached.count(limit);
        self.quota = Some(limit).filter(|limit| limit.is_quota());
        let why = match limit {
            Limit::OwnerRetained => {
                "this user or address may have no more retained messages; remove some first"
            }
            Limit::OwnerWaiting => {
                "this user or address may have no more messages that wait for a subscriber; \
                 publish it again later"
            }
            Limit::QuotaStored => "this user or address stores as much as its quota allows",
            Limit::ReservePercent => {
                "the last room is kept for users and addresses that hold little"
            }
            _ => "there is no more room to keep it; publish it again later",
        };
        self.refusal = Some(format!("{why} ({})", limit.path()));
        Reason::QuotaExceeded
    }
}
