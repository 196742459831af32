//! Which samples are asked for.

use std::ops::Range;

use slipring_wire::frame::RunView;

/// Parameters and times. Nothing given means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleSelection {
    /// By index: whether a parameter is asked for. One beyond the end is not.
    pub parameters: Option<Vec<bool>>,
    /// Source times from the first to before the second.
    pub source_ns: Option<Range<i64>>,
}

impl SampleSelection {
    /// Whether everything is asked for.
    pub(crate) fn is_all(&self) -> bool {
        self.parameters.is_none() && self.source_ns.is_none()
    }

    /// Whether a run may have samples that are asked for.
    pub(crate) fn may_have(&self, run: &RunView<'_>) -> bool {
        let in_time = self
            .source_ns
            .as_ref()
            .is_none_or(|asked| run.oldest_ns() < asked.end && asked.start <= run.newest_ns());
        in_time && (self.parameters.is_none() || run.indices().any(|index| self.has_index(index)))
    }

    /// Whether a sample is asked for.
    pub(crate) fn has(&self, index: u32, source_ns: i64) -> bool {
        let in_time = self.source_ns.as_ref().is_none_or(|asked| asked.contains(&source_ns));
        in_time && self.has_index(index)
    }

    fn has_index(&self, index: u32) -> bool {
        let Some(asked) = &self.parameters else { return true };
        asked.get(index as usize).copied().unwrap_or(false)
    }
}
