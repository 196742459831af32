"""What the control plane measures itself: the ages of samples, the room on the disk."""

from typing import Annotated, TypedDict


class DiskRoom(TypedDict):
    """The disk of the data folder."""

    disk_free_bytes: Annotated[
        int | None, "Bytes that are free on the disk of the data folder; null if it does not say."
    ]
    disk_bytes: Annotated[int | None, "All bytes of that disk."]


class SampleAges(TypedDict):
    """How old samples are when the broker has them: the broker's clock minus the source's."""

    aged: Annotated[int, "Parameters whose newest samples were looked at for this: at most 512."]
    age_p50_ms: Annotated[
        float | None, "Half of them are at most so old on arrival; null if there is none."
    ]
    age_p99_ms: Annotated[float | None, "99 of 100 of them are at most so old on arrival."]
