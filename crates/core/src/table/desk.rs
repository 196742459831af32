//! The desk of the table: what each request does.

use slipring_wire::frame::RangeSet;

use super::answer::{ListedParameter, RemovedCount, Selected, fields, pairs};
use super::declare::{Declared, sorted};
use super::definition::Definition;
use super::finding::Page;
use super::groups::Narrowing;
use super::registry::TableChange;
use super::request::{ListContent, TableRequest};
use super::value_table::{Table, state};
use super::{ClockReading, event_message, values};
use crate::access::Right;
use crate::desk::{
    ChangeEvent, ChangeMessages, Declaration, DeclaredEntry, Desk, DeskBounds, ENVELOPE_BYTES,
    FoundIndices, INDEX_BYTES, Problem, ProblemCode, RequestRefusal, Requester, json, page, refuse,
};
use crate::{Limit, Limits, Offset, ParameterIndex, Principal, SessionKey};

/// About the most bytes of all names and definitions.
const DEFINITIONS_BYTES_MAX: usize = 256 << 20;

const NOT_ALLOWED: &str = "you have no right to declare this name";

const IS_STREAM: &str = "a stream has this name; take another one";

fn sorted_indices(indices: impl Iterator<Item = u32>) -> RangeSet {
    sorted(indices.map(ParameterIndex::new).collect())
}

impl Desk for Table {
    type Request = TableRequest;
    type Change = TableChange;

    const CHANGES: &'static str = "$slipring/table/changes";
    const QUESTIONS: &'static [&'static str] = &["find", "list", "values"];
    const LIMITS: [Limit; 2] = [Limit::Parameters, Limit::OwnerParameters];
    const BYTES_OF: &'static str = "definitions of all parameters";

    fn bounds(limits: &Limits) -> DeskBounds {
        // Owners have no shares in the bytes of definitions.
        let quotas = [limits.parameters_quota(); 2];
        DeskBounds::of(limits, limits.parameters, DEFINITIONS_BYTES_MAX, quotas)
    }

    fn parse(name: &str, body: &[u8]) -> Result<TableRequest, RequestRefusal> {
        TableRequest::parse(name, body)
    }

    fn steps(&self, request: &TableRequest) -> usize {
        request.steps(self.registry.entries.end().get())
    }

    fn act(&mut self, request: TableRequest, requester: &Requester<'_>) -> Answered {
        requester.expect_whole(ENVELOPE_BYTES)?;
        let answer = match request {
            TableRequest::Declare(declaration) => return self.declare(declaration, requester),
            TableRequest::Remove { names, force } => return self.remove(&names, force, requester),
            TableRequest::Find { names } => self.find(&names, requester),
            TableRequest::List { filter, from, count, removed } => {
                let Page { entries, next } = self.registry.page(&filter, from, removed);
                let seen =
                    entries.filter(|(_, entry, _)| requester.may(Right::Select, &entry.name));
                let listed = seen.map(|(index, entry, exists)| {
                    (index, ListedParameter::of(index, entry, !exists))
                });
                let (rows, first_left) = requester.rows(count, listed)?;
                Ok(page(&fields(&self.registry), first_left.or(next), "parameters", &rows))
            }
            TableRequest::Select(content) => self.select(&content, requester),
            TableRequest::Values(question) => {
                values::show(&self.registry, &self.current, &question, requester)
            }
        };
        answer.map(|answer| (answer, TableChange::default()))
    }

    fn record(&self, change: &TableChange, kept: Option<SessionKey>, out: &mut Vec<u8>) {
        if !change.is_empty() {
            self.registry.record(change, out);
        }
        if let Some(session) = kept {
            change.record_entered(session, out);
        }
    }

    fn journaled(&mut self, records: &[u8], offset: Offset, receive_ns: i64) {
        self.registry.journaled(records, offset, receive_ns);
    }

    fn changed(&mut self, change: &TableChange, at: ClockReading) -> Option<ChangeMessages> {
        if change.is_empty() {
            return None;
        }
        let TableChange { added, changed, revived, removed, .. } = change;
        let added = &added.union(revived);
        for set in [added, changed, removed] {
            self.current.define(set, &self.registry.entries);
            self.alarms.define(set, &self.registry.entries, at.now_ns);
        }
        let Self { registry, current, groups, readers, .. } = self;
        if !added.is_empty() || !removed.is_empty() {
            let tree = registry.tree_of(added);
            let mut choose = |filter: &str, before: &RangeSet, rights: Narrowing<'_>| {
                let (mut chosen, mut new) = (before.clone(), Vec::new());
                tree.matching(filter, &mut |index| new.push(*index));
                let mut new = sorted(new);
                if let Some((rights, action)) = rights {
                    registry.narrow(&mut new, rights, action);
                }
                chosen.add(&new);
                chosen.take_away(removed);
                chosen
            };
            groups.table_changed(&mut choose, &state(registry, current, at));
            readers.table_changed(&mut choose);
        }
        let events = [
            (ChangeEvent::Added, added),
            (ChangeEvent::Changed, changed),
            (ChangeEvent::Removed, removed),
        ];
        let events = events.into_iter().filter(|(_, set)| !set.is_empty());
        Some(events.map(|(event, set)| event_message(registry, event, set, None)).collect())
    }

    const SEEING: Right = Right::Select;

    fn narrowed(&self, message: &[u8], may_see: &dyn Fn(&str) -> bool) -> Option<Vec<u8>> {
        let mut told: serde_json::Value = serde_json::from_slice(message).ok()?;
        let ranges: Vec<(u32, u32)> = serde_json::from_value(told["ranges"].take()).ok()?;
        let all: RangeSet = ranges.into_iter().map(|(first, count)| first..first + count).collect();
        let is_seen = |index: &u32| {
            let entry = self.registry.entries.known(ParameterIndex::new(*index));
            entry.is_some_and(|entry| may_see(&entry.name))
        };
        let seen: RangeSet = all.indices().filter(is_seen).collect();
        told["ranges"] = serde_json::json!(pairs(&seen));
        (!seen.is_empty()).then(|| json(&told))
    }

    fn take_reached(&mut self) -> (Limit, u64) {
        (Limit::SelectionBytes, self.groups.take_uncompared())
    }

    fn restore(&mut self, session: SessionKey, client_id: &str, declared: &RangeSet) {
        self.registry.restore_publisher(session, client_id, declared);
    }

    /// Parameters that only this session published become stale, many in portions (see [`Self::check_silent`]).
    fn leave(&mut self, session: SessionKey, is_kept: bool, at: ClockReading) -> ChangeMessages {
        self.groups.leave_all(session);
        self.orphaned.add(&self.registry.publishers.leave(session, is_kept));
        self.orphans_go_stale(at)
    }

    fn end(&mut self, session: SessionKey) {
        self.lists.release_all(session);
        self.registry.publishers.end(session);
    }
}

