//! Topic names and filters: what is well-formed, and matching against a naive matcher.

use slipring_wire::{check_filter, check_topic, matches};

/// The bytes up to the first line feed are a filter, the rest is a topic.
pub fn topics(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (filter, topic) = text.split_once('\n').unwrap_or((text, text));
    let (good_filter, good_topic) = (check_filter(filter).is_ok(), check_topic(topic).is_ok());
    assert_eq!(good_filter, is_filter(filter), "{filter:?}");
    assert_eq!(good_topic, is_topic(topic), "{topic:?}");
    assert!(check_filter(topic).is_ok() || !good_topic, "{topic:?} is a filter too");
    if good_filter && good_topic {
        assert_eq!(matches(filter, topic), is_match(filter, topic), "{filter:?} on {topic:?}");
        assert!(matches(topic, topic), "{topic:?} matches itself");
    }
}

fn is_topic(topic: &str) -> bool {
    (1..=65_535).contains(&topic.len()) && !topic.contains(['+', '#', '\0'])
}

/// MQTT 5, 4.7.1: a wildcard is a level of its own, and `#` is the last.
fn is_filter(filter: &str) -> bool {
    let levels: Vec<&str> = filter.split('/').collect();
    let last = levels.len() - 1;
    (1..=65_535).contains(&filter.len())
        && !filter.contains('\0')
        && levels.iter().enumerate().all(|(index, level)| match *level {
            "+" => true,
            "#" => index == last,
            plain => !plain.contains(['+', '#']),
        })
}

/// MQTT 5, 4.7.2: nothing that begins with `$` is matched by a leading wildcard.
fn is_match(filter: &str, topic: &str) -> bool {
    let wild = filter.starts_with(['+', '#']);
    let (filter, topic): (Vec<&str>, Vec<&str>) =
        (filter.split('/').collect(), topic.split('/').collect());
    !(wild && topic[0].starts_with('$')) && is_match_of_levels(&filter, &topic)
}

fn is_match_of_levels(mut filter: &[&str], mut topic: &[&str]) -> bool {
    loop {
        match (filter, topic) {
            (["#"], _) | ([], []) => return true,
            ([], _) | (_, []) => return false,
            ([wanted, ..], [level, ..]) if *wanted != "+" && wanted != level => return false,
            ([_, filter_rest @ ..], [_, topic_rest @ ..]) => {
                (filter, topic) = (filter_rest, topic_rest);
            }
        }
    }
}
