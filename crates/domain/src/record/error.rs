//! Why bytes are not a record, or not a control message.

/// Why bytes of a neighbour are refused: the neighbour is wrong, and its link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A field reaches past the end.
    #[error("a field reaches past the end of the bytes")]
    Truncated,
    /// Bytes are left over.
    #[error("bytes follow the last field")]
    Trailing,
    /// A format that this broker does not know.
    #[error("the format has version {0}, which this broker does not know")]
    UnknownFormat(u8),
    /// A kind of message that this broker does not know.
    #[error("control messages have no kind {0}")]
    UnknownKind(u8),
    /// A text that is not UTF-8.
    #[error("a text is not valid UTF-8")]
    NotUtf8,
    /// More than [`NAME_BYTES_MAX`](crate::bounds::NAME_BYTES_MAX).
    #[error("the name of the broker is too long")]
    LongName,
    /// More than [`ADDRESSES_MAX`](crate::bounds::ADDRESSES_MAX).
    #[error("the broker has too many addresses")]
    TooManyAddresses,
    /// More than [`ADDRESS_BYTES_MAX`](crate::bounds::ADDRESS_BYTES_MAX).
    #[error("an address of the broker is too long")]
    LongAddress,
    /// More than [`LINKS_MAX`](crate::bounds::LINKS_MAX).
    #[error("the broker has too many links")]
    TooManyLinks,
    /// A link from a broker to itself.
    #[error("the broker has a link to itself")]
    LinkToItself,
    /// More than [`FILTERS_MAX`](crate::bounds::FILTERS_MAX), or more bytes than
    /// [`FILTER_BYTES_MAX`](crate::bounds::FILTER_BYTES_MAX).
    #[error("the broker has too many filters, or too long ones")]
    TooManyFilters,
    /// A text that is not a filter, or one with too many levels.
    #[error("the interest holds a filter that cannot be subscribed to, or is too deep")]
    WrongFilter,
    /// A rate of 0, or flags without a meaning.
    #[error("a number stands for nothing")]
    WrongNumber,
    /// A record that says something else than its writer did.
    #[error("the checksum of the record is wrong")]
    WrongChecksum,
    /// Entries that are not in ascending order, or there twice.
    #[error("entries are not in ascending order")]
    Unordered,
    /// More brokers than a domain has, or more acknowledgements than a message holds.
    #[error("the message has too many entries")]
    TooManyEntries,
}
