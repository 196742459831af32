//! Writes the frames of `tests/frames/data`, which every decoder is tested with.

use std::fs;

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/frames/kept.rs"]
mod kept;

fn main() -> std::io::Result<()> {
    for (name, frame) in kept::kept() {
        fs::write(kept::folder().join(format!("{name}.hex")), kept::hex(&frame))?;
        fs::write(kept::folder().join(format!("{name}.json")), kept::json(&frame))?;
    }
    Ok(())
}
