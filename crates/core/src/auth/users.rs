//! The users of a broker, by name. Immutable, and a part of the plan.

use super::secret::Digest;
use super::{Secret, Verifier};
use crate::PlanError;

/// The users with their verifiers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users {
    /// Sorted by name.
    verifiers: Vec<(Box<str>, Verifier)>,
    /// Iterations and bytes of salt of each, sorted: adding a user changes the stand-ins of few names.
    shapes: Box<[(u32, u8)]>,
    /// What stand-ins for unknown names are made with; None takes the secret of the process.
    key: Option<Digest>,
}

/// The verifier that a client's proof is compared with.
pub(super) struct Candidate {
    pub verifier: Verifier,
    /// Whether there is such a user; if not, every proof is wrong. Combine it with `&`, never `&&`: the answer must
    /// take equally long for an unknown name.
    pub known: bool,
}

impl Users {
    /// Users with different names.
    pub fn new(users: impl IntoIterator<Item = (String, Verifier)>) -> Result<Self, PlanError> {
        let named = users.into_iter().map(|(name, verifier)| (name.into_boxed_str(), verifier));
        let mut verifiers: Vec<_> = named.collect();
        verifiers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let twice = verifiers.windows(2).find(|pair| pair[0].0 == pair[1].0);
        if let Some(pair) = twice {
            return Err(PlanError::UserTwice { name: pair[0].0.to_string() });
        }
        let shape = |verifier: &Verifier| (verifier.iterations, verifier.salt.len() as u8);
        let mut shapes: Box<[_]> = verifiers.iter().map(|(_, verifier)| shape(verifier)).collect();
        shapes.sort_unstable();
        Ok(Self { verifiers, shapes, key: None })
    }

    /// The same users, with stand-ins for unknown names that stay the same when the process starts again: else
    /// somebody who looks before and after could tell them from users.
    #[must_use]
    pub fn with_key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// Whether there is a user with this name.
    pub fn has(&self, name: &str) -> bool {
        self.verifiers.binary_search_by(|(known, _)| (**known).cmp(name)).is_ok()
    }

    /// Whether a user has the same password as among other users.
    pub fn has_same(&self, name: &str, others: &Self) -> bool {
        let of = |users: &Self| {
            let at = users.verifiers.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
            Some(users.verifiers[at].1.clone())
        };
        self.has(name) && of(self) == of(others)
    }

    /// The number of users.
    pub fn len(&self) -> usize {
        self.verifiers.len()
    }

    /// Whether there are no users.
    pub fn is_empty(&self) -> bool {
        self.verifiers.is_empty()
    }

    /// Whether this is the user's password. Takes a millisecond or more, on purpose, and equally long for an unknown
    /// name.
    pub fn verify_password(&self, name: &str, password: &[u8], secret: &Secret) -> bool {
        let candidate = self.candidate(name, secret);
        candidate.verifier.matches(password) & candidate.known
    }

    /// A digest of a user and a password, to remember that the password was right. It changes with the user's
    /// verifier, and reveals nothing without the secret.
    pub fn fingerprint(&self, name: &str, password: &[u8], secret: &Secret) -> [u8; 32] {
        let stored_key = self.candidate(name, secret).verifier.stored_key;
        secret.digest(&[b"fingerprint", &stored_key, name.as_bytes(), password])
    }

    /// The verifier to compare a proof with. An unknown name gets one as well, always the same: SCRAM sends the salt
    /// to the client, which must not learn from it whether the user exists.
    pub(super) fn candidate(&self, name: &str, secret: &Secret) -> Candidate {
        let found = self.verifiers.binary_search_by(|(known, _)| (**known).cmp(name));
        let known = found.is_ok();
        let stand_in = self.stand_in(name, secret);
        let verifier = found.map_or(stand_in, |at| self.verifiers[at].1.clone());
        Candidate { verifier, known }
    }

    /// A verifier for an unknown name, which looks like one of the others.
    fn stand_in(&self, name: &str, secret: &Secret) -> Verifier {
        let own = self.key.map(Secret::from);
        let secret = own.as_ref().unwrap_or(secret);
        let digest = |purpose: &[u8]| -> Digest { secret.digest(&[purpose, name.as_bytes()]) };
        let [a, b, c, d, ..] = digest(b"like");
        let at = (u64::from(u32::from_be_bytes([a, b, c, d])) * self.shapes.len() as u64) >> 32;
        let (iterations, salt_bytes) = self.shapes.get(at as usize).copied().unwrap_or((4096, 16));
        Verifier {
            salt: digest(b"salt")[..usize::from(salt_bytes)].into(),
            iterations,
            stored_key: digest(b"stored key"),
            server_key: digest(b"server key"),
        }
    }
}

impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Users({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: &[u8] = b"a salt of 18 bytes";

    fn users() -> Users {
        let verifier = |password| Verifier::new(password, SALT, 5000).unwrap();
        let entries = [("user", b"pencil"), ("anna", b"eraser")];
        Users::new(entries.map(|(name, password)| (name.into(), verifier(password)))).unwrap()
    }

    fn secret(byte: u8) -> Secret {
        Secret::from([byte; 32])
    }

    #[test]
    fn only_the_users_own_password_is_right() {
        let is_right = |name, password| users().verify_password(name, password, &secret(1));
        assert!(is_right("user", b"pencil"));
        assert!(is_right("anna", b"eraser"));
        for (name, password) in
            [("user", &b"eraser"[..]), ("user", b""), ("nobody", b"pencil"), ("", b""), ("a", b"")]
        {
            assert!(!is_right(name, password), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_always_gets_the_same_verifier_which_looks_like_a_users() {
        let stand_in = |name, secret| users().candidate(name, &secret).verifier;
        let one = stand_in("nobody", secret(1));
        assert_eq!((one.salt.len(), one.iterations), (SALT.len(), 5000));
        assert!(one == stand_in("nobody", secret(1)));
        assert!(one.salt != stand_in("other", secret(1)).salt);
        assert!(one.salt != stand_in("nobody", secret(2)).salt);
    }

    #[test]
    fn with_a_key_stand_ins_outlive_the_process_and_seldom_change_with_the_users() {
        let stand_in = |users: &Users, name: &str, secret| {
            users.candidate(name, &self::secret(secret)).verifier
        };
        let keyed = users().with_key([7; 32]);
        assert!(stand_in(&keyed, "nobody", 1) == stand_in(&keyed, "nobody", 2));
        assert!(stand_in(&keyed, "nobody", 1) != stand_in(&users(), "nobody", 1));
        assert!(stand_in(&keyed, "nobody", 1) != stand_in(&users().with_key([8; 32]), "nobody", 1));
        let crowd = |count: usize| {
            let verifier = |number: usize| {
                let (salt, iterations) =
                    if number % 2 == 0 { (SALT, 4096) } else { (&SALT[..8], 9000) };
                Verifier { salt: salt.into(), iterations, ..stand_in(&keyed, "like", 1) }
            };
            let named = (0..count).map(|number| (format!("user {number}"), verifier(number)));
            Users::new(named).unwrap().with_key([7; 32])
        };
        let (before, after) = (crowd(1_000), crowd(1_001));
        let names: Vec<String> = (0..1_000).map(|number| format!("nobody {number}")).collect();
        let differ = |name: &&String| stand_in(&before, name, 1) != stand_in(&after, name, 1);
        assert!(names.iter().filter(differ).count() < 10);
        let long = |name: &&String| stand_in(&before, name, 1).iterations == 9000;
        assert!((400..600).contains(&names.iter().filter(long).count()), "as often as among users");
    }

    #[test]
    fn a_fingerprint_changes_with_user_password_verifier_and_secret() {
        let fingerprint = |name, password| users().fingerprint(name, password, &secret(1));
        let one = fingerprint("user", b"pencil");
        assert_eq!(one, fingerprint("user", b"pencil"));
        assert_ne!(one, fingerprint("user", b"pencil2"));
        assert_ne!(one, fingerprint("anna", b"pencil"));
        assert_ne!(one, users().fingerprint("user", b"pencil", &secret(2)));
        let changed = Verifier::new(b"pencil", b"another salt", 4096).unwrap();
        let changed = Users::new([("user".to_owned(), changed)]).unwrap();
        assert_ne!(one, changed.fingerprint("user", b"pencil", &secret(1)));
    }

    #[test]
    fn two_users_with_one_name_are_refused() {
        let verifier = || Verifier::new(b"pencil", SALT, 4096).unwrap();
        let error = Users::new([("a".into(), verifier()), ("a".into(), verifier())]).unwrap_err();
        assert_eq!(error, PlanError::UserTwice { name: "a".into() });
    }
}
