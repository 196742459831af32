//! Declaring streams and removing them: all that are asked for, or none and every reason why.

use std::collections::HashSet;
use std::sync::Arc;

use super::catalog::INDICES_MAX;
use super::definition::Definition;
use super::request::StreamDeclaration;
use super::state::{Streams, one};
use crate::desk::{Problem, ProblemCode, Requester, check_name};
use crate::{SessionKey, StreamIndex};

/// Bytes that all buffers together may take.
pub const BUFFERS_BYTES_MAX: usize = 256 << 20;

/// What a request did: indices, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsChange {
    /// New streams.
    pub added: Vec<StreamIndex>,
    /// Described anew.
    pub changed: Vec<StreamIndex>,
    /// Gone, with their names.
    pub removed: Vec<(StreamIndex, String)>,
    /// Somebody publishes them again.
    pub live: Vec<StreamIndex>,
    /// What the session publishes from now on, and did not before. Of the streams nothing is different by
    /// that.
    pub entered: Vec<StreamIndex>,
}

impl StreamsChange {
    /// Whether the journal has to know of it.
    pub fn is_recorded(&self) -> bool {
        !(self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty())
    }

    /// Whether nothing of the streams is different.
    pub fn is_empty(&self) -> bool {
        !self.is_recorded() && self.live.is_empty()
    }
}

impl Streams {
    /// Makes a session a publisher of these streams; those that are not there yet are added. The index
    /// of each, or all that is wrong.
    pub fn declare(
        &mut self,
        asked: &[StreamDeclaration],
        requester: &Requester<'_>,
    ) -> Result<(Vec<StreamIndex>, StreamsChange), Vec<Problem>> {
        let problems = self.problems(asked, requester);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut change = StreamsChange::default();
        let indices =
            asked.iter().map(|one| self.declare_one(one, requester, &mut change)).collect();
        let StreamsChange { added, changed, live, entered, .. } = &mut change;
        for set in [added, changed, live, entered] {
            set.sort_unstable();
        }
        self.revise(&change);
        Ok((indices, change))
    }

    fn declare_one(
        &mut self,
        asked: &StreamDeclaration,
        requester: &Requester<'_>,
        change: &mut StreamsChange,
    ) -> StreamIndex {
        let known = self.catalog.index_of(&asked.name);
        let index = known.unwrap_or_else(|| self.catalog.end());
        let before = self.catalog.get(index).map(|one| Arc::clone(&one.definition));
        let is_another = |before: &Arc<Definition>| before.media != asked.definition.media;
        let is_another = before.as_ref().is_some_and(is_another);
        if is_another {
            self.publishers.forget_silent(index);
        }
        if is_another || self.publishers.is_live(requester.from.session, index).is_none() {
            change.entered.push(index);
        }
        if before.as_deref() != Some(&asked.definition) {
            self.catalog
                .put(index, &asked.name, asked.definition.clone())
                .expect("its index was checked");
            if requester.owner().is_some() {
                self.catalog.own(index, requester.owner());
            }
            let kind = if known.is_some() { &mut change.changed } else { &mut change.added };
            kind.push(index);
            self.take_in(index);
        }
        let entered = self.publishers.enter(requester.from.session, "", &one(index));
        if !entered.first.is_empty() && known.is_some() {
            change.live.push(index);
        }
        index
    }

    fn problems(&self, asked: &[StreamDeclaration], requester: &Requester<'_>) -> Vec<Problem> {
        let (mut problems, mut names) = (Vec::new(), HashSet::new());
        for one in asked {
            let mut tell = |code, text| problems.push(Problem::new(one.at, &one.name, code, text));
            if let Err(text) = check_name(&one.name, &requester.bounds) {
                tell(ProblemCode::Name, text);
            }
            one.definition.check(&mut tell);
            if !names.insert(&*one.name) {
                tell(ProblemCode::Duplicate, "the request has this name twice".to_owned());
            }
            if let Some(text) = self.clash(one, requester) {
                tell(ProblemCode::Clash, text);
            }
        }
        if problems.is_empty() {
            problems.extend(self.lack_of_room(asked, requester));
            problems.extend(self.beyond_quota(asked, requester));
        }
        if let (true, Some(first), false) =
            (problems.is_empty(), asked.first(), self.publishers.has_room_for(asked.len()))
        {
            let text = "all clients together have declared as many streams as they may";
            problems.push(Problem::new(first.at, &first.name, ProblemCode::Full, text));
        }
        problems
    }

