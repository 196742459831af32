//! Laws of frames: any samples come back as they were, and no bytes at all do harm.

mod any;
mod hostile;
mod laws;
