//! Topics in their order, searched page by page for those that a filter matches.

use std::ops::Bound;
use std::sync::Arc;

use slipring_wire::matches;

/// Visits the topics that a filter matches, in their order, from the one behind `after` on. `topics` gives all topics
/// from one on. Looks at `most` of them; `visit` returns whether to go on. Returns the topic after which the next page
/// begins; None if this was the last.
pub(crate) fn visit_page<'a, V, T: Iterator<Item = (&'a Arc<str>, V)>>(
    topics: impl Fn(Bound<&str>) -> T,
    (filter, after): (&str, Option<&str>),
    most: usize,
    visit: &mut dyn FnMut(&'a Arc<str>, V) -> bool,
) -> Option<Arc<str>> {
    let wildcard = filter.find(['+', '#']);
    let prefix = &filter[..wildcard.unwrap_or(filter.len())];
    let parent = prefix.strip_suffix('/').filter(|_| filter.ends_with("/#"));
    let alone = if wildcard.is_none() { Some(filter) } else { parent }; // `a/#` matches `a`, too
    let alone = alone.filter(|topic| after.is_none() && matches(filter, topic));
    let first = alone.and_then(|topic| topics(Bound::Included(topic)).next());
    let mut looked = 0;
    if let Some((topic, value)) = first.filter(|(topic, _)| Some(&***topic) == alone) {
        looked += 1;
        if !visit(topic, value) {
            return wildcard.map(|_| Arc::clone(topic));
        }
    }
    wildcard?;
    let from = match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    for (topic, value) in topics(from).take_while(|(topic, _)| topic.starts_with(prefix)) {
        looked += 1;
        let goes_on = !matches(filter, topic) || visit(topic, value);
        if looked >= most || !goes_on {
            return Some(Arc::clone(topic));
        }
    }
    None
}
