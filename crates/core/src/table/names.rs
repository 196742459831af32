//! What selections ask about a parameter by its index; the registry answers.

use slipring_wire::frame::Kind;

/// What the table knows of its parameters.
pub trait Names {
    /// Its topic; none where no parameter has this index.
    fn name(&self, index: u32) -> Option<&str>;
    /// How its values travel.
    fn kind(&self, index: u32) -> Option<Kind>;
    /// Whether its values are the numbers of an enumeration.
    fn is_enumeration(&self, index: u32) -> bool;
    /// What a value of an enumeration is called.
    fn label(&self, index: u32, value: u32) -> Option<&str>;
    /// How often it is published, as it was declared.
    fn rate_hz(&self, index: u32) -> Option<f64>;
}
