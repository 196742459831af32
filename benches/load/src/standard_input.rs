//! The end of standard input ends a run: the parent process closes it, or exits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns when standard input is closed.
pub fn wait_until_closed() {
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
}

/// A flag that is set once standard input is closed.
pub fn closed() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    std::thread::spawn(move || {
        wait_until_closed();
        set.store(true, Ordering::Relaxed);
    });
    flag
}
