//! Masks for the frames of a client (RFC 6455 5.3): nobody can foresee them. Fetched many at a time.

use ring::rand::{SecureRandom, SystemRandom};

const POOL_BYTES: usize = 1024;

/// Masks that were not used yet.
#[derive(Debug)]
pub(crate) struct Masks {
    random: SystemRandom,
    pool: Vec<u8>,
}

impl Masks {
    pub fn new() -> Self {
        Self { random: SystemRandom::new(), pool: Vec::new() }
    }

    /// One that was not used before.
    pub fn next(&mut self) -> [u8; 4] {
        if self.pool.len() < 4 {
            self.pool.resize(POOL_BYTES, 0);
            self.random.fill(&mut self.pool).expect("the system has random bytes");
        }
        let at = self.pool.len() - 4;
        let mask = [0, 1, 2, 3].map(|place| self.pool[at + place]);
        self.pool.truncate(at);
        mask
    }
}
