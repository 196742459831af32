//! The line of passwords that wait to be checked. Names and addresses with wrong passwords lately come last. Of the
//! others the newest comes first: in a long line the oldest clients have given up or soon will. Pure.
//!
//! Example: 100 wrong passwords for one name wait, all from one address, and some were checked. A client with another
//! name or from another address comes. Its password is checked next: its name or its address has no wrong ones.

use std::collections::HashMap;
use std::time::Duration;

use slipring_core::Owner;
use tokio::time::Instant;

/// Names and sources whose wrong passwords are remembered, of each kind.
const REMEMBERED_MAX: usize = 4_096;
/// Half of the wrong passwords are forgotten in this time.
const FORGET: Duration = Duration::from_secs(60);

/// A client whose password is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asker {
    /// Its address, as an owner.
    pub source: Owner,
    /// The user name that it gives.
    pub name: Box<str>,
}

/// The checks that wait, and the wrong passwords of late.
#[derive(Debug)]
pub(crate) struct CheckLine<T> {
    /// In the order of their arrival.
    waiting: Vec<(Asker, T)>,
    by_source: HashMap<Owner, usize>,
    wrong_sources: WrongCounts,
    wrong_names: WrongCounts,
}

impl<T> Default for CheckLine<T> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            by_source: HashMap::new(),
            wrong_sources: WrongCounts::default(),
            wrong_names: WrongCounts::default(),
        }
    }
}

impl<T> CheckLine<T> {
    /// Adds a check. If more than `most` of one source wait, returns the one that has waited longest.
    pub fn push(&mut self, asker: Asker, check: T, most: usize) -> Option<T> {
        let count = self.by_source.entry(asker.source.clone()).or_default();
        *count += 1;
        let is_over = *count > most;
        self.waiting.push((asker, check));
        if !is_over {
            return None;
        }
        let source = self.waiting.last()?.0.source.clone();
        let oldest = self.waiting.iter().position(|(asker, _)| asker.source == source)?;
        Some(self.remove(oldest).1)
    }

    /// Removes the check whose turn it is.
    pub fn next(&mut self, now: Instant) -> Option<(Asker, T)> {
        let wrong = |asker: &Asker| {
            self.wrong_sources.count(asker.source.as_str(), now)
                + self.wrong_names.count(&asker.name, now)
        };
        // Among equal counts `min_by_key` takes the first, which is the newest.
        let newest_first = self.waiting.iter().enumerate().rev();
        let (at, _) = newest_first.min_by_key(|(_, (asker, _))| wrong(asker))?;
        Some(self.remove(at))
    }

    /// Removes checks that nobody waits for any more.
    pub fn retain(&mut self, is_wanted: impl Fn(&T) -> bool) {
        let gone: Vec<usize> =
            (0..self.waiting.len()).filter(|at| !is_wanted(&self.waiting[*at].1)).collect();
        for at in gone.into_iter().rev() {
            self.remove(at);
        }
    }

    /// Notes a wrong password.
    pub fn note_wrong(&mut self, asker: &Asker, now: Instant) {
        self.wrong_sources.add(asker.source.as_str(), now);
        self.wrong_names.add(&asker.name, now);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Removes the check that has waited longest of the source with the most.
    pub fn shed(&mut self) -> Option<T> {
        let (source, _) = self.by_source.iter().max_by_key(|(_, count)| **count)?;
        let oldest = self.waiting.iter().position(|(asker, _)| asker.source == *source)?;
        Some(self.remove(oldest).1)
    }

    fn remove(&mut self, at: usize) -> (Asker, T) {
        let (asker, check) = self.waiting.remove(at);
        if let Some(count) = self.by_source.get_mut(&asker.source) {
            *count -= 1;
            if *count == 0 {
                self.by_source.remove(&asker.source);
            }
        }
        (asker, check)
    }
}

/// How often each name or source was wrong lately.
#[derive(Debug, Default)]
struct WrongCounts(HashMap<Box<str>, (u32, Instant)>);

impl WrongCounts {
    fn count(&self, who: &str, now: Instant) -> u32 {
        self.0.get(who).map_or(0, |(count, at)| remaining(*count, now.duration_since(*at)))
    }

