"""How much room the disk of the data folder has. It looks; it never removes anything."""

import shutil
from pathlib import Path

from slipring.status.measured import DiskRoom


def disk_room(folder: Path) -> DiskRoom:
    """Free and all bytes; null if the disk does not say."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return {"disk_free_bytes": None, "disk_bytes": None}
    return {"disk_free_bytes": usage.free, "disk_bytes": usage.total}
