//! The priority of a message: by its own property, by its subscription, or by its topic (T4, P9).

use slipring_wire::{Properties, matches};

use crate::PlanError;

/// The user property of a message, or of a SUBSCRIBE, with a priority: `high`, `normal` or `low`.
pub const PRIORITY_PROPERTY: &str = "slipring-priority";

/// A higher one goes earlier wherever messages wait, and is kept longer where there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// After all others.
    Low = 0,
    /// For messages that name none.
    #[default]
    Normal = 1,
    /// Before all others.
    High = 2,
}

/// When a message is dropped because there is no room: a lower rank goes first, and within a rank the oldest. A message
/// never makes room for one of a lower rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VictimRank(u8);

impl VictimRank {
    /// The rank of a message. Requests and their answers come between `normal` and `high`.
    pub fn of(priority: Priority) -> Self {
        Self(match priority {
            Priority::Low => 0,
            Priority::Normal => 1,
            Priority::High => 3,
        })
    }
}

impl Priority {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High].into_iter().find(|known| *known as u8 == byte)
    }

    /// The priority with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "low" => Some(Self::Low),
            "normal" => Some(Self::Normal),
            "high" => Some(Self::High),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    /// The priority that the properties of a packet name; None without one, or if there is no such name.
    pub fn of(properties: Properties<'_>) -> Option<Self> {
        if properties.is_empty() {
            return None;
        }
        properties.pair(PRIORITY_PROPERTY).and_then(Self::named)
    }

    /// The same, but a name that is none is an error.
    pub fn checked(properties: Properties<'_>) -> Result<Option<Self>, UnknownPriority> {
        let name = properties.pair(PRIORITY_PROPERTY);
        name.map(|name| Self::named(name).ok_or(UnknownPriority)).transpose()
    }

    /// The priority of one delivery: the message's own, else that of the subscription, else that of the topic.
    #[inline]
    pub fn of_delivery(own: Option<Self>, subscription: Option<Self>, topic: Self) -> Self {
        own.or(subscription).unwrap_or(topic)
    }
}

/// A name that no priority has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`slipring-priority` is high, normal or low")]
pub struct UnknownPriority;

/// The priority of each topic. The first filter that matches decides; other topics are normal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorityRule {
    rules: Vec<(String, Priority)>,
}

impl PriorityRule {
    /// Priorities by filter, the first match wins.
    pub fn new(rules: Vec<(String, Priority)>) -> Result<Self, PlanError> {
        rules.iter().try_for_each(|(filter, _)| PlanError::check(filter))?;
        Ok(Self { rules })
    }

    /// The priority of a topic.
    pub fn of(&self, topic: &str) -> Priority {
        let found = self.rules.iter().find(|(filter, _)| matches(filter, topic));
        found.map_or(Priority::Normal, |(_, priority)| *priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_wire::{PropertiesBuf, PropertyId, Value};

    fn named(names: &[&str]) -> PropertiesBuf {
        let mut properties = PropertiesBuf::new();
        for name in names {
            properties.push(PropertyId::UserProperty, Value::Pair(PRIORITY_PROPERTY, name));
        }
        properties
    }

    #[test]
    fn a_message_names_its_priority_and_an_unknown_name_is_none() {
        for priority in [Priority::Low, Priority::Normal, Priority::High] {
            let properties = named(&[priority.name()]);
            assert_eq!(Priority::of(properties.borrow()), Some(priority));
            assert_eq!(Priority::from_byte(priority as u8), Some(priority));
        }
        assert_eq!(Priority::of(named(&["urgent"]).borrow()), None);
        assert_eq!(Priority::of(Properties::NONE), None);
        assert_eq!(Priority::checked(named(&["urgent"]).borrow()), Err(UnknownPriority));
        assert_eq!(Priority::checked(named(&["low"]).borrow()), Ok(Some(Priority::Low)));
        assert_eq!(Priority::checked(Properties::NONE), Ok(None));
    }

    #[test]
    fn the_message_decides_before_the_subscription_and_the_subscription_before_the_topic() {
        let (low, normal, high) = (Priority::Low, Priority::Normal, Priority::High);
        assert_eq!(Priority::of_delivery(Some(low), Some(high), high), low);
        assert_eq!(Priority::of_delivery(None, Some(normal), high), normal);
        assert_eq!(Priority::of_delivery(None, None, high), high);
    }

    #[test]
    fn the_first_filter_that_matches_decides() {
        let rules = vec![("plant/log".into(), Priority::Low), ("plant/#".into(), Priority::High)];
        let rule = PriorityRule::new(rules).unwrap();
        assert_eq!(rule.of("plant/log"), Priority::Low);
        assert_eq!(rule.of("plant/alarm"), Priority::High);
        assert_eq!(rule.of("other"), Priority::Normal);
        let error = PriorityRule::new(vec![("a/#/b".into(), Priority::Low)]).unwrap_err();
        assert!(error.to_string().starts_with("'a/#/b' is not a topic filter"), "{error}");
    }

    #[test]
    fn a_higher_priority_is_dropped_later() {
        let ranks = [Priority::Low, Priority::Normal, Priority::High].map(VictimRank::of);
        assert!(ranks.is_sorted_by(|first, second| first < second));
    }
}
