//! The segmented journal: append, group commit, recovery, readers.
