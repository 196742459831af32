//! The laws of the table, for any history of clients that declare, remove and leave, and of a broker that restarts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use proptest::prelude::*;
use slipring_core::desk::{DeclaredEntry, Desk, DeskBounds};
use slipring_core::ledger::{BatchHead, Ledger, SessionRecord};
use slipring_core::table::{
    AlarmLimits, Definition, Labels, ParameterKind, Registry, Table, TableChange,
};
use slipring_core::{Limits, Offset, ParameterIndex, SessionKey};
use slipring_wire::frame::{Kind, RangeSet};
use slipring_wire::matches;

#[derive(Clone, Debug)]
enum Step {
    Declare(u64, Vec<(String, Definition)>),
    Remove(u64, Vec<String>, bool),
    Leave(u64, bool),
    ComeBack(u64),
    Forget(u64),
    Snapshot,
    Restart,
}

fn entries(asked: &[(String, Definition)]) -> Vec<DeclaredEntry<Definition>> {
    let numbered = (0..).zip(asked);
    numbered.map(|(at, (name, is))| DeclaredEntry::new(at, name, is.clone())).collect()
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop::option::of("[ -~äπ]{1,20}")
}

fn labels() -> impl Strategy<Value = ParameterKind> {
    let number = prop_oneof![0u32..300, any::<u32>()];
    prop::collection::btree_map(number, ".{1,6}", 1..6).prop_filter_map("labels differ", |labels| {
        Labels::new(labels).ok().map(ParameterKind::Enum)
    })
}

/// Any valid definition.
fn definition() -> impl Strategy<Value = Definition> {
    let number = || prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    let kind = prop_oneof![
        prop::sample::select(&Kind::ALL[..11]).prop_map(ParameterKind::Plain),
        labels(),
    ];
    let range = prop::option::of((number(), number()).prop_map(|(a, b)| (a.min(b), a.max(b))));
    let limits = prop::option::of(prop::array::uniform4(prop::option::of(number())));
    let rate_hz = prop::option::of(1e-9..=1e6f64);
    (kind, text(), text(), range, limits, rate_hz, text()).prop_map(
        |(kind, unit, description, range, limits, rate_hz, source)| {
            let limits = limits.map(|mut limits| {
                let mut sorted: Vec<f64> = limits.iter().flatten().copied().collect();
                sorted.sort_by(f64::total_cmp);
                let mut sorted = sorted.into_iter();
                limits.iter_mut().flatten().for_each(|limit| *limit = sorted.next().unwrap());
                let [low_critical, low, high, high_critical] = limits;
                AlarmLimits { low_critical, low, high, high_critical }
            });
            Definition { kind, unit, description, range, limits, rate_hz, source }
        },
    )
}

/// One of a few definitions, so that equal ones occur often.
fn few() -> impl Strategy<Value = Definition> {
    let kind = prop::sample::select(vec![Kind::Bool, Kind::U8, Kind::F64]);
    (kind, any::<bool>(), any::<bool>()).prop_map(|(kind, unit, described)| {
        let mut definition = Definition::new(ParameterKind::Plain(kind));
        definition.unit = unit.then(|| "m".to_owned());
        definition.description = described.then(|| "how far".to_owned());
        definition
    })
}

fn step() -> impl Strategy<Value = Step> {
    let name = || "[ab](/[ab]){0,1}";
    let asked = prop::collection::vec((name(), few()), 1..4);
    prop_oneof![
        6 => (SESSIONS, asked).prop_map(|(session, asked)| Step::Declare(session, asked)),
        2 => (SESSIONS, prop::collection::vec(name(), 1..3), any::<bool>())
            .prop_map(|(session, names, force)| Step::Remove(session, names, force)),
        2 => (SESSIONS, any::<bool>()).prop_map(|(session, kept)| Step::Leave(session, kept)),
        1 => (SESSIONS).prop_map(Step::ComeBack),
        1 => (SESSIONS).prop_map(Step::Forget),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Restart),
    ]
}

