"""Every exception Slipring raises on purpose. Holds no logic."""


class SlipringError(Exception):
    """The root of the tree: catch it to catch them all."""


class JournalError(SlipringError):
    """The journal cannot be opened, read or written; the message says what and where."""


class JournalGap(JournalError):
    """Offsets were asked for that the journal does not hold, or not any more."""


class PipelineError(SlipringError):
    """The pipeline cannot run; the message says what to do about it."""
