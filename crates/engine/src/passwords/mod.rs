//! Checks passwords one at a time, on a thread of lower priority: a check is slow on purpose, and must not slow the
//! traffic down.

pub(crate) mod line;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use line::{Asker, CheckLine};
use ring::rand::{SecureRandom, SystemRandom};
use slipring_core::{Owner, Password, Plan, Secret, TokenError, TokenGrant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::locks::lock;
use crate::questions::Answer;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    Right,
    Wrong,
    /// The token was accepted.
    Accepted(Box<TokenGrant>),
    /// The token was not.
    Refused(TokenError),
    /// The control plane has answered.
    Answered(Answer),
    /// Not checked: too many of the same address wait.
    Busy,
}

/// Checks passwords, and remembers the right ones.
pub(crate) struct Passwords {
    /// Known to this process only.
    pub secret: Secret,
    /// The threads that check; None uses those of the caller.
    pub lane: OnceLock<Handle>,
    clock: Clock,
    // Checks that the checker has not taken yet. A lock: taken for a moment to add one, or to take all.
    inbox: Mutex<Inbox>,
    // The checks that it has taken. A lock: only the checker takes it, and there is at most one.
    line: Mutex<CheckLine<Check>>,
    // Fingerprints of right passwords, so that a client that comes back is not checked again. At most
    // one for each user. A lock: taken for a moment by each client with a password.
    right: Mutex<HashSet<[u8; 32]>>,
}

#[derive(Default)]
struct Inbox {
    arrived: Vec<(Asker, Check)>,
    /// Whether a checker runs, which looks here before it ends.
    is_checking: bool,
}

/// A password to be checked, and the way to answer.
struct Check {
    plan: Arc<Plan>,
    password: Password,
    /// Whether the password is a token.
    is_token: bool,
    answer: oneshot::Sender<Checked>,
}

impl Passwords {
    pub fn new(clock: Clock) -> Self {
        Self {
            secret: Secret::from(random()),
            lane: OnceLock::new(),
            clock,
            inbox: Mutex::default(),
            line: Mutex::default(),
            right: Mutex::default(),
        }
    }

    /// Whether the password was checked before, and was right.
    pub fn remembers(&self, plan: &Plan, name: &str, password: &Password) -> bool {
        let users = &plan.authentication.users;
        lock(&self.right).contains(&users.fingerprint(name, password.as_ref(), &self.secret))
    }

    /// Checks a password when its turn has come, on a thread that serves no connection. `address` is the
    /// client's.
    pub fn check(
        self: Arc<Self>,
        plan: Arc<Plan>,
        address: &str,
        name: &str,
        password: Password,
    ) -> impl Future<Output = Checked> + Send + 'static {
        self.enter(plan, address, name, password, false)
    }

    /// Checks a token in the same way: a signature takes a tenth of a millisecond, and forged ones wait behind the
    /// others.
    pub fn check_token(
        self: Arc<Self>,
        plan: Arc<Plan>,
        address: &str,
        name: &str,
        token: Password,
    ) -> impl Future<Output = Checked> + Send + 'static {
        self.enter(plan, address, name, token, true)
    }

    fn enter(
        self: Arc<Self>,
        plan: Arc<Plan>,
        address: &str,
        name: &str,
        password: Password,
        is_token: bool,
    ) -> impl Future<Output = Checked> + Send + 'static {
        let (answer, answered) = oneshot::channel();
        let asker = Asker { source: Owner::of(None, address), name: name.into() };
        let mut inbox = lock(&self.inbox);
        inbox.arrived.push((asker, Check { plan, password, is_token, answer }));
        let is_first = !std::mem::replace(&mut inbox.is_checking, true);
        drop(inbox);
        if is_first {
            let lane = self.lane.get().cloned().unwrap_or_else(Handle::current);
            lane.spawn_blocking(move || Checker(self).run());
        }
        // A check that panicked does not answer; the password counts as wrong.
        async move { answered.await.unwrap_or(Checked::Wrong) }
    }

    /// Takes the checks that have arrived; None ends the checker, because nothing has arrived or waits.
    fn take_arrived(&self, is_idle: bool) -> Option<Vec<(Asker, Check)>> {
        let mut inbox = lock(&self.inbox);
        if is_idle && inbox.arrived.is_empty() {
            inbox.is_checking = false;
            return None;
        }
        Some(std::mem::take(&mut inbox.arrived))
    }

    /// Checks the password whose turn it is.
    fn check_next(&self, line: &mut CheckLine<Check>) {
        line.retain(|check| !check.answer.is_closed());
        let Some((asker, check)) = line.next(self.clock.now()) else { return };
        let users = &check.plan.authentication.users;
        let password = check.password.as_ref();
        let checked = if check.is_token {
            let now_s = self.clock.now_ns() / 1_000_000_000;
            let verified = check.plan.authentication.tokens.verify(password, now_s);
            if verified.is_err() {
                line.note_wrong(&asker, self.clock.now());
            }
            verified.map_or_else(Checked::Refused, |grant| Checked::Accepted(Box::new(grant)))
        } else if users.verify_password(&asker.name, password, &self.secret) {
            let fingerprint = users.fingerprint(&asker.name, password, &self.secret);
            self.remember(fingerprint, users.len());
            Checked::Right
        } else {
            line.note_wrong(&asker, self.clock.now());
            Checked::Wrong
        };
        let _ = check.answer.send(checked); // the client may be gone
    }

    fn remember(&self, fingerprint: [u8; 32], most: usize) {
        let mut right = lock(&self.right);
        if right.len() >= most {
            right.clear(); // some may belong to an earlier plan
        }
        right.insert(fingerprint);
    }
}

