//! Laws of frames: any samples come back as they were, and no bytes at all do harm.

mod any;
mod deflated;
mod faults;
mod hostile;
mod laws;
mod pushing;
mod ranges;
