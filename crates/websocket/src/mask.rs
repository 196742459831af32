//! Random masks for a client's frames (RFC 6455 5.3). The random bytes are fetched for many masks at once.

use ring::rand::{SecureRandom, SystemRandom};

const POOL_BYTES: usize = 1024;

/// A pool of random bytes for masks.
#[derive(Debug)]
pub(crate) struct Masks {
    random: SystemRandom,
    pool: Vec<u8>,
}

impl Masks {
    pub fn new() -> Self {
        Self { random: SystemRandom::new(), pool: Vec::new() }
    }

    /// A new mask.
    pub fn next(&mut self) -> [u8; 4] {
        if self.pool.len() < 4 {
            self.pool.resize(POOL_BYTES, 0);
            self.random.fill(&mut self.pool).expect("the system has random bytes");
        }
        let at = self.pool.len() - 4;
        let mask = [0, 1, 2, 3].map(|byte| self.pool[at + byte]);
        self.pool.truncate(at);
        mask
    }
}