    fn add(&mut self, who: &str, now: Instant) {
        let count = self.count(who, now).saturating_add(1);
        while self.0.len() >= REMEMBERED_MAX && !self.0.contains_key(who) {
            self.0.retain(|_, (count, at)| {
                (*count, *at) = (remaining(*count, now.duration_since(*at)) / 2, now);
                *count > 0
            });
        }
        self.0.insert(who.into(), (count, now));
    }
}

fn remaining(count: u32, since: Duration) -> u32 {
    count.checked_shr((since.as_secs() / FORGET.as_secs()) as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn asker(source: &str, name: &str) -> Asker {
        Asker { source: Owner::named(source), name: name.into() }
    }

    #[test]
    fn a_client_without_wrong_passwords_comes_before_one_with_them() {
        let (now, mut line) = (Clock::start().now(), CheckLine::default());
        line.note_wrong(&asker("attacker", "user"), now);
        line.push(asker("elsewhere", "anna"), "newcomer", 10);
        line.push(asker("elsewhere", "user"), "attacked name", 10);
        line.push(asker("attacker", "user"), "wrong before", 10);
        line.push(asker("attacker", "anna"), "neighbour", 10);
        let order: Vec<_> = std::iter::from_fn(|| line.next(now)).map(|(_, check)| check).collect();
        assert_eq!(order, ["newcomer", "neighbour", "attacked name", "wrong before"]);
        assert!(line.is_empty() && line.by_source.is_empty());
    }

    #[test]
    fn among_equals_the_newest_comes_first() {
        let (now, mut line) = (Clock::start().now(), CheckLine::default());
        (0..100).for_each(|number| assert_eq!(line.push(asker("a", "user"), number, 100), None));
        assert_eq!(line.next(now).unwrap().1, 99);
    }

    #[test]
    fn one_source_has_so_many_in_the_line_and_the_oldest_of_its_own_goes() {
        let (now, mut line) = (Clock::start().now(), CheckLine::default());
        line.push(asker("other", "user"), 0, 2);
        assert_eq!(line.push(asker("a", "user"), 1, 2), None);
        assert_eq!(line.push(asker("a", "user"), 2, 2), None);
        assert_eq!(line.push(asker("a", "anna"), 3, 2), Some(1));
        line.retain(|check| *check != 3);
        let order: Vec<_> = std::iter::from_fn(|| line.next(now)).map(|(_, check)| check).collect();
        assert_eq!(order, [2, 0]);
    }

    #[test]
    fn the_source_with_the_most_loses_the_one_that_has_waited_longest() {
        let (now, mut line) = (Clock::start().now(), CheckLine::default());
        line.push(asker("other", "user"), 0, 9);
        (1..=3).for_each(|number| assert_eq!(line.push(asker("a", "user"), number, 9), None));
        assert_eq!((line.shed(), line.len()), (Some(1), 3));
        let order: Vec<_> = std::iter::from_fn(|| line.next(now)).map(|(_, check)| check).collect();
        assert_eq!(order, [3, 2, 0]);
        assert_eq!(line.shed(), None);
    }

    #[test]
    fn wrong_passwords_are_forgotten_over_time_and_their_memory_is_bounded() {
        let (now, mut wrong) = (Clock::start().now(), WrongCounts::default());
        (0..8).for_each(|_| wrong.add("user", now));
        assert_eq!(wrong.count("user", now), 8);
        assert_eq!(wrong.count("user", now + 2 * FORGET), 2);
        assert_eq!(wrong.count("user", now + 100 * FORGET), 0);
        (0..3 * REMEMBERED_MAX).for_each(|number| wrong.add(&number.to_string(), now));
        assert!(wrong.0.len() <= REMEMBERED_MAX);
    }
}
