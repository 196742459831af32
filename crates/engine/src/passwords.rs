//! Checking passwords one at a time: it is slow on purpose, and must not slow the traffic down.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::rand::{SecureRandom, SystemRandom};
use slipring_core::{NONCE_BYTES, Password, Plan, Secret};
use tokio::sync::Semaphore;

/// The place where passwords are checked, and what was found right there.
pub(crate) struct Passwords {
    /// Known to this process only.
    pub secret: Secret,
    /// Whose turn it is; all others wait in line, so that one core at most is busy with this.
    turn: Arc<Semaphore>,
    // Fingerprints of right passwords, so that a client that comes back is not checked again. Not
    // more than there are users. A lock: taken for a moment by each client with a password.
    right: Mutex<HashSet<[u8; 32]>>,
}

impl Passwords {
    pub fn new() -> Self {
        Self {
            secret: Secret::from(random()),
            turn: Arc::new(Semaphore::new(1)),
            right: Mutex::default(),
        }
    }

    /// Whether the password was found right before.
    pub fn remembers(&self, plan: &Plan, name: &str, password: &Password) -> bool {
        let users = &plan.authentication.users;
        self.right().contains(&users.fingerprint(name, password.as_ref(), &self.secret))
    }

    /// Checks a password when its turn has come, on a thread that serves no connection.
    pub async fn check(self: Arc<Self>, plan: Arc<Plan>, name: String, password: Password) -> bool {
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else { return false };
        let checked = tokio::task::spawn_blocking(move || {
            let _turn = turn; // kept until it is done, whether or not the client still waits
            let users = &plan.authentication.users;
            let right = users.verify_password(&name, password.as_ref(), &self.secret);
            if right {
                self.remember(
                    users.fingerprint(&name, password.as_ref(), &self.secret),
                    users.len(),
                );
            }
            right
        });
        checked.await.unwrap_or(false)
    }

    fn remember(&self, fingerprint: [u8; 32], most: usize) {
        let mut right = self.right();
        if right.len() >= most {
            right.clear(); // those of an earlier plan are among them
        }
        right.insert(fingerprint);
    }

    fn right(&self) -> MutexGuard<'_, HashSet<[u8; 32]>> {
        self.right.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something that no client can foresee, for one exchange.
pub(crate) fn nonce() -> [u8; NONCE_BYTES] {
    random()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    bytes
}

#[cfg(test)]
mod tests {
    use slipring_core::{Authentication, Users, Verifier};

    use super::*;

    fn plan(salt: &[u8]) -> Arc<Plan> {
        let verifier = Verifier::new(b"pencil", salt, 4096).unwrap();
        let users = Users::new([("user".to_owned(), verifier)]).unwrap();
        let authentication = Authentication { users, anonymous: false };
        Arc::new(Plan { authentication, ..Plan::default() })
    }

    async fn check(passwords: &Arc<Passwords>, plan: &Arc<Plan>, password: &str) -> bool {
        let password = Password::from(password.as_bytes());
        let checked =
            Arc::clone(passwords).check(Arc::clone(plan), "user".into(), password.clone());
        let right = checked.await;
        assert_eq!(passwords.remembers(plan, "user", &password), right);
        right
    }

    #[tokio::test]
    async fn a_right_password_is_remembered_until_its_verifier_changes() {
        let passwords = Arc::new(Passwords::new());
        let (before, after) = (plan(b"one salt"), plan(b"another salt"));
        let pencil = Password::from(&b"pencil"[..]);
        assert!(!passwords.remembers(&before, "user", &pencil));
        assert!(check(&passwords, &before, "pencil").await);
        assert!(!check(&passwords, &before, "eraser").await);
        assert!(passwords.remembers(&before, "user", &pencil));
        assert!(!passwords.remembers(&before, "nobody", &pencil));
        assert!(!passwords.remembers(&after, "user", &pencil));
        assert!(check(&passwords, &after, "pencil").await);
        assert_eq!(passwords.right().len(), 1, "no more than there are users");
    }

    #[tokio::test]
    async fn a_check_nobody_waits_for_keeps_its_turn_until_it_is_done() {
        let passwords = Arc::new(Passwords::new());
        let password = Password::from(&b"pencil"[..]);
        let mut left =
            Box::pin(Arc::clone(&passwords).check(plan(b"one salt"), "user".into(), password));
        std::future::poll_fn(|cx| {
            assert!(left.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(left);
        assert_eq!(passwords.turn.available_permits(), 0);
        let _turn = passwords.turn.acquire().await.unwrap();
        assert_eq!(passwords.right().len(), 1);
    }
}
