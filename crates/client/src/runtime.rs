//! The one background thread that drives every client of this process.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime and the process it belongs to. Locked only to look it up or to start it.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime, started by the first caller.
///
/// Threads do not survive a fork, so a child that uses the client starts its own.
pub(crate) fn handle() -> io::Result<Handle> {
    let mut slot = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, runtime)) = &*slot {
        if *owner == process {
            return Ok(runtime.handle().clone());
        }
    }
    let runtime = start()?;
    let handle = runtime.handle().clone();
    // The parent's runtime cannot be shut down from here: its threads are not in this process.
    std::mem::forget(slot.replace((process, runtime)));
    Ok(handle)
}

fn start() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("slipring-client")
        .enable_io()
        .enable_time()
        .build()
}