    fn clash(&self, asked: &StreamDeclaration, requester: &Requester<'_>) -> Option<String> {
        if (requester.is_taken)(&asked.name) {
            return Some("a parameter has this name; take another one".to_owned());
        }
        let index = self.catalog.index_of(&asked.name)?;
        let known = &self.catalog.get(index)?.definition;
        let others = self.publishers.others(requester.from.session, index);
        (others > 0 && known.media != asked.definition.media)
            .then(|| format!("another client publishes it as {}; take another name", known.media))
    }

    /// The first stream that there is no room for.
    fn lack_of_room(
        &self,
        asked: &[StreamDeclaration],
        requester: &Requester<'_>,
    ) -> Option<Problem> {
        let there = self.catalog.len();
        let (mut live, mut bytes) = (there, self.catalog.buffer_bytes());
        let mut end = self.catalog.end().get();
        for one in asked {
            let known = self.catalog.index_of(&one.name).and_then(|index| self.catalog.get(index));
            let had = known.map_or(0, |known| known.definition.buffer_bytes);
            bytes = bytes - had + one.definition.buffer_bytes;
            live += usize::from(known.is_none());
            end += u32::from(known.is_none());
            let what = if known.is_none() && live > requester.bounds.entries {
                format!(
                    "there are {there} streams, and room for {} (limits.streams)",
                    requester.bounds.entries
                )
            } else if one.definition.buffer_bytes > had && bytes > requester.bounds.bytes {
                format!(
                    "all buffers together may take {} bytes; ask for less",
                    requester.bounds.bytes
                )
            } else if end > INDICES_MAX {
                format!("all {INDICES_MAX} indices of streams were given")
            } else {
                continue;
            };
            return Some(Problem::new(one.at, &one.name, ProblemCode::Full, what));
        }
        None
    }

    /// The first stream, if their owner may not have them all.
    fn beyond_quota(
        &self,
        asked: &[StreamDeclaration],
        requester: &Requester<'_>,
    ) -> Option<Problem> {
        let (owner, [counts, sizes]) = (requester.owner()?, &requester.bounds.quotas);
        let (mut count, mut bytes) = (0, 0);
        for one in asked {
            let known = self.catalog.index_of(&one.name).and_then(|index| self.catalog.get(index));
            if known.is_some_and(|known| *known.definition == one.definition) {
                continue; // it stays whose it is
            }
            let own = known.filter(|known| known.owner.as_ref() == Some(owner));
            let had = own.map_or(0, |own| own.definition.buffer_bytes);
            count += usize::from(own.is_none());
            bytes += one.definition.buffer_bytes.saturating_sub(had);
        }
        let checked = counts.check(self.catalog.shares(), owner, count);
        let limit = checked.and_then(|()| sizes.check(self.catalog.bytes_shares(), owner, bytes));
        let (code, what) =
            ProblemCode::of_quota(limit.err()?, "streams, or bytes of their buffers")?;
        let first = asked.first()?;
        Some(Problem::new(first.at, &first.name, code, what))
    }

    /// Removes streams, all or none: they are there, and nobody else publishes them.
    pub fn remove(
        &mut self,
        session: SessionKey,
        names: &[String],
    ) -> Result<StreamsChange, Vec<Problem>> {
        let (mut indices, mut problems) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            match self.removable(session, name) {
                Ok(index) => indices.push(index),
                Err((code, text)) => problems.push(Problem::new(at, name, code, text)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        indices.sort_unstable();
        indices.dedup();
        let mut change = StreamsChange::default();
        for index in indices {
            if let Some(gone) = self.take_out(index) {
                change.removed.push((index, gone.name.to_string()));
            }
        }
        self.revise(&change);
        Ok(change)
    }

    fn removable(
        &self,
        session: SessionKey,
        name: &str,
    ) -> Result<StreamIndex, (ProblemCode, &'static str)> {
        let index =
            self.catalog.index_of(name).ok_or((ProblemCode::Unknown, "no stream has this name"))?;
        match self.publishers.others(session, index) {
            0 => Ok(index),
            _ => Err((
                ProblemCode::Published,
                "another client publishes it; it can go when that has gone",
            )),
        }
    }
}

impl StreamDeclaration {
    /// A stream to declare, and its position in the request.
    pub fn new(at: usize, name: impl Into<String>, definition: Definition) -> Self {
        Self { at, name: name.into(), definition }
    }
}