type Answered = Result<(Vec<u8>, TableChange), RequestRefusal>;

impl Table {
    fn declare(
        &mut self,
        declaration: Declaration<Definition>,
        requester: &Requester<'_>,
    ) -> Answered {
        let Requester { from: Principal { session, client_id, .. }, bounds, .. } = requester;
        let Declaration { entries: asked, mut problems } = declaration;
        // Before anything else is looked at: what exists is told only to who may declare it.
        let denied = asked.iter().filter(|one| !requester.may(Right::Declare, &one.name));
        let denied = denied.map(|one| one.problem(ProblemCode::NotAllowed, NOT_ALLOWED));
        refuse(denied.collect())?;
        requester.expect_whole(ENVELOPE_BYTES + INDEX_BYTES * asked.len())?;
        let streams = asked.iter().filter(|one| (requester.is_taken)(&one.name));
        problems.extend(streams.map(|one| one.problem(ProblemCode::Clash, IS_STREAM)));
        problems.extend(self.beyond_quota(&asked, requester));
        let declared = self.registry.declare(*session, client_id, &asked, bounds, problems);
        let Declared { indices, change } = declared.map_err(RequestRefusal::of)?;
        if let Some(owner) = requester.owner() {
            self.registry.own(&change.added.union(&change.revived), owner);
        }
        if !requester.sees_all() {
            let named = indices.iter().map(|index| index.get()).zip(&asked);
            let publishing = requester.from.way.publishing();
            let muted = named.filter(|(_, one)| !requester.may(publishing, &one.name));
            let muted = sorted_indices(muted.map(|(index, _)| index));
            let judged = sorted_indices(indices.iter().map(|index| index.get()));
            self.registry.publishers.mute(*session, &judged, &muted);
        }
        Ok((json(&self.indices(indices)), change))
    }

