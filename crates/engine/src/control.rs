//! What the control plane does to a running engine: it replaces the plan, answers questions about clients, and keeps
//! the audit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use slipring_core::alarms::{RestoredAlarm, StandingAlarm, TakenAlarms};
use slipring_core::{Plan, TokenRules};

use crate::Engine;
use crate::audit::AuditRecord;
use crate::listener::TlsError;
use crate::questions::{Answer, Question};

impl Engine {
    /// Reads the TLS files of a listener again, for new connections, and ends open ones whose certificate is not
    /// trusted any more. Returns how many; after an error nothing has changed.
    pub fn read_tls_again(&self, name: &str) -> Result<usize, TlsError> {
        let index = self.listener_names.iter().position(|one| one == name);
        let Some(trust) = index.and_then(|index| self.trusts[index].as_ref()) else { return Ok(0) };
        trust.read_again()?;
        Ok(self.broker.connections.close_untrusted())
    }

    /// Replaces the whole plan. Open connections keep their limits; everything else follows the new plan.
    pub fn apply(&self, plan: Plan) {
        self.broker.apply(plan);
        self.plans_applied.fetch_add(1, Ordering::Release);
    }

    /// How often the plan was replaced: what was derived from an earlier plan is out of date.
    pub fn plans_applied(&self) -> u64 {
        self.plans_applied.load(Ordering::Acquire)
    }

    /// Replaces the plan except for which tokens are accepted.
    pub fn apply_keeping_tokens(&self, plan: Plan) {
        self.broker.apply_keeping_tokens(plan);
        self.plans_applied.fetch_add(1, Ordering::Release);
    }

    /// Replaces which tokens are accepted; connections by others end.
    pub fn apply_tokens(&self, tokens: Arc<TokenRules>) {
        self.broker.apply_tokens(tokens);
        self.plans_applied.fetch_add(1, Ordering::Release);
    }

    /// The questions about clients since the last call, as long as fewer than `logins_max` logins were taken and not
    /// answered; waits for one at most so long.
    pub fn take_questions(&self, wait: Duration, logins_max: usize) -> Vec<Question> {
        self.broker.questions.fetch(wait, logins_max, self.broker.clock.now())
    }

    /// Answers a question about a client.
    pub fn answer(&self, number: u64, answer: Answer) {
        self.broker.questions.answer(number, answer, self.broker.clock.now());
    }

    /// The events of limits since the last call; how many had no room is in them.
    pub fn take_alarms(&self) -> TakenAlarms {
        self.broker.table.take_alarms()
    }

    /// The events of limits that have not ended.
    pub fn standing_alarms(&self) -> Vec<StandingAlarm> {
        self.broker.table.standing_alarms()
    }

    /// Continues an event of a limit that began in an earlier run.
    pub fn restore_alarm(&self, parameter: &str, alarm: RestoredAlarm) {
        self.broker.table.restore_alarm(parameter, alarm);
    }

    /// Forgets events of an earlier run whose parameters nobody has declared since; returns the names.
    pub fn forget_restored_alarms(&self) -> Vec<Box<str>> {
        self.broker.table.forget_restored_alarms()
    }

    /// The plan in force.
    pub fn plan(&self) -> Arc<Plan> {
        self.broker.plan.load_full()
    }

    /// Adds a record of the control plane to the audit. False if there was no room for it.
    pub fn audit(&self, record: AuditRecord) -> bool {
        self.broker.monitor.audit.add(record)
    }

    /// Sets whether [`Engine::take_audit`] gives records.
    pub fn want_audit(&self, is_wanted: bool) {
        self.broker.monitor.audit.want_told(is_wanted);
    }

    /// Records of the audit that were written since the last call, as JSON; the newest 2,000.
    pub fn take_audit(&self) -> Vec<Vec<u8>> {
        self.broker.monitor.audit.take_told()
    }
}
