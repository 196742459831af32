//! This computer's clock, in the unit that frames use.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
