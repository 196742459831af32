//! How two topic filters relate: whether one covers the other, and whether they have a topic in common. Pure.

/// Whether every topic that `inner` matches is matched by `outer`, too.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    if starts_apart(outer, inner) {
        return false;
    }
    // Every topic has a first level: `+/#` matches what `#` matches.
    let outer = if outer == "+/#" { "#" } else { outer };
    let (mut outer, mut inner) = (outer.split('/'), inner.split('/'));
    loop {
        match (outer.next(), inner.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(level)) if level != "#" => {}
            (Some(one), Some(other)) if one == other => {}
            // Also for `#` in `inner`: `a/#` matches `a`, which `a/+` and `a/b` do not.
            _ => return false,
        }
    }
}

/// Whether there is a topic that both filters match.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    if starts_apart(one, other) {
        return false;
    }
    let (mut one, mut other) = (one.split('/'), other.split('/'));
    loop {
        match (one.next(), other.next()) {
            (Some("#"), _) | (_, Some("#")) | (None, None) => return true,
            (Some("+"), Some(_)) | (Some(_), Some("+")) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

/// Whether one filter is about topics that begin with `$`, and the other about those that do not (MQTT-4.7.2-1).
fn starts_apart(one: &str, other: &str) -> bool {
    one.starts_with('$') != other.starts_with('$')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slipring_wire::matches;

    use super::*;

    fn filter() -> impl Strategy<Value = String> {
        let level = prop_oneof![Just("a"), Just("b"), Just(""), Just("+")];
        (prop::collection::vec(level, 0..4), any::<bool>(), any::<bool>()).prop_map(
            |(mut levels, own, all)| {
                if own {
                    levels.insert(0, "$x");
                }
                // A filter has at least one character.
                if all || levels.join("/").is_empty() {
                    levels.push("#");
                }
                levels.join("/")
            },
        )
    }

    /// Every topic of up to five levels; `z` stands for all names that no filter has. The empty one is among them: no
    /// client can publish to it, but it is all that `/#` and `+` have in common.
    fn topics() -> Vec<String> {
        let mut topics: Vec<String> =
            ["a", "b", "", "z", "$x", "$z"].into_iter().map(String::from).collect();
        let mut longest = topics.clone();
        for _ in 0..4 {
            longest = longest
                .iter()
                .flat_map(|topic| ["a", "b", "", "z"].map(|level| format!("{topic}/{level}")))
                .collect();
            topics.extend_from_slice(&longest);
        }
        topics
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn they_equal_a_look_at_every_topic(one in filter(), other in filter()) {
            let topics = topics();
            let both = topics.iter().any(|topic| matches(&one, topic) && matches(&other, topic));
            prop_assert_eq!(overlap(&one, &other), both);
            let all = topics.iter().all(|topic| !matches(&other, topic) || matches(&one, topic));
            prop_assert_eq!(covers(&one, &other), all);
        }
    }
}
