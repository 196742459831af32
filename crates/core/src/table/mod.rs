//! The current value table: typed parameters with their newest values, and who is told of them (G3, G8).

mod columns;
mod current;
mod groups;
mod names;
mod needs;
mod rows;
mod spill;
mod stale;
mod text;

pub use current::{Arrival, Current, CurrentView};
pub use groups::{Choice, First, Groups, Scene, frame_topic};
pub use names::Names;
pub use needs::{Band, Deadband, Deliver, Needs};
pub use stale::Silence;
pub use text::{json, text};

use crate::Millis;