/// The one task that checks. However it ends, the next password starts another one.
struct Checker(Arc<Passwords>);

impl Checker {
    fn run(&self) {
        let mut line = lock(&self.0.line);
        while let Some(arrived) = self.0.take_arrived(line.is_empty()) {
            for (asker, check) in arrived {
                let most = check.plan.limits.password_checks;
                if let Some(longest) = line.push(asker, check, most) {
                    let _ = longest.answer.send(Checked::Busy); // the client may be gone
                }
            }
            self.0.check_next(&mut line);
        }
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.inbox).is_checking = false;
        }
    }
}

/// Bytes that no client can foresee.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    bytes
}

#[cfg(test)]
mod tests {
    use slipring_core::{Authentication, Users, Verifier};
    use tokio::sync::Semaphore;

    use super::*;

    fn plan(salt: &[u8]) -> Arc<Plan> {
        let verifier = Verifier::new(b"pencil", salt, 4096).unwrap();
        let users = Users::new([("user".to_owned(), verifier)]).unwrap();
        let authentication =
            Authentication { users, anonymous: false, ..Authentication::default() };
        Arc::new(Plan { authentication, ..Plan::default() })
    }

    fn ask(
        passwords: &Arc<Passwords>,
        plan: &Arc<Plan>,
        address: &str,
        password: &str,
    ) -> impl Future<Output = Checked> + Send + 'static {
        let password = Password::from(password.as_bytes());
        Arc::clone(passwords).check(Arc::clone(plan), address, "user", password)
    }

    async fn is_right(passwords: &Arc<Passwords>, plan: &Arc<Plan>, password: &str) -> bool {
        let is_right = ask(passwords, plan, "[::1]:1", password).await == Checked::Right;
        let password = Password::from(password.as_bytes());
        assert_eq!(passwords.remembers(plan, "user", &password), is_right);
        is_right
    }

    #[tokio::test]
    async fn a_right_password_is_remembered_until_its_verifier_changes() {
        let passwords = Arc::new(Passwords::new(Clock::start()));
        let (before, after) = (plan(b"one salt"), plan(b"another salt"));
        let pencil = Password::from(&b"pencil"[..]);
        assert!(!passwords.remembers(&before, "user", &pencil));
        assert!(is_right(&passwords, &before, "pencil").await);
        assert!(!is_right(&passwords, &before, "eraser").await);
        assert!(passwords.remembers(&before, "user", &pencil));
        assert!(!passwords.remembers(&before, "nobody", &pencil));
        assert!(!passwords.remembers(&after, "user", &pencil));
        assert!(is_right(&passwords, &after, "pencil").await);
        assert_eq!(lock(&passwords.right).len(), 1, "no more than there are users");
    }

    #[tokio::test]
    async fn a_newcomer_is_checked_before_a_hundred_that_wait() {
        let passwords = Arc::new(Passwords::new(Clock::start()));
        let plan = plan(b"one salt");
        let done = Arc::new(Mutex::new(Vec::new()));
        let waiting = Arc::new(Semaphore::new(0));
        lock(&passwords.inbox).is_checking = true; // nobody begins before all wait
        let ask = |who: &'static str, address: &str, password: &str| {
            let (check, done) = (ask(&passwords, &plan, address, password), Arc::clone(&done));
            let waiting = Arc::clone(&waiting);
            tokio::spawn(async move {
                waiting.add_permits(1);
                assert_ne!(check.await, Checked::Busy);
                done.lock().unwrap().push(who);
            })
        };
        let mut tasks: Vec<_> = (0..100).map(|_| ask("wrong", "10.0.0.1:1", "eraser")).collect();
        tasks.push(ask("right", "10.0.0.2:1", "pencil"));
        drop(waiting.acquire_many(101).await.unwrap());
        let checker = Checker(Arc::clone(&passwords));
        tokio::task::spawn_blocking(move || checker.run()).await.unwrap();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(done.lock().unwrap()[0], "right");
    }

    #[tokio::test]
    async fn more_than_the_limit_of_one_address_are_told_that_the_broker_is_busy() {
        let passwords = Arc::new(Passwords::new(Clock::start()));
        let mut strict = Plan::clone(&plan(b"one salt"));
        strict.limits.password_checks = 3;
        let strict = Arc::new(strict);
        lock(&passwords.inbox).is_checking = true; // nobody begins before all are there
        let all: Vec<_> = (0..10).map(|_| ask(&passwords, &strict, "10.0.0.1:1", "no")).collect();
        let checker = Checker(Arc::clone(&passwords));
        tokio::task::spawn_blocking(move || checker.run()).await.unwrap();
        let mut answers = Vec::new();
        for one in all {
            answers.push(one.await);
        }
        assert_eq!(answers, [vec![Checked::Busy; 7], vec![Checked::Wrong; 3]].concat());
    }

    #[tokio::test]
    async fn a_check_that_nobody_waits_for_is_not_made() {
        let passwords = Arc::new(Passwords::new(Clock::start()));
        lock(&passwords.inbox).is_checking = true;
        drop(ask(&passwords, &plan(b"one salt"), "10.0.0.1:1", "pencil"));
        let checker = Checker(Arc::clone(&passwords));
        tokio::task::spawn_blocking(move || checker.run()).await.unwrap();
        assert_eq!(lock(&passwords.right).len(), 0);
        assert!(is_right(&passwords, &plan(b"one salt"), "pencil").await);
    }
}
