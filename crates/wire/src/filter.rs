//! Topic names and topic filters: which are valid, and which names a filter matches.

/// Why a string is not a topic name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// MQTT-4.7.3-1.
    #[error("a topic has at least one character")]
    Empty,
    /// MQTT-3.3.2-2.
    #[error("a topic to publish to holds no wildcard (+ or #)")]
    Wildcard,
    /// MQTT-4.7.3-2.
    #[error("a topic holds no null character")]
    Null,
    /// MQTT-4.7.3-3.
    #[error("a topic has at most 65,535 bytes")]
    TooLong,
}

/// Why a string is not a topic filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// MQTT-4.7.3-1.
    #[error("a topic filter has at least one character")]
    Empty,
    /// MQTT-4.7.1-1.
    #[error("# stands alone in the last level of a filter")]
    MultiLevel,
    /// MQTT-4.7.1-2.
    #[error("+ stands alone in its level of a filter")]
    SingleLevel,
    /// MQTT-4.7.3-2.
    #[error("a topic filter holds no null character")]
    Null,
    /// MQTT-4.7.3-3.
    #[error("a topic filter has at most 65,535 bytes")]
    TooLong,
    /// MQTT-4.8.2-1 and -2.
    #[error("a shared subscription is $share/NAME/FILTER, with a name without wildcards")]
    Share,
    /// Slipring's own: not `$slipring/serve/N/FILTER`.
    #[error("in $slipring/serve/N/FILTER, N is how many requests are computed at once: 1 to 65535")]
    ServeCount,
    /// Slipring's own: a service of topics that nobody can ask.
    #[error("in $slipring/serve/N/FILTER, FILTER is a topic filter that does not begin with $")]
    ServedFilter,
}

/// Whether a message can be published to this topic.
pub fn check_topic(topic: &str) -> Result<(), TopicError> {
    if topic.is_empty() {
        return Err(TopicError::Empty);
    }
    if topic.len() > usize::from(u16::MAX) {
        return Err(TopicError::TooLong);
    }
    // Asked for every PUBLISH. Most topics are short, so that this branch-free loop is faster than a search.
    let is_refused = |byte: u8| matches!(byte, b'+' | b'#' | 0);
    if topic.bytes().fold(false, |found, byte| found | is_refused(byte)) {
        let has_wildcard = topic.contains(['+', '#']);
        return Err(if has_wildcard { TopicError::Wildcard } else { TopicError::Null });
    }
    Ok(())
}

/// Whether this filter can be subscribed to.
pub fn check_filter(filter: &str) -> Result<(), FilterError> {
    if filter.is_empty() {
        return Err(FilterError::Empty);
    }
    if filter.len() > usize::from(u16::MAX) {
        return Err(FilterError::TooLong);
    }
    if filter.contains('\0') {
        return Err(FilterError::Null);
    }
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        check_level(level, levels.peek().is_none())?;
    }
    Ok(())
}

fn check_level(level: &str, last: bool) -> Result<(), FilterError> {
    if level.contains('#') && (level != "#" || !last) {
        return Err(FilterError::MultiLevel);
    }
    if level.contains('+') && level != "+" {
        return Err(FilterError::SingleLevel);
    }
    Ok(())
}

/// The share name and the filter of a shared subscription; None for any other filter.
pub fn shared(filter: &str) -> Option<Result<(&str, &str), FilterError>> {
    let rest = match filter.strip_prefix("$share")? {
        "" => return Some(Err(FilterError::Share)),
        rest => rest.strip_prefix('/')?,
    };
    Some(match rest.split_once('/') {
        Some((name, topics))
            if !name.is_empty() && !name.contains(['+', '#']) && !topics.is_empty() =>
        {
            Ok((name, topics))
        }
        _ => Err(FilterError::Share),
    })
}

/// What a filter begins with that makes its client a service of requests.
const SERVE: &str = "$slipring/serve/";

