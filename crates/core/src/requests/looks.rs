//! Looks at the topics on which requests wait when services come or go: page by page, because they may be very many.
//! Services that are free get requests, and requests that do not wait for a service end if there is none any more.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use super::book::{fresh_pool, is_stored};
use super::{Handing, Participant, RequestBook, RequestKey, Surroundings};
use crate::topic_pages::visit_page;

/// Topics that one look takes.
const TOPICS_MAX: usize = 64;
/// Requests that one look hands out, after which it goes on later with the same topic.
const HANDED_MAX: usize = 256;
/// Looks that wait. With one more, they become a single look at all topics.
const LOOKS_MAX: usize = 256;

/// The topics with a request that waits.
pub(super) type StoredTopics = BTreeSet<Arc<str>>;

/// Topics that are to be looked at.
#[derive(Debug)]
enum TopicLook {
    /// Those that a filter matches, behind a topic.
    Filter(Box<str>, Option<Arc<str>>),
    /// All, behind a topic.
    All(Option<Arc<str>>),
    /// These.
    Topics(VecDeque<Arc<str>>),
}

impl TopicLook {
    /// Takes the next topics. Returns whether there may be more.
    fn next(&mut self, stored: &StoredTopics) -> (VecDeque<Arc<str>>, bool) {
        let mut topics = VecDeque::new();
        let is_left = match self {
            Self::Filter(filter, after) => {
                let all = |from: Bound<&str>| {
                    stored.range::<str, _>((from, Bound::Unbounded)).map(|topic| (topic, ()))
                };
                let mut take = |topic: &Arc<str>, ()| {
                    topics.push_back(Arc::clone(topic));
                    true
                };
                *after = visit_page(all, (filter, after.as_deref()), TOPICS_MAX, &mut take);
                after.is_some()
            }
            Self::All(after) => {
                let from = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                let range = stored.range::<str, _>((from, Bound::Unbounded));
                topics.extend(range.take(TOPICS_MAX).cloned());
                *after = topics.back().cloned();
                topics.len() == TOPICS_MAX
            }
            Self::Topics(left) => {
                topics.extend(left.drain(..left.len().min(TOPICS_MAX)));
                !left.is_empty()
            }
        };
        (topics, is_left)
    }
}

/// The looks that wait.
#[derive(Debug, Default)]
pub(super) struct Looks(VecDeque<TopicLook>);

impl Looks {
    /// Adds a look. A look at all topics that has not begun sees its topics, too.
    fn push(&mut self, look: TopicLook) {
        if self.0.iter().any(|look| matches!(look, TopicLook::All(None))) {
            return;
        }
        if self.0.len() < LOOKS_MAX {
            self.0.push_back(look);
        } else {
            self.0.clear();
            self.0.push_back(TopicLook::All(None));
        }
    }

    /// A topic on which a request waits although a service may be free.
    pub(super) fn push_topic(&mut self, topic: &Arc<str>) {
        self.push(TopicLook::Topics([Arc::clone(topic)].into()));
    }
}

/// What a look has found.
#[derive(Debug)]
pub struct Looked<C> {
    /// Requests that go to services.
    pub handings: Vec<Handing<C>>,
    /// Requests that do not wait for a service, and there is none: end them so.
    pub unserved: Vec<RequestKey>,
}

impl<C: Participant> RequestBook<C> {
    /// The services of these topics have changed: a client has subscribed, unsubscribed, or is back.
    pub fn look_at_filter(&mut self, filter: &str) {
        if !self.stored_topics.is_empty() {
            self.looks.push(TopicLook::Filter(filter.into(), None));
        }
    }

    /// The services of these topics may have gone.
    pub fn look_at_topics(&mut self, topics: VecDeque<Arc<str>>) {
        if !topics.is_empty() {
            self.looks.push(TopicLook::Topics(topics));
        }
    }

    /// Whether topics are to be looked at.
    pub fn has_looks(&self) -> bool {
        !self.looks.0.is_empty()
    }

    /// Looks at some topics.
    pub fn look(&mut self, around: &Surroundings<'_, C>) -> Looked<C> {
        let mut looked = Looked { handings: Vec::new(), unserved: Vec::new() };
        let Some(mut look) = self.looks.0.pop_front() else { return looked };
        let (mut topics, is_left) = look.next(&self.stored_topics);
        if is_left {
            self.looks.0.push_back(look);
        }
        while let Some(topic) = topics.front() {
            if !self.look_at(topic, &mut looked, around) {
                break;
            }
            topics.pop_front();
        }
        self.look_at_topics(topics);
        looked
    }

    /// Looks at one topic; returns whether it is done with it.
    fn look_at(
        &mut self,
        topic: &Arc<str>,
        looked: &mut Looked<C>,
        around: &Surroundings<'_, C>,
    ) -> bool {
        if !self.pools.contains_key(topic) {
            return true;
        }
        let pool =
            fresh_pool((&mut self.pools, &self.pools_max), &mut self.services, topic, around);
        pool.list(&mut self.services);
        if !pool.members.iter().any(|member| member.candidate.is_service()) {
            let open = &self.open;
            let is_unserved = |key: &RequestKey| {
                is_stored(open, *key) && open.get(key).is_some_and(|open| !open.asked.waits)
            };
            looked.unserved.extend(pool.stored().filter(is_unserved));
        }
        while looked.handings.len() < HANDED_MAX {
            let Some(handing) = self.hand_next(topic, around) else { return true };
            looked.handings.push(handing);
        }
        false
    }
}
