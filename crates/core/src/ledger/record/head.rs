//! The head of every record, and the macro that defines a family of records.

use super::fields::{RecordCursor, What, put_number};

/// The bits of a record's first byte that hold its kind; the others are flags.
const KIND_BITS: u8 = 0x1f;

pub(super) const UNKNOWN_KIND: What = "this version of Slipring does not know its kind";

/// The head of a record: its kind, its flags, and a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordHead {
    pub kind: u8,
    pub flags: u8,
    pub number: u64,
}

impl RecordHead {
    pub(super) fn read(cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        let flags = cursor.byte()?;
        let kind = match flags & KIND_BITS {
            0 => cursor.byte()?,
            kind => kind,
        };
        // Each kind has one form: a kind that fits into the first byte is never in a second one.
        if (kind > KIND_BITS) != (flags & KIND_BITS == 0) {
            return Err(UNKNOWN_KIND);
        }
        Ok(Self { kind, flags, number: cursor.number()? })
    }

    /// Appends the head: kind and flags in one byte, or in two, and the number.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        if self.kind > KIND_BITS {
            out.extend([self.flags, self.kind]);
        } else {
            out.push(self.kind | self.flags);
        }
        put_number(out, self.number);
    }
}

/// Defines a family of records: an enum, and how its records are written and read.
///
/// Each row is `Name = kind { head; fields }`. The number in a record's head is the field before the
/// semicolon, or 0 if there is none. The fields behind it are written in this order, each as its
/// [`RecordField`](super::fields::RecordField) says.
macro_rules! record_family {
    (
        $(#[$family_note:meta])*
        $family:ident<$($life:lifetime)?> {
            $(
                $(#[$note:meta])*
                $name:ident = $kind:literal {
                    $($head:ident: $head_type:ty)?;
                    $($(#[$field_note:meta])* $field:ident: $type:ty,)*
                }
            )*
        }
    ) => {
        $(#[$family_note])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $family<$($life)?> {
            $(
                $(#[$note])*
                $name { $($head: $head_type,)? $($(#[$field_note])* $field: $type,)* },
            )*
        }

        impl<'a> $family<$($life)?> {
            /// Appends the record.
            pub fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(
                        Self::$name { $($head,)? $($field,)* } => {
                            let number = 0_u64 $(+ u64::from(*$head))?;
                            let flags = 0 $(| super::fields::RecordField::flags($field))*;
                            super::head::RecordHead { kind: $kind, flags, number }.put(out);
                            $(super::fields::RecordField::put($field, out);)*
                        }
                    )*
                }
            }

            /// Reads the rest of a record; None if its kind is of another family.
            #[inline]
            pub(super) fn read(
                head: &super::head::RecordHead,
                cursor: &mut super::fields::RecordCursor<'a>,
            ) -> Result<Option<Self>, super::fields::What> {
                Ok(Some(match head.kind {
                    $(
                        $kind => Self::$name {
                            $($head: super::fields::NumberField::from_number(head.number)?,)?
                            $($field: super::fields::RecordField::read(head.flags, cursor)?,)*
                        },
                    )*
                    _ => return Ok(None),
                }))
            }
        }
    };
}

pub(super) use record_family;
