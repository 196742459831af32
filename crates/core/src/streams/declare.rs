//! Declaring and removing streams: all that a request names, or none and every reason why.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::definition::StreamDefinition;
use super::state::{Streams, one};
use crate::desk::{
    DeclaredEntry, DeskSize, EntryGrowth, Problem, ProblemCode, Requester, entry_problems,
    lack_of_room,
};
use crate::{SessionKey, StreamIndex};

/// What a request changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsChange {
    /// New streams.
    pub added: RangeSet,
    /// Streams with another description, buffer or media type.
    pub changed: RangeSet,
    /// Removed streams with their names, ascending.
    pub removed: Vec<(StreamIndex, Arc<str>)>,
    /// Streams that were silent and have a publisher again.
    pub live: RangeSet,
    /// Streams that the session publishes from now on, and did not before. This alone does not change the streams.
    pub entered: RangeSet,
}

impl StreamsChange {
    /// Whether the journal records it.
    pub fn is_recorded(&self) -> bool {
        !(self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty())
    }

    /// Whether the streams have not changed.
    pub fn is_empty(&self) -> bool {
        !self.is_recorded() && self.live.is_empty()
    }
}

type StreamDeclaration = DeclaredEntry<StreamDefinition>;

impl Streams {
    /// Makes a session a publisher of these streams, and adds those that do not exist yet. Returns the index of each;
    /// the error has every problem.
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
        self.revise(&change);
        Ok((indices, change))
    }

    fn declare_one(
        &mut self,
        asked: &StreamDeclaration,
        requester: &Requester<'_>,
        change: &mut StreamsChange,
    ) -> StreamIndex {
        let (session, known) = (requester.from.session, self.catalog.index_of(&asked.name));
        let index = known.unwrap_or_else(|| self.catalog.end());
        let before = self.catalog.get(index).map(|entry| Arc::clone(&entry.definition));
        let has_other_media =
            before.as_ref().is_some_and(|before| before.media != asked.definition.media);
        if has_other_media {
            self.publishers.forget_silent(index);
        }
        if has_other_media || self.publishers.is_live(session, index).is_none() {
            change.entered.extend([index.get()]);
        }
        if before.as_deref() != Some(&asked.definition) {
            self.catalog
                .put(index, &asked.name, asked.definition.clone())
                .expect("its index was checked");
            if requester.owner().is_some() {
                self.catalog.own(index, requester.owner());
            }
            let set = if known.is_some() { &mut change.changed } else { &mut change.added };
            set.extend([index.get()]);
            self.take_in(index);
        }
        let entered = self.publishers.enter(session, "", &one(index));
        if known.is_some() {
            change.live.add(&entered.first);
        }
        index
    }

    fn problems(&self, asked: &[StreamDeclaration], requester: &Requester<'_>) -> Vec<Problem> {
        let mut problems = entry_problems(asked, &requester.bounds, StreamDefinition::check);
        problems.extend(asked.iter().filter_map(|one| self.clash(one, requester)));
        if problems.is_empty() {
            problems.extend(self.lack_of_room(asked, requester));
            problems.extend(self.beyond_quota(asked, requester));
        }
        if let (true, Some(first), false) =
            (problems.is_empty(), asked.first(), self.publishers.has_room_for(asked.len()))
        {
            let text = "all clients together have declared as many streams as they may";
            problems.push(first.problem(ProblemCode::Full, text));
        }
        problems
    }

    fn clash(&self, asked: &StreamDeclaration, requester: &Requester<'_>) -> Option<Problem> {
        if (requester.is_taken)(&asked.name) {
            let text = "a parameter has this name; take another one";
            return Some(asked.problem(ProblemCode::Clash, text));
        }
        let index = self.catalog.index_of(&asked.name)?;
        let media = &self.catalog.get(index)?.definition.media;
        let others = self.publishers.others(requester.from.session, index);
        (others > 0 && *media != asked.definition.media).then(|| {
            let text = format!("another client publishes it as {media}; take another name");
            asked.problem(ProblemCode::Clash, text)
        })
    }

    fn lack_of_room(
        &self,
        asked: &[StreamDeclaration],
        requester: &Requester<'_>,
    ) -> Option<Problem> {
        let Self { catalog, .. } = self;
        let size = DeskSize {
            entries: catalog.len(),
            bytes: catalog.buffer_bytes(),
            end: catalog.end().get(),
        };
        let growth = |one: &StreamDeclaration| {
            let known = catalog.named(&one.name);
            let is_added = known.is_none();
            let had = known.map_or(0, |known| known.definition.buffer_bytes);
            let needs = one.definition.buffer_bytes;
            EntryGrowth { is_added, takes_index: is_added, had, needs }
        };
        let growths = asked.iter().map(|one| (one, growth(one)));
        lack_of_room::<Self, _>(size, &requester.bounds, growths)
    }

    /// The first stream, if their owner has no quota left for all of them.
    fn beyond_quota(
        &self,
        asked: &[StreamDeclaration],
        requester: &Requester<'_>,
    ) -> Option<Problem> {
        let (owner, [counts, sizes]) = (requester.owner()?, &requester.bounds.quotas);
        let (mut count, mut bytes) = (0, 0);
        for one in asked {
            let known = self.catalog.named(&one.name);
            if known.is_some_and(|known| *known.definition == one.definition) {
                continue; // it keeps its owner
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
        Some(asked.first()?.problem(code, what))
    }

    /// Removes streams, if all of them exist and no other client publishes one; else the error has every problem.
    pub fn remove(
        &mut self,
        session: SessionKey,
        names: &[String],
    ) -> Result<StreamsChange, Vec<Problem>> {
        let (mut indices, mut problems) = (RangeSet::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            match self.removable(session, name) {
                Ok(index) => indices.extend([index.get()]),
                Err((code, text)) => problems.push(Problem::new(at, name, code, text)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut change = StreamsChange::default();
        for index in indices.indices().map(StreamIndex::new) {
            let gone = self.take_out(index);
            change.removed.extend(gone.map(|gone| (index, gone.name)));
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
                "another client publishes it; remove it after that client has disconnected",
            )),
        }
    }
}
