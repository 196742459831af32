"""Every exception Slipring raises on purpose. Holds no logic."""

from typing import Any


class SlipringError(Exception):
    """The root of the tree: catch it to catch them all."""


class ConfigError(SlipringError):
    """A configuration cannot be used; the message names the file, the key and what to write."""


class PlanError(SlipringError):
    """The control plane made a plan that the engine cannot follow."""


class TokenError(SlipringError):
    """A token is not accepted, or cannot be made; the message says why."""


class StartError(SlipringError):
    """The broker cannot start: a port in use, a folder it cannot write."""


class EngineError(SlipringError):
    """The engine cannot continue; the process ends."""


class AlarmError(SlipringError):
    """What somebody wants to do with an alarm cannot be done, or alarms cannot be kept."""


class InstallError(SlipringError):
    """A service could not be installed or removed."""


class ListenError(StartError):
    """The address is in use, not one of this computer, or not an address."""


class ConnectError(SlipringError):
    """No connection to the broker: a wrong address, nothing listens there, or it refused."""


class SecretError(ConfigError, ConnectError):
    """A secret is missing, or its file can be read by others than its owner."""


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


class RequestEnded(SlipringError):
    """A request to a service ended without an answer; each way to end has a class of its own."""

    status = "ended"
    """How it ended: the `slipring-status` that the broker sent."""
    told = "ended"
    """The same in words, behind "the request"."""

    def __init__(self, reason: str = "", topic: str = "") -> None:
        self.reason = reason
        """Why, as the service or the broker said it; may be empty."""
        self.topic = topic
        """The topic of the request."""
        what = f"the request to {topic!r} {self.told}" if topic else self.told
        super().__init__(f"{what}: {reason}" if reason else what)


class ServiceFailed(RequestEnded):
    """The service failed and said why; or it died, and no other service took over.

    A handler raises it to fail a request on purpose: `raise ServiceFailed("no fuel")`.
    """

    status = "failed"
    told = "failed"


class RequestCancelled(RequestEnded):
    """The request was cancelled, but not by the task that waits for its answer."""

    status = "cancelled"
    told = "was cancelled"


class RequestTimedOut(RequestEnded, TimeoutError):
    """There was no answer within the request's time-out."""

    status = "timed-out"
    told = "timed out"


class RequestNotDelivered(RequestEnded):
    """No service takes requests to this topic, and the request did not ask to wait for one."""

    status = "not-delivered"
    told = "was not delivered: there is no service"


class RequestDropped(RequestEnded):
    """The broker's memory budget was used up, and it dropped the request."""

    status = "dropped"
    told = "was dropped"


class RequestRefused(RequestEnded, Refused):
    """The broker refused the request; the reason says what is wrong with it."""

    status = "refused"
    told = "was refused"

    def __init__(self, reason: str = "", topic: str = "", *, code: int = 0) -> None:
        super().__init__(reason, topic)
        self.code = code
        """The broker's reason code, such as 0x97 for a quota exceeded; 0 if it gave none."""


class RequestLost(RequestEnded, ConnectionLost):
    """The session ended before the request did, and with it the request."""

    status = "lost"
    told = "was lost"


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
