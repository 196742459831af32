//! Laws of frames: any samples come back as they were, and no bytes at all do harm.

mod any;
mod deflated;
mod faults;
mod files;
mod hostile;
mod kept;
mod laws;
mod pushing;
mod ranges;
