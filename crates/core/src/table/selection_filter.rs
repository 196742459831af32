//! The filter of a selection: a topic filter, or a list of parameters, each perhaps under a name.
//!
//! A session has one subscription for each filter. `$selection/NAME/FILTER` is the same selection under another
//! name, so that a client can have it twice with different needs.

use slipring_wire::shared;

use super::ListId;

/// The prefix of filters that only a selection can have.
pub const SELECTIONS: &str = "$selection/";

/// What a selection chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionFilter<'a> {
    /// The parameters that this topic filter matches, now and later.
    Filter(&'a str),
    /// The parameters of a list, which never changes.
    List(ListId),
}

impl<'a> SelectionFilter<'a> {
    /// Reads the filter of a selection; None if it cannot be one.
    pub fn parse(filter: &'a str) -> Option<Self> {
        let Some(rest) = filter.strip_prefix(SELECTIONS) else { return Some(Self::Filter(filter)) };
        let Some((name, inner)) = rest.split_once('/') else {
            return ListId::parse(rest).map(Self::List);
        };
        if name.is_empty() || name.contains(['+', '#']) || inner.is_empty() {
            return None;
        }
        match inner.strip_prefix(SELECTIONS) {
            Some(list) => ListId::parse(list).map(Self::List),
            None => shared(inner).is_none().then_some(Self::Filter(inner)),
        }
    }

    /// The same filter without the selection's name.
    pub fn unnamed(filter: &'a str) -> &'a str {
        let rest = filter.strip_prefix(SELECTIONS).filter(|_| Self::parse(filter).is_some());
        rest.and_then(|rest| rest.split_once('/')).map_or(filter, |(_, inner)| inner)
    }

    /// The topic filter, if it is one.
    pub fn filter(self) -> Option<&'a str> {
        match self {
            Self::Filter(filter) => Some(filter),
            Self::List(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_without_its_name_is_the_same_selection() {
        let rows = [
            ("a/#", "a/#"),
            ("$selection/plot/a/#", "a/#"),
            ("$selection/00000000000000ff", "$selection/00000000000000ff"),
            ("$selection/plot/$selection/00000000000000ff", "$selection/00000000000000ff"),
            ("$selection/+/a", "$selection/+/a"),
        ];
        for (filter, unnamed) in rows {
            assert_eq!(SelectionFilter::unnamed(filter), unnamed);
        }
    }

    #[test]
    fn a_selection_may_have_a_name() {
        let list = ListId::parse("00000000000000ff").map(SelectionFilter::List);
        for (filter, expected) in [
            ("a/+/b", Some(SelectionFilter::Filter("a/+/b"))),
            ("$selection/plot/a/#", Some(SelectionFilter::Filter("a/#"))),
            ("$selection/plot/#", Some(SelectionFilter::Filter("#"))),
            ("$selection/00000000000000ff", list),
            ("$selection/plot/$selection/00000000000000ff", list),
        ] {
            assert_eq!(SelectionFilter::parse(filter), expected, "{filter}");
        }
    }

    #[test]
    fn a_filter_with_an_empty_name_or_nothing_after_the_name_is_refused() {
        for filter in [
            "$selection/",
            "$selection/plot",
            "$selection/plot/",
            "$selection//a",
            "$selection/+/a",
            "$selection/#",
            "$selection/plot/$share/group/a",
            "$selection/plot/$selection/other/a",
        ] {
            assert_eq!(SelectionFilter::parse(filter), None, "{filter}");
        }
    }
}
