//! Selections as subscribers see them: which samples arrive, when, and in which form; and laws for any history.

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