    /// An answer with indices.
    fn indices<T>(&self, indices: Vec<T>) -> FoundIndices<T> {
        let entries = &self.registry.entries;
        FoundIndices { table: Some(entries.id()), revision: entries.revision(), indices }
    }

    /// The first new parameter, if its owner has no quota left for all of them.
    fn beyond_quota(
        &self,
        asked: &[DeclaredEntry<Definition>],
        requester: &Requester<'_>,
    ) -> Option<Problem> {
        let (owner, [quota, _]) = (requester.owner()?, &requester.bounds.quotas);
        let mut new =
            asked.iter().filter(|one| self.registry.entries.index_of(&one.name).is_none());
        let first = new.next()?;
        let shares = self.registry.entries.shares();
        let limit = quota.check(shares, owner, 1 + new.count()).err()?;
        let (code, what) = ProblemCode::of_quota(limit, "parameters")?;
        Some(first.problem(code, what))
    }

    fn find(&self, names: &[String], requester: &Requester<'_>) -> Result<Vec<u8>, RequestRefusal> {
        let (indices, errors) = self.registry.look_up(names, requester, Right::Select);
        requester.with_errors(&self.indices(indices), &errors)
    }

    fn remove(&mut self, names: &[String], force: bool, requester: &Requester<'_>) -> Answered {
        let denied = names.iter().enumerate();
        let denied = denied.filter(|(_, name)| !requester.may(Right::Declare, name));
        let denied =
            denied.map(|(at, name)| Problem::new(at, name, ProblemCode::NotAllowed, NOT_ALLOWED));
        refuse(denied.collect())?;
        let (change, errors) = self.registry.remove(requester.from.session, names, force);
        let (removed, revision) = (change.removed.len(), self.registry.entries.revision());
        let removed = RemovedCount { removed, revision };
        requester.with_errors(&removed, &errors).map(|answer| (answer, change))
    }

    fn select(
        &mut self,
        content: &ListContent,
        requester: &Requester<'_>,
    ) -> Result<Vec<u8>, RequestRefusal> {
        let (set, indices, errors) = match content {
            ListContent::Names(names) => {
                let (indices, errors) = self.registry.look_up(names, requester, Right::Select);
                (sorted(indices.iter().flatten().copied().collect()), Some(indices), errors)
            }
            ListContent::Filters(filters) => (self.seen_by(filters, requester)?, None, Vec::new()),
        };
        let (table, revision) = (self.registry.entries.id(), self.registry.entries.revision());
        let size =
            INDEX_BYTES * indices.as_ref().map_or(0, Vec::len) + 2 * INDEX_BYTES * set.ranges();
        requester.expect_whole(ENVELOPE_BYTES + size)?;
        let ranges = pairs(&set);
        let list = self.lists.put(table, set);
        let selection =
            list.map_err(|full| RequestRefusal::new(ProblemCode::Full, full.to_string()))?;
        let chosen =
            Selected { table, revision, selection: selection.to_string(), indices, ranges };
        requester.with_errors(&chosen, &errors)
    }
}

impl Table {
    /// The parameters that any of these filters matches, and that the requester may see.
    fn seen_by(
        &self,
        filters: &[String],
        requester: &Requester<'_>,
    ) -> Result<RangeSet, RequestRefusal> {
        let matching = |filters| self.registry.matching_any(filters).ok_or_else(too_wide);
        if requester.sees_all() {
            return matching(filters.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let (mut seen, others) = self.registry.known_to(filters, requester, Right::Select);
        let may = |index: &u32| {
            let entry = self.registry.entries.get(ParameterIndex::new(*index));
            entry.is_some_and(|entry| requester.may(Right::Select, &entry.name))
        };
        seen.add(&matching(others)?.indices().filter(may).collect());
        Ok(seen)
    }
}

fn too_wide() -> RequestRefusal {
    let text = "so many filters with wildcards take too long to look for: ask for fewer at once";
    RequestRefusal::new(ProblemCode::TooLarge, text)
}
