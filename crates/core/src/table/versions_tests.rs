//! The versions of definitions: what each change adds, and the bounds.

use super::*;

const A: ParameterIndex = ParameterIndex::new(3);
const B: ParameterIndex = ParameterIndex::new(4);

fn definition(description: &str) -> Arc<Definition> {
    let mut definition = Definition::from_json(r#"{"type": "f64", "unit": "K"}"#).unwrap();
    definition.description = Some(description.to_owned());
    Arc::new(definition)
}

/// A table with two parameters.
fn table() -> Entries {
    let mut table = Entries::new(1);
    table.put(A, "a", definition("first")).unwrap();
    table.put(B, "b", definition("first")).unwrap();
    for index in [A, B] {
        table.declared_at(index, Offset::new(10), 100);
    }
    table
}

fn declare(table: &mut Entries, index: ParameterIndex, description: &str, offset: u64) {
    let name = Arc::clone(&table.known(index).unwrap().name);
    table.put(index, &name, definition(description)).unwrap();
    table.declared_at(index, Offset::new(offset), 10 * i64::try_from(offset).unwrap());
}

fn remove(table: &mut Entries, index: ParameterIndex, offset: u64) {
    table.remove(index);
    table.versions.removed(index, Offset::new(offset));
}

/// The descriptions of a parameter, and where they held.
fn of(table: &Entries, index: ParameterIndex) -> Vec<(u64, Option<u64>, String)> {
    let all = table.versions_from(Default::default(), usize::MAX);
    let own = all.into_iter().filter(|one| one.index == index);
    own.map(|one| {
        let DefinitionVersion { since, until, definition, .. } = one.version;
        (since.get(), until.map(Offset::get), definition.description.clone().unwrap())
    })
    .collect()
}

fn version(since: u64, until: Option<u64>, description: &str) -> (u64, Option<u64>, String) {
    (since, until, description.to_owned())
}

#[test]
fn each_declaration_that_changes_something_is_a_version() {
    let mut table = table();
    declare(&mut table, A, "second", 20);
    declare(&mut table, A, "second", 30);
    declare(&mut table, A, "first", 40);
    let expected = [
        version(10, Some(20), "first"),
        version(20, Some(40), "second"),
        version(40, None, "first"),
    ];
    assert_eq!(of(&table, A), expected);
    assert_eq!(of(&table, B), [version(10, None, "first")]);
}

#[test]
fn a_parameter_that_was_removed_and_came_back_has_a_gap() {
    let mut table = table();
    remove(&mut table, A, 20);
    assert_eq!(of(&table, A), [version(10, Some(20), "first")]);
    declare(&mut table, A, "first", 30);
    assert_eq!(of(&table, A), [version(10, Some(20), "first"), version(30, None, "first")]);
    remove(&mut table, B, 20);
    declare(&mut table, B, "first", 20);
    assert_eq!(of(&table, B), [version(10, None, "first")], "no message was in the gap");
}

#[test]
fn a_definition_that_held_for_no_message_is_not_kept() {
    let mut table = table();
    for number in 0..100 {
        declare(&mut table, A, &number.to_string(), 20);
    }
    assert_eq!(of(&table, A), [version(10, Some(20), "first"), version(20, None, "99")]);
}

#[test]
fn a_parameter_keeps_its_newest_versions_however_often_it_is_declared() {
    let mut table = table();
    for number in 0..100_000 {
        declare(&mut table, A, &number.to_string(), 20 + number);
    }
    let kept = of(&table, A);
    assert_eq!(kept.len(), VERSIONS_MAX);
    assert_eq!(kept[0], version(99_988, Some(99_989), "99968"), "its own start");
    assert_eq!(kept[31], version(100_019, None, "99999"));
    assert_eq!(of(&table, B).len(), 1);
    assert_eq!((table.versions.order.len(), table.versions.superseded.len()), (31, 31));
}

#[test]
fn of_all_parameters_the_versions_superseded_first_are_forgotten_first() {
    let mut table = Entries::new(1);
    let indices = (0..SUPERSEDED_MAX as u32 / 2 + 10).map(ParameterIndex::new);
    for round in 0..3 {
        for index in indices.clone() {
            table.put(index, &index.to_string(), definition(&round.to_string())).unwrap();
            table.declared_at(index, Offset::new(round), 0);
        }
    }
    assert_eq!(table.versions.superseded.len(), SUPERSEDED_MAX);
    assert_eq!(of(&table, ParameterIndex::new(0))[0], version(1, Some(2), "1"));
    assert_eq!(of(&table, ParameterIndex::new(20))[0], version(0, Some(1), "0"));
}

#[test]
fn superseded_versions_of_many_bytes_are_forgotten_sooner() {
    let mut table = table();
    let long = "d".repeat(1 << 20);
    for index in (10..40).map(ParameterIndex::new) {
        table.put(index, &index.to_string(), definition("")).unwrap();
        for round in 0..4 {
            declare(&mut table, index, &format!("{long}{round}"), 10 + round);
        }
    }
    assert!(table.versions.superseded_bytes <= SUPERSEDED_BYTES_MAX);
    assert_eq!(table.versions.superseded.len(), 63);
    assert_eq!(of(&table, ParameterIndex::new(10)).len(), 1);
    assert_eq!(of(&table, ParameterIndex::new(39)).len(), 4);
}

#[test]
fn a_forgotten_parameter_has_no_versions() {
    let mut table = table();
    declare(&mut table, A, "second", 20);
    table.versions.forget(A);
    assert_eq!(of(&table, A), []);
    assert_eq!((table.versions.order.len(), table.versions.superseded_bytes), (0, 0));
}

#[test]
fn versions_are_listed_in_parts() {
    let mut table = table();
    declare(&mut table, A, "second", 20);
    declare(&mut table, A, "third", 30);
    let whole = table.versions_from(Default::default(), usize::MAX);
    let (mut parts, mut from) = (Vec::new(), Default::default());
    while let Some(next) = {
        let mut part = table.versions_from(from, 2);
        let next = part.get(1).cloned();
        part.truncate(1);
        parts.append(&mut part);
        next
    } {
        from = (next.index, next.version.since);
    }
    assert_eq!(parts, whole);
    assert_eq!(whole.len(), 4);
}

#[test]
fn a_version_as_json_has_its_parameter_its_definition_and_where_it_held() {
    let mut table = table();
    table.begin(1, 7, ParameterIndex::new(0)).unwrap();
    table.versions.revision = 7;
    remove(&mut table, B, 20);
    let flaws = ["a \"flaw\"".to_owned()];
    let expected = "{\"table\":1,\"revision\":7,\"epoch\":9,\"versions\":[\
        {\"index\":3,\"name\":\"a\",\"type\":\"f64\",\"unit\":\"K\",\"description\":\"first\",\
        \"since\":10,\"since_ns\":100,\"until\":null},\
        {\"index\":4,\"name\":\"b\",\"type\":\"f64\",\"unit\":\"K\",\"description\":\"first\",\
        \"since\":10,\"since_ns\":100,\"until\":20}],\"flaws\":[\"a \\\"flaw\\\"\"]}";
    let rows = table.versions_rows();
    assert_eq!(definitions_json(table.versions_of(), 9, &rows, &flaws), expected);
}
