//! Keeps what the process has in memory, passwords and keys among it, out of core dumps.

use rustix::io;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Lets the system write no core dump of this process, and no debugger of the same user attach to it.
///
/// The limit alone is not enough: a program that takes dumps from the kernel (`core_pattern` with `|`)
/// gets them with any limit but 1, and one of the same user could raise it.
pub fn forbid_core_dumps() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
}
