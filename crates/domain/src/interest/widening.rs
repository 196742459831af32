//! Makes an interest smaller by making it wider: many filters that begin alike become one that ends with `#`.
//!
//! An example, with room for two filters: `a/1/x`, `a/1/y`, `a/2/x` and `b/1/x` become `a/#` and `b/1/x`. First the
//! depth is chosen: with two levels kept there would be three filters (`a/1/#`, `a/2/#`, `b/1/#`), with one level two.
//! At this depth the largest group is cut, then the next, until there is room.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{InterestBounds, WantedFilters, merge, shortened, want};
use crate::WantedRate;
use crate::bounds::FILTER_LEVELS_MAX;

pub(super) struct WidenedInterest {
    pub filters: WantedFilters,
    pub dollar_topics: Option<WantedRate>,
    pub is_widened: bool,
}

/// The filters, widened as far as the bounds ask for.
pub(super) fn widen(filters: WantedFilters, bounds: InterestBounds) -> WidenedInterest {
    if Size::of(filters.keys().map(|filter| &**filter)).fits(bounds) {
        return WidenedInterest { filters, dollar_topics: None, is_widened: false };
    }
    match depth_that_fits(&filters, bounds) {
        Some(depth) => WidenedInterest {
            filters: merge(cut_largest_groups(filters, depth, bounds)),
            dollar_topics: None,
            is_widened: true,
        },
        None => everything(&filters),
    }
}

/// How many filters there are, and their bytes.
#[derive(Clone, Copy, Default)]
struct Size {
    filters: usize,
    bytes: usize,
}

impl Size {
    fn of<'a>(filters: impl Iterator<Item = &'a str>) -> Self {
        filters.fold(Self::default(), |size, filter| Self {
            filters: size.filters + 1,
            bytes: size.bytes + filter.len(),
        })
    }

    fn fits(self, bounds: InterestBounds) -> bool {
        self.filters <= bounds.filters_max && self.bytes <= bounds.bytes_max
    }
}

/// The most levels that can be kept of every filter.
fn depth_that_fits(filters: &WantedFilters, bounds: InterestBounds) -> Option<usize> {
    let fits = |depth: usize| {
        // Filters that begin alike follow each other, so that equal cuts do, too.
        let mut cuts: Vec<String> = filters.keys().map(|filter| cut(filter, depth)).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Size::of(cuts.iter().map(String::as_str)).fits(bounds)
    };
    let depths: Vec<usize> = (1..FILTER_LEVELS_MAX).collect();
    let fitting = depths.partition_point(|depth| fits(*depth));
    fitting.checked_sub(1).map(|last| depths[last])
}

/// Cuts the groups of filters with equal first levels, the largest group first, until the rest fits.
fn cut_largest_groups(
    mut filters: WantedFilters,
    depth: usize,
    bounds: InterestBounds,
) -> WantedFilters {
    let mut size = Size::of(filters.keys().map(|filter| &**filter));
    let mut groups: BTreeMap<String, Vec<Box<str>>> = BTreeMap::new();
    for filter in filters.keys() {
        groups.entry(cut(filter, depth)).or_default().push(filter.clone());
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_cached_key(|(_, members)| {
        Reverse((members.len(), members.iter().map(|member| member.len()).sum::<usize>()))
    });
    for (cut, members) in groups {
        if size.fits(bounds) {
            break;
        }
        size.filters -= members.len();
        size.bytes -= members.iter().map(|member| member.len()).sum::<usize>();
        size.filters += 1;
        size.bytes += cut.len();
        let rates = members.iter().filter_map(|member| filters.remove(member));
        if let Some(highest) = rates.max() {
            want(&mut filters, cut.into(), highest);
        }
    }
    filters
}

fn everything(filters: &WantedFilters) -> WidenedInterest {
    let highest = |of_dollar: bool| {
        let rates = filters.iter().filter(|(filter, _)| filter.starts_with('$') == of_dollar);
        rates.map(|(_, rate)| *rate).max()
    };
    let all = highest(false).map(|rate| ("#".into(), rate));
    WidenedInterest {
        filters: all.into_iter().collect(),
        dollar_topics: highest(true),
        is_widened: true,
    }
}

/// The filter itself if it has at most so many levels, not counting `#`; else the one of everything below its first
/// levels.
fn cut(filter: &str, depth: usize) -> String {
    let levels = filter.strip_suffix("/#").unwrap_or(filter);
    match levels.match_indices('/').nth(depth - 1) {
        Some(_) => shortened(&below(filter, depth)).into_owned(),
        None => filter.into(),
    }
}

/// The filter of everything below the first levels of another one, which has more.
pub(super) fn below(filter: &str, depth: usize) -> String {
    let end = filter.match_indices('/').nth(depth - 1).map_or(filter.len(), |(at, _)| at);
    format!("{}/#", &filter[..end])
}
