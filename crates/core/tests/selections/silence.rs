//! The law of silence: it is found as if every parameter were checked each time.

use proptest::prelude::*;
use slipring_core::table::Silence;
use slipring_wire::frame::{Kind, Quality, RangeSet};

use crate::world::{World, f64_at};

const PARAMETERS: u32 = 150;
const RATES_HZ: [Option<f64>; 5] = [None, Some(50.0), Some(1.0), Some(0.05), Some(1e-9)];
const RULES: [Silence; 2] =
    [Silence { periods: 5.0, least_ms: 200 }, Silence { periods: 1.0, least_ms: 0 }];

#[derive(Clone, Debug)]
enum Step {
    /// Samples of the parameters from the first to the last.
    Publish(u32, u32),
    /// They are declared with another rate.
    Rate(u32, u32, usize),
    /// Their publisher has left.
    Gone(u32, u32),
    Pass(u64),
    Rule(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let span = || (0..PARAMETERS, 0..PARAMETERS).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        6 => span().prop_map(|(first, last)| Step::Publish(first, last)),
        2 => (span(), 0..RATES_HZ.len()).prop_map(|((first, last), rate)| Step::Rate(first, last, rate)),
        1 => span().prop_map(|(first, last)| Step::Gone(first, last)),
        5 => prop_oneof![0..40u64, 0..400u64, 0..40_000u64].prop_map(Step::Pass),
        1 => (0..RULES.len()).prop_map(Step::Rule),
    ]
}

/// The model of a parameter.
#[derive(Clone, Default)]
struct Known {
    rate_hz: Option<f64>,
    /// When it had its last sample; None while it is stale.
    arrived_ms: Option<u64>,
}

impl Known {
    fn is_silent(&self, rule: Silence, now_ms: u64) -> bool {
        let (Some(hz), Some(arrived_ms)) = (self.rate_hz, self.arrived_ms) else { return false };
        let limit = (1000.0 / hz * f64::from(rule.periods)).max(f64::from(rule.least_ms));
        let age = u32::try_from(now_ms - arrived_ms).unwrap();
        limit < 1e9 && f64::from(age) > limit
    }
}

struct Play {
    world: World,
    known: Vec<Known>,
    rule: Silence,
}

impl Play {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Publish(first, last) => {
                let samples: Vec<_> = (first..=last).map(|index| f64_at(index, 5, 1.5)).collect();
                self.world.publish(&samples);
                self.each(first, last, |known, now_ms| known.arrived_ms = Some(now_ms));
            }
            Step::Rate(first, last, rate) => {
                for index in first..=last {
                    self.world.table.rates_hz.remove(&index);
                    let rate_hz = RATES_HZ[rate].map(|rate_hz| (index, rate_hz));
                    self.world.table.rates_hz.extend(rate_hz);
                }
                let span = (first..=last).collect::<RangeSet>();
                self.world.current.define(&span, &self.world.table);
                self.each(first, last, |known, _| known.rate_hz = RATES_HZ[rate]);
            }
            Step::Gone(first, last) => {
                let span = (first..=last).collect::<RangeSet>();
                let arrival = self.world.arrival();
                self.world.current.mark_stale(&span, Quality::PUBLISHER_GONE, arrival);
                self.each(first, last, |known, _| known.arrived_ms = None);
            }
            Step::Pass(ms) => self.world.now_ms += ms,
            Step::Rule(rule) => self.rule = RULES[rule],
        }
        self.look();
    }

    fn each(&mut self, first: u32, last: u32, change: impl Fn(&mut Known, u64)) {
        let some = &mut self.known[first as usize..=last as usize];
        for known in some {
            change(known, self.world.now_ms);
        }
    }

    fn look(&mut self) {
        let (rule, now_ms) = (self.rule, self.world.now_ms);
        let mut expected = RangeSet::new();
        for (known, index) in self.known.iter_mut().zip(0..) {
            if known.is_silent(rule, now_ms) {
                known.arrived_ms = None;
                expected.insert(index..index + 1);
            }
        }
        let arrival = self.world.arrival();
        assert_eq!(self.world.current.check_silent(rule, arrival), expected, "at {now_ms}");
    }
}

proptest! {
    #[test]
    fn silence_is_found_as_if_every_parameter_were_checked(
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let world = World::new(&[Kind::F64; PARAMETERS as usize]);
        let known = vec![Known::default(); PARAMETERS as usize];
        let mut play = Play { world, known, rule: RULES[0] };
        for step in &steps {
            play.step(step);
        }
    }
}
