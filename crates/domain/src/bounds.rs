//! What a broker may say of itself, and how many brokers there may be. What arrives beyond these bounds is refused;
//! interest is widened before it reaches them.

/// Bytes of a broker's name.
pub const NAME_BYTES_MAX: usize = 255;
/// Addresses where a broker listens for links.
pub const ADDRESSES_MAX: usize = 16;
/// Bytes of such an address.
pub const ADDRESS_BYTES_MAX: usize = 255;
/// Links of one broker: one to each other broker.
pub const LINKS_MAX: usize = BROKERS_MAX - 1;
/// Brokers of a domain that one broker remembers, itself among them.
pub const BROKERS_MAX: usize = 256;
/// Filters in the interest of a broker.
pub const FILTERS_MAX: usize = 32_768;
/// Bytes of all these filters together.
pub const FILTER_BYTES_MAX: usize = 1 << 20;
/// Levels of such a filter; a longer one is cut after its first levels, and ends with `#`.
pub const FILTER_LEVELS_MAX: usize = 32;
/// Memory of other brokers' filters with their levels in the tree, as it is measured for subscriptions of clients.
pub const FOREIGN_BYTES_MAX: usize = 64 << 20;
