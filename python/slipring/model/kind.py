"""The types of a parameter's values, as a frame encodes them."""

from enum import IntEnum


class Kind(IntEnum):
    """How a value is written in a frame; the number is the code of docs/frames.md."""

    BOOL = 1
    U8 = 2
    U16 = 3
    U32 = 4
    U64 = 5
    I8 = 6
    I16 = 7
    I32 = 8
    I64 = 9
    F32 = 10
    F64 = 11
    TEXT = 12
    BYTES = 13

    @property
    def word(self) -> str:
        """Its name as a definition writes it: `f64`, `bool`."""
        return self.name.lower()

    @classmethod
    def of_word(cls, word: str) -> "Kind":
        """The kind with this name; raises ValueError that lists them all."""
        try:
            return cls[word.upper()]
        except (KeyError, AttributeError):
            known = ", ".join(kind.word for kind in cls)
            raise ValueError(f"{word!r} is not a type; give {known} or enum") from None

    @property
    def is_integer(self) -> bool:
        """Whether it is a whole number; a truth value is not."""
        return Kind.U8 <= self <= Kind.I64

    @property
    def is_fixed(self) -> bool:
        """Whether every value has the same size, so that values are an array of numbers."""
        return self < Kind.TEXT