const SESSIONS: Range<u64> = 0..3;
fn bounds() -> DeskBounds {
    DeskBounds {
        entries: 5,
        bytes: 1 << 20,
        name_bytes: 100,
        name_levels: 8,
        ..Table::bounds(&Limits::default())
    }
}

/// A broker with a journal: its registry and its records.
struct World {
    registry: Registry,
    snapshot: Vec<u8>,
    /// The records since the snapshot, each at an offset of its own.
    records: Vec<(BatchHead, Vec<u8>)>,
    next_offset: u64,
    /// The name and the definition of each index that was ever given.
    known: HashMap<ParameterIndex, (String, Definition)>,
}

impl World {
    fn new() -> Self {
        let registry = Registry::new(9);
        let mut records = Vec::new();
        registry.record(&TableChange::default(), &mut records);
        let (snapshot, known) = (Vec::new(), HashMap::new());
        let mut world = Self { registry, snapshot, records: Vec::new(), next_offset: 0, known };
        world.append(records);
        SESSIONS.for_each(|session| world.begin(session));
        world
    }

    fn note(&mut self, session: u64, change: &TableChange) {
        let mut records = Vec::new();
        if !change.is_empty() {
            self.registry.record(change, &mut records);
        }
        change.record_entered(SessionKey::new(session), &mut records);
        self.append(records);
    }

    /// Begins a session; an earlier one with this number has ended.
    fn begin(&mut self, session: u64) {
        let (client_id, mut records) = (session.to_string(), Vec::new());
        let (client_id, user, expiry_s, will) = (&*client_id, None, 60, None);
        SessionRecord::Opened {
            session: SessionKey::new(session),
            client_id,
            user,
            expiry_s,
            will,
        }
        .encode(&mut records);
        self.append(records);
    }

    /// Appends records to the journal, which has a message between any two of them, or none.
    fn append(&mut self, records: Vec<u8>) {
        self.next_offset += u64::from(records.len() % 3 > 0);
        let base_offset = Offset::new(self.next_offset);
        let receive_ns = 10 * i64::try_from(self.next_offset).unwrap();
        self.registry.journaled(&records, base_offset, receive_ns);
        self.records.push((BatchHead { base_offset, messages: 0, receive_ns }, records));
    }

    /// A client leaves, perhaps with its session. Returns the parameters without a publisher.
    fn leave(&mut self, session: u64, is_kept: bool) -> RangeSet {
        if !is_kept {
            self.begin(session);
        }
        self.registry.publishers.leave(SessionKey::new(session), is_kept)
    }

    /// Restarts the broker from its journal: every client is away.
    fn restart(&mut self) {
        let before = all(&self.registry);
        let ledger = self.ledger();
        self.registry = Registry::restore(ledger.table().unwrap().clone());
        for (session, kept) in ledger.sessions() {
            self.registry.restore_publisher(session, &kept.client_id, &kept.parameters);
        }
        assert_eq!(all(&self.registry), before);
    }

    fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::restore(&self.snapshot).unwrap();
        for (head, records) in &self.records {
            ledger.apply(*head, records).unwrap();
        }
        ledger
    }

    /// False if the step was refused.
    fn play(&mut self, step: &Step) -> bool {
        match step {
            Step::Declare(session, asked) => {
                let (key, entries) = (SessionKey::new(*session), entries(asked));
                let declared = self.registry.declare(key, "c", &entries, &bounds(), Vec::new());
                let Ok(declared) = declared else { return false };
                let found: Vec<_> = asked
                    .iter()
                    .filter_map(|(name, _)| self.registry.entries().index_of(name))
                    .collect();
                assert_eq!(found, declared.indices);
                self.note(*session, &declared.change);
            }
            Step::Remove(session, names, force) => {
                let (change, _) = self.registry.remove(SessionKey::new(*session), names, *force);
                self.note(*session, &change);
            }
            Step::Leave(session, is_kept) => drop(self.leave(*session, *is_kept)),
            Step::ComeBack(session) => {
                self.registry.publishers.come_back(SessionKey::new(*session));
            }
            Step::Forget(session) => {
                self.registry.publishers.end(SessionKey::new(*session));
                if self.registry.publishers.of(SessionKey::new(*session)).is_none() {
                    self.begin(*session);
                }
            }
            Step::Snapshot => {
                let ledger = self.ledger();
                self.snapshot.clear();
                ledger.snapshot(&mut self.snapshot);
                self.records.clear();
            }
            Step::Restart => self.restart(),
        }
        true
    }

    /// An index means one name and one type, for ever.
    fn check(&mut self) {
        for (index, entry) in self.registry.entries().iter_from(ParameterIndex::new(0)) {
            let (name, definition) = (entry.name.to_string(), Definition::clone(&entry.definition));
            let (known, same) = self.known.entry(index).or_insert((name, definition));
            assert!(**known == *entry.name && same.is_same(&entry.definition), "{index}");
            assert!(index < self.registry.entries().end());
            assert_eq!(self.registry.entries().index_of(known), Some(index));
        }
        assert!(self.registry.entries().len() <= bounds().entries);
    }
}

/// Everything that a registry knows of its parameters, and who declared them.
fn all(registry: &Registry) -> impl PartialEq + std::fmt::Debug + use<> {
    let entries = registry.entries();
    let there: Vec<_> = entries
        .iter_from(ParameterIndex::new(0))
        .map(|(index, entry)| (index, entry.clone()))
        .collect();
    let removed: Vec<_> = entries.removed().map(|(index, entry)| (index, entry.clone())).collect();
    let publishers: Vec<_> =
        SESSIONS.map(|one| registry.publishers.of(SessionKey::new(one))).collect();
    let table = (
        entries.id(),
        entries.revision(),
        entries.end(),
        (entries.versions_of(), entries.versions_rows()),
    );
    (table, there, removed, registry.matching("#"), publishers)
}

/// A registry as plain lists: the indices, and the publishers.
#[derive(Default)]
struct Naive {
    publishes: HashMap<u64, Vec<ParameterIndex>>,
    away: HashSet<u64>,
}

impl Naive {
    fn play(&mut self, step: &Step, before: &HashMap<String, ParameterIndex>, registry: &Registry) {
        match step {
            Step::Declare(session, asked) => {
                let declared =
                    asked.iter().filter_map(|(name, _)| registry.entries().index_of(name));
                self.publishes.entry(*session).or_default().extend(declared);
                self.away.remove(session);
            }
            Step::Remove(_, names, _) => {
                let gone = names.iter().filter(|name| registry.entries().index_of(name).is_none());
                let gone: Vec<_> = gone.filter_map(|name| before.get(name).copied()).collect();
                self.publishes.values_mut().for_each(|own| own.retain(|one| !gone.contains(one)));
            }
            Step::Leave(session, true) => drop(self.away.insert(*session)),
            Step::Leave(session, false) => drop(self.publishes.remove(session)),
            Step::ComeBack(session) => drop(self.away.remove(session)),
            Step::Forget(session) if self.away.contains(session) => {
                self.publishes.remove(session);
            }
            Step::Forget(_) | Step::Snapshot => {}
            Step::Restart => self.away.extend(self.publishes.keys()),
        }
    }
}

