//! libFuzzer's program: one for all targets, chosen by `FUZZ_TARGET`. Holds no law of its own.
#![no_main]
#![allow(unsafe_code, reason = "libFuzzer calls in through a C interface")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use slipring_fuzz::Target;

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    slipring_fuzz::target(&name).expect("FUZZ_TARGET is one of slipring_fuzz::TARGETS")
});

fuzz_target!(|data: &[u8]| CHOSEN(data));
