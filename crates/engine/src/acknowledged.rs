//! Counts acknowledged QoS 1 and 2 messages by their durability.

use std::sync::atomic::{AtomicU64, Ordering};

use slipring_core::Durability;

use crate::status::Acknowledged;

/// Messages of one batch by durability, before they are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promised([u32; 3]);

impl Promised {
    pub fn add(&mut self, level: Durability) {
        self.0[level as usize] += 1;
    }
}

/// All acknowledged messages. They are counted when their answers may go.
#[derive(Debug, Default)]
pub(crate) struct Acknowledgements([AtomicU64; 3]);

impl Acknowledgements {
    pub fn count(&self, promised: Promised) {
        for (total, more) in self.0.iter().zip(promised.0) {
            if more > 0 {
                total.fetch_add(u64::from(more), Ordering::Relaxed);
            }
        }
    }

    pub fn totals(&self) -> Acknowledged {
        let [memory, process, disk] = self.0.each_ref().map(|total| total.load(Ordering::Relaxed));
        Acknowledged { memory, process, disk }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_its_own_total() {
        let acknowledged = Acknowledgements::default();
        let mut promised = Promised::default();
        promised.add(Durability::Disk);
        promised.add(Durability::Disk);
        promised.add(Durability::Process);
        acknowledged.count(promised);
        acknowledged.count(promised);
        let expected = Acknowledged { memory: 0, process: 2, disk: 4 };
        assert_eq!(acknowledged.totals(), expected);
    }
}
