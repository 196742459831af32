//! The limit on open files: ten thousand clients are ten thousand sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Result;

/// Raises the limit as far as the system allows.
pub fn raise_limit() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(())
}
