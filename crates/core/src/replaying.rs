//! How a client says in CONNECT that it plays a recording again.

use slipring_wire::{Properties, PropertyId, Value};

/// The user property by which a client says it, with the value `1`.
pub const REPLAY_PROPERTY: &str = "slipring-replay";

/// Whether a CONNECT with these properties says it. Once is enough.
pub(crate) fn asks_to_replay(properties: Properties<'_>) -> bool {
    let asked = (PropertyId::UserProperty, Value::Pair(REPLAY_PROPERTY, "1"));
    properties.iter().any(|one| one == asked)
}