/// How many requests a client computes at once, and the filter of their topics, in the filter by which it becomes a
/// service; None for any other filter.
pub fn served(filter: &str) -> Option<Result<(u16, &str), FilterError>> {
    let (count, topics) = filter.strip_prefix(SERVE)?.split_once('/').unwrap_or_default();
    // One spelling for each number: two filters with the same topics differ in it.
    let is_number = count.bytes().all(|byte| byte.is_ascii_digit()) && !count.starts_with('0');
    let Some(count) = count.parse().ok().filter(|_| is_number) else {
        return Some(Err(FilterError::ServeCount));
    };
    let is_refused = topics.starts_with('$') || check_filter(topics).is_err();
    Some(if is_refused { Err(FilterError::ServedFilter) } else { Ok((count, topics)) })
}

/// Whether a filter matches a topic, level by level. The topic tree must give the same results.
///
/// A leading wildcard does not match a topic that begins with `$` (MQTT-4.7.2-1).
pub fn matches(filter: &str, topic: &str) -> bool {
    if topic.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let mut levels = topic.split('/');
    for wanted in filter.split('/') {
        if wanted == "#" {
            return true;
        }
        match levels.next() {
            Some(level) if wanted == "+" || wanted == level => {}
            _ => return false,
        }
    }
    levels.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_match_as_the_standard_says() {
        for (filter, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c", false),
            ("a/+", "a/b", true),
            ("a/+", "a/", true),
            ("a/+", "a", false),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("#", "$SYS/up", false),
            ("+/up", "$SYS/up", false),
            ("$SYS/#", "$SYS/up", true),
        ] {
            assert_eq!(matches(filter, topic), expected, "{filter} on {topic}");
        }
    }

    #[test]
    fn wildcards_stand_only_where_they_may() {
        for good in ["#", "+", "a/+/b", "a/#", "/", "+/#", "$share"] {
            assert_eq!(check_filter(good), Ok(()), "{good}");
        }
        for bad in ["", "a#", "#/a", "a/b#", "a+", "+a/b", "a\0"] {
            assert!(check_filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_shared_subscription_has_a_name_and_a_filter_cve_2026_95843() {
        assert_eq!(shared("$share/g/a/+/b"), Some(Ok(("g", "a/+/b"))));
        assert_eq!(shared("$share/g//"), Some(Ok(("g", "/"))));
        for other in ["a/$share/b", "$shared/g/a", "share/g/a"] {
            assert_eq!(shared(other), None, "{other}");
        }
        for bad in
            ["$share", "$share/", "$share/g", "$share/g/", "$share//a", "$share/+/a", "$share/#"]
        {
            assert_eq!(shared(bad), Some(Err(FilterError::Share)), "{bad}");
        }
    }

    #[test]
    fn a_topic_has_no_wildcard_and_is_not_empty_cve_2021_34432() {
        assert_eq!(check_topic(""), Err(TopicError::Empty));
        assert_eq!(check_topic("a/+"), Err(TopicError::Wildcard));
        assert_eq!(check_topic("a/#"), Err(TopicError::Wildcard));
        assert_eq!(check_topic("a b/c"), Ok(()));
    }

    #[test]
    fn a_service_says_how_many_requests_of_which_topics_it_computes() {
        assert_eq!(served("$slipring/serve/3/a/+/b"), Some(Ok((3, "a/+/b"))));
        assert_eq!(served("$slipring/serve/65535/#"), Some(Ok((65_535, "#"))));
        assert_eq!(served("$slipring/serve/1//"), Some(Ok((1, "/"))));
        for other in ["$slipring/serve", "$slipring/+/1/a", "$slipring/#", "serve/1/a"] {
            assert_eq!(served(other), None, "{other}");
        }
        for count in ["", "0", "01", "+1", "+", "#", "-1", "1.0", "65536", "many"] {
            let filter = format!("$slipring/serve/{count}/a");
            assert_eq!(served(&filter), Some(Err(FilterError::ServeCount)), "{filter}");
        }
        assert_eq!(served("$slipring/serve/1"), Some(Err(FilterError::ServeCount)));
        for topics in ["", "$SYS/a", "$share/g/a", "$slipring/serve/1/a", "a/#/b", "a+"] {
            let filter = format!("$slipring/serve/1/{topics}");
            assert_eq!(served(&filter), Some(Err(FilterError::ServedFilter)), "{filter}");
        }
    }
}
