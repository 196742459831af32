//! Alarms between the table and the control plane. It decides nothing: the judge is in the core.

use slipring_core::alarms::{RestoredAlarm, StandingAlarm, TakenAlarms};
use slipring_core::{ParameterIndex, Plan};

use crate::table::SharedTable;

impl SharedTable {
    /// Follows the rules of another plan. The lock is released between portions: there may be very many parameters.
    pub fn follow_alarms(&self, plan: &Plan) {
        if !self.lock().table.alarms.follow(&plan.alarms) {
            return;
        }
        let mut next = Some(ParameterIndex::new(0));
        while let Some(from) = next {
            next = self.lock().table.judge_again(from, 0); // nothing is removed
        }
    }

    /// The events since the last call.
    pub fn take_alarms(&self) -> TakenAlarms {
        self.lock().table.alarms.take_events()
    }

    /// All events that have not ended.
    pub fn standing_alarms(&self) -> Vec<StandingAlarm> {
        self.lock().table.alarms.standing()
    }

    /// Continues an event of an earlier run: the parameter, the limit, and how it began.
    pub fn restore_alarm(&self, name: &str, alarm: RestoredAlarm) {
        let mut locked = self.lock();
        let table = &mut locked.table;
        table.alarms.restore(name, alarm, table.registry.entries());
    }

    /// Forgets events of an earlier run whose parameters nobody has declared since; returns the names.
    pub fn forget_restored_alarms(&self) -> Vec<Box<str>> {
        self.lock().table.alarms.forget_restored()
    }
}
