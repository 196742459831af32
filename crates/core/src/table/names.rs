//! What selections need to know about a parameter; the registry provides it.

use slipring_wire::frame::Kind;

use crate::ParameterIndex;

/// What the table knows of its parameters.
pub trait Names {
    /// Its topic; None if no parameter has this index.
    fn name(&self, index: ParameterIndex) -> Option<&str>;
    /// The kind of its values on the wire.
    fn kind(&self, index: ParameterIndex) -> Option<Kind>;
    /// Whether its values are the numbers of an enumeration.
    fn is_enumeration(&self, index: ParameterIndex) -> bool;
    /// The label of a value of an enumeration.
    fn label(&self, index: ParameterIndex, value: u32) -> Option<&str>;
    /// How many samples per second were declared.
    fn rate_hz(&self, index: ParameterIndex) -> Option<f64>;
}
