//! The parameters of a table by index and name, at their bounds.

use super::*;
use crate::ParameterIndex;

fn definition() -> Arc<Definition> {
    Arc::new(Definition::from_json(r#"{"type": "u8"}"#).unwrap())
}

#[test]
fn the_parameters_that_were_removed_first_are_forgotten_first() {
    let (mut table, definition) = (Entries::new(1), definition());
    for index in 0..65_538 {
        table
            .put(ParameterIndex::new(index), &format!("n{index}"), Arc::clone(&definition))
            .unwrap();
    }
    assert!(
        table.remove(ParameterIndex::new(1))
            && table.remove(ParameterIndex::new(0))
            && !table.remove(ParameterIndex::new(0))
    );
    for index in 2..65_538 {
        table.remove(ParameterIndex::new(index));
    }
    assert!(
        table.known(ParameterIndex::new(0)).is_none()
            && table.known(ParameterIndex::new(1)).is_none()
            && table.known(ParameterIndex::new(2)).is_some()
    );
    assert_eq!(
        (table.known_index("n0"), table.known_index("n2")),
        (None, Some(ParameterIndex::new(2)))
    );
    assert_eq!((table.len(), table.end().get(), table.bytes()), (0, 65_538, 0));
    assert_eq!(table.removed().count(), 65_536);
}

#[test]
fn removed_parameters_of_many_bytes_are_forgotten_sooner() {
    let mut table = Entries::new(1);
    let mut long = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
    long.description = Some("d".repeat(1 << 20));
    let long = Arc::new(long);
    for index in 0..70 {
        table.put(ParameterIndex::new(index), &format!("n{index}"), Arc::clone(&long)).unwrap();
        table.remove(ParameterIndex::new(index));
    }
    assert_eq!(table.removed().count(), 63);
    assert!(table.known(ParameterIndex::new(69)).is_some());
}

#[test]
fn an_index_beyond_the_last_is_refused() {
    let mut table = Entries::new(1);
    assert!(table.put(ParameterIndex::new(INDICES_MAX), "a", definition()).is_err());
    assert!(table.begin(1, 0, ParameterIndex::new(INDICES_MAX + 1)).is_err());
    assert!(table.begin(0, 0, ParameterIndex::new(0)).is_err());
    assert!(table.put(ParameterIndex::new(INDICES_MAX - 1), "a", definition()).is_ok());
}

#[test]
fn an_index_keeps_its_name_and_its_type() {
    let mut table = Entries::new(1);
    table.put(ParameterIndex::new(0), "a", definition()).unwrap();
    table.remove(ParameterIndex::new(0));
    assert!(table.put(ParameterIndex::new(0), "b", definition()).is_err());
    let other = Arc::new(Definition::from_json(r#"{"type": "u16"}"#).unwrap());
    assert!(table.put(ParameterIndex::new(0), "a", other).is_err());
    assert!(table.put(ParameterIndex::new(0), "a", definition()).is_ok());
}

#[test]
fn a_table_with_another_number_starts_empty() {
    let mut table = Entries::new(1);
    table.put(ParameterIndex::new(4), "a", definition()).unwrap();
    table.begin(1, 9, ParameterIndex::new(2)).unwrap();
    assert_eq!((table.revision(), table.end().get(), table.len()), (9, 5, 1));
    table.begin(2, 3, ParameterIndex::new(0)).unwrap();
    assert_eq!((table.id(), table.revision(), table.end().get(), table.len()), (2, 3, 0, 0));
}

#[test]
fn a_parameter_counts_for_its_owner_while_it_exists() {
    let mut table = Entries::new(1);
    let [anna, berta] = ["user:anna", "user:berta"].map(Owner::named);
    for (index, name) in ["a", "b"].iter().enumerate() {
        table.put(ParameterIndex::new(index as u32), name, definition()).unwrap();
        table.own(ParameterIndex::new(index as u32), Some(&anna));
    }
    assert_eq!(table.shares().held(&anna), 2);
    let mut described = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
    described.description = Some("described anew".into());
    table.put(ParameterIndex::new(0), "a", Arc::new(described)).unwrap();
    assert_eq!((table.shares().held(&anna), table.owner(ParameterIndex::new(0))), (2, Some(&anna)));
    table.own(ParameterIndex::new(0), Some(&berta));
    assert_eq!((table.shares().held(&anna), table.shares().held(&berta)), (1, 1));
    table.remove(ParameterIndex::new(0));
    assert_eq!((table.shares().held(&berta), table.owner(ParameterIndex::new(0))), (0, None));
    table.own(ParameterIndex::new(0), Some(&berta));
    assert_eq!(table.shares().total(), 1, "what is gone is nobody's");
    table.put(ParameterIndex::new(5), "b", definition()).unwrap();
    assert_eq!(
        (table.shares().total(), table.owner(ParameterIndex::new(5))),
        (0, None),
        "another index of its name"
    );
}
