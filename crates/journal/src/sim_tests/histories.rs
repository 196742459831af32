//! Random histories of crashes and faults: everything that was acknowledged is kept.

use proptest::prelude::*;

use super::world::{Act, Life, history, lives};
use crate::sim::{Crash, SimulatedDisk};

/// Thousands at least; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(2000), ..config }
}

proptest! {
    #![proptest_config(config())]
    /// Faults "kill -9 at any byte of a journal write", "power cut", "disk full", "fsync fails".
    #[test]
    fn after_any_crash_a_prefix_with_all_that_was_promised_is_left(
        lives in lives(), seed in any::<u64>(),
    ) {
        prop_assert_eq!(history(&lives, seed, |_| ()), Ok(()));
    }
}

#[test]
fn the_law_above_finds_a_disk_that_lies_about_syncs() {
    let acts = vec![[Act::Append(vec![50; 4], 20, true), Act::Step]; 8].concat();
    let life = Life { acts, budget: 3000, crash: Crash::PowerCut, recovery_budget: 0 };
    let lives = std::slice::from_ref(&life);
    let broken =
        (0..50).filter(|seed| history(lives, *seed, SimulatedDisk::lie_about_syncs).is_err());
    assert!(broken.count() > 10);
}
