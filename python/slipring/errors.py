"""Every exception Slipring raises on purpose. Holds no logic."""

from typing import Any


class SlipringError(Exception):
    """The root of the tree: catch it to catch them all."""


class ConfigError(SlipringError):
    """A configuration cannot be used; the message names the file, the key and what to write."""


class PlanError(SlipringError):
    """The control plane made a plan that the engine cannot follow."""


class StartError(SlipringError):
    """The broker cannot start: a port in use, a folder it cannot write."""


class EngineError(SlipringError):
    """The engine cannot continue; the process ends."""


class ListenError(StartError):
    """The address is in use, not one of this computer, or not an address."""


class ConnectError(SlipringError):
    """No connection to the broker: a wrong address, nothing listens there, or it refused."""


class ConnectionLost(SlipringError):
    """The connection to the broker has ended."""


class InvalidTopic(SlipringError, ValueError):
    """Not a topic to publish to, or not a filter to subscribe to."""


class FrameError(SlipringError, ValueError):
    """Bytes that are not a frame, or samples that cannot be put into one."""


class NoAnswer(SlipringError, TimeoutError):
    """The broker did not answer a request in time."""


class Refused(SlipringError):
    """The broker or this client refused a message or a subscription, or it exceeds a limit."""


class PublishRefused(Refused):
    """The broker refused a message at QoS 1 or 2."""

    def __init__(self, text: str, *, code: int, index: int = 0) -> None:
        super().__init__(text)
        self.code = code
        """The broker's reason: 0x97 for a quota exceeded, 0x87 for not authorized."""
        self.index = index
        """Which message it was, if several were published: 0 is the first."""


class DeclareRefused(Refused):
    """The broker refused a declaration; no part of it holds."""

    def __init__(self, text: str, *, problems: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.problems = problems
        """Each with a `code`, a `message` and the `name` of the parameter."""


class RequestFailed(SlipringError):
    """The broker could not answer a request about its table; the message has its words."""

    def __init__(self, text: str, *, code: str) -> None:
        super().__init__(text)
        self.code = code
        """What went wrong, as one word: `unknown`, `too_large`, `not_available`."""


class JournalError(SlipringError):
    """The journal cannot be opened, read or written; the message says what and where."""


class JournalGap(JournalError):
    """The journal does not have these offsets, or no longer."""


class ArchiveError(JournalError):
    """An archive of a journal cannot be reached, read or written."""


class JournalDamaged(JournalError):
    """A part of the journal cannot be read; the offsets before and after it can."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


class RecordingError(SlipringError):
    """A file of messages cannot be written, read or imported; the message says what and where."""


class DictionaryError(SlipringError):
    """A dictionary cannot be used; the message has a line for each error, with file and line."""

    def __init__(self, text: str, *, problems: tuple[Any, ...] = ()) -> None:
        super().__init__(text)
        self.problems = problems
        """The first hundred, each a `slipring.dictionary.Problem`."""


class PipelineError(SlipringError):
    """The pipeline cannot run; the message says what to do about it."""


class LakeConflict(PipelineError):
    """Another writer has committed to the table first; nothing was changed, look at it again."""


class LakeError(SlipringError):
    """The lake cannot be read as asked; the message says what is there, and what to write."""


class DemoError(SlipringError):
    """A part of the demo did not start, or ended too early."""
