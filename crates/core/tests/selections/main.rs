//! Selections as subscribers see them: what arrives, when, and in which form; and laws that hold
//! whatever happens.

mod beat;
mod laws;
mod model;
mod newest_values;
mod pace;
mod packets;
mod remembered;
mod room;
mod shapes;
mod shared;
mod silence;
mod staleness;
mod texts;
mod world;