proptest! {
    #[test]
    fn an_index_belongs_to_one_parameter_for_ever(history in prop::collection::vec(step(), 1..40)) {
        let mut world = World::new();
        for step in &history {
            world.play(step);
            world.check();
        }
        world.play(&Step::Restart);
        world.check();
    }

    #[test]
    fn a_name_declared_again_with_its_type_has_its_index(
        history in prop::collection::vec(step(), 1..40),
    ) {
        let mut world = World::new();
        let mut last: HashMap<String, (ParameterIndex, Definition)> = HashMap::new();
        for step in &history {
            world.play(step);
            for (index, entry) in world.registry.entries().iter_from(ParameterIndex::new(0)) {
                if let Some((earlier, definition)) = last.get(&*entry.name) {
                    prop_assert_eq!(*earlier == index, definition.is_same(&entry.definition));
                }
                last.insert(entry.name.to_string(), (index, Definition::clone(&entry.definition)));
            }
        }
    }

    #[test]
    fn a_refused_request_changes_nothing(history in prop::collection::vec(step(), 1..30)) {
        let mut world = World::new();
        for step in &history {
            let before = (all(&world.registry), format!("{:?}", world.registry.publishers));
            if !world.play(step) {
                let after = (all(&world.registry), format!("{:?}", world.registry.publishers));
                prop_assert!(before == after);
            }
        }
    }

    #[test]
    fn only_clients_that_declared_a_parameter_may_publish_it(history in prop::collection::vec(step(), 1..40)) {
        let (mut world, mut naive) = (World::new(), Naive::default());
        for step in &history {
            let before = world.registry.entries().iter_from(ParameterIndex::new(0));
            let before = before.map(|(index, entry)| (entry.name.to_string(), index)).collect();
            let mut had = RangeSet::new();
            let left = if let Step::Leave(session, is_kept) = step {
                if !naive.away.contains(session) {
                    had = naive.publishes.get(session).into_iter().flatten().map(|one| one.get()).collect();
                }
                Some(world.leave(*session, *is_kept))
            } else if world.play(step) {
                None
            } else {
                continue;
            };
            naive.play(step, &before, &world.registry);
            for index in 0..world.registry.entries().end().get() {
                let parameter = ParameterIndex::new(index);
                let mut publishers = 0;
                for session in SESSIONS {
                    let may = world.registry.publishers.may_publish(SessionKey::new(session), std::iter::once(index..index + 1));
                    let own = naive.publishes.get(&session).is_some_and(|own| own.contains(&parameter));
                    prop_assert_eq!(may.is_ok(), own);
                    publishers += usize::from(own && !naive.away.contains(&session));
                }
                prop_assert_eq!(world.registry.publishers.count(parameter), publishers);
                if let Some(left) = &left {
                    prop_assert_eq!(left.contains(index), had.contains(index) && publishers == 0);
                }
            }
        }
    }

    #[test]
    fn a_filter_finds_what_a_naive_matcher_finds(
        names in prop::collection::btree_set("[ab]?(/[ab]?){0,3}", 1..12),
        filters in prop::collection::vec("([ab]?|\\+)(/([ab]?|\\+)){0,3}(/#)?|#", 1..8),
    ) {
        let mut registry = Registry::new(1);
        let kind = ParameterKind::Plain(Kind::U8);
        let asked: Vec<_> = names.iter().filter(|name| !name.is_empty())
            .map(|name| (name.clone(), Definition::new(kind.clone()))).collect();
        let bounds = Table::bounds(&Limits::default());
        let session = SessionKey::new(1);
        registry.declare(session, "c", &entries(&asked), &bounds, Vec::new()).unwrap();
        for filter in filters.iter().filter(|filter| !filter.is_empty()) {
            let naive: RangeSet = registry.entries().iter_from(ParameterIndex::new(0))
                .filter(|(_, entry)| matches(filter, &entry.name)).map(|(index, _)| index.get()).collect();
            prop_assert_eq!(registry.matches_any(filter), !naive.is_empty());
            prop_assert_eq!(registry.matching(filter), naive);
        }
    }

    #[test]
    fn a_definition_is_read_from_its_json_unchanged(definition in definition()) {
        let mut problems = Vec::new();
        definition.check(&mut |code, text| problems.push((code, text)));
        prop_assert_eq!(problems, vec![]);
        let json = definition.to_json();
        prop_assert_eq!(Definition::from_json(&json), Ok(definition));
    }
}
