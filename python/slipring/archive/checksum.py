"""CRC32C, the checksum of the journal's own files. For a few bytes: a step for each byte."""

_POLYNOMIAL = 0x82F63B78


def crc32c(content: bytes) -> int:
    """The checksum of some bytes."""
    value = 0xFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value ^ 0xFFFFFFFF
