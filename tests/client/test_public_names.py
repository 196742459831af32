"""What programs may import: a name that is removed or added unnoticed fails here (T9)."""

import slipring
from slipring import sync

NAMES = """
AlarmLimits Answer Bus Chunk Chunks Clock ConnectError ConnectionChange ConnectionLost
DeclareRefused Declared Entry FoundBroker Frame FrameError Hops InvalidTopic Kind Loss Message
Newest NoAnswer Notice Parameter Parts PublishRefused Publisher Quality Reason Refusal Refused
Request RequestCancelled RequestDropped RequestEnded RequestFailed RequestLost RequestNotDelivered
RequestRefused RequestTimedOut Sample Samples SecretError Selection Service ServiceFailed
SlipringError Status Stream StreamWriter Subscription Table TableChange ThreadRequest Tls Will
__version__ connect discover
"""
BUS = """
ask_parts changes client_id clock close current declare declare_stream is_connected losses newest
notices notify ping publish publish_many publisher refusals remembered request request_many select
serve session_expiry_s session_present stream streams subscribe table table_changes unread_bytes
unsent_bytes unsubscribe url
"""
DECLARED = """
close flush indices names parameters prefix remove sample topics unsent_bytes write write_row
write_rows
"""
FRAME = """
age_s ages_s each empty get hops indices joined names newest_ns qualities samples sent_ns sequence
times to_arrow to_pandas uncertainty_s values
"""


def public(of: object) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_")]


def test_the_package_has_these_names() -> None:
    assert sorted(slipring.__all__) == sorted(NAMES.split())
    for name in slipring.__all__:
        assert getattr(slipring, name).__doc__ or name == "__version__"


def test_the_main_types_have_these_names() -> None:
    assert public(slipring.Bus) == BUS.split()
    assert public(slipring.Frame) == FRAME.split()
    assert set(DECLARED.split()) <= set(public(slipring.Declared))
    assert public(slipring.Selection) == ["close", "collect", "frames"]


def test_the_face_without_asyncio_has_the_same_words() -> None:
    assert public(sync.Bus) == BUS.split()
    for name in ("Clock", "Publisher", "Subscription"):
        inner = {"fetch_frames"}
        assert set(public(getattr(sync, name))) == set(public(getattr(slipring, name))) - inner
    assert {"connect", "discover"} <= set(public(sync))
    asynchronous = {"topic_filter", "concurrency", "set"}
    assert set(public(slipring.Service)) - asynchronous == set(public(sync.Service))
