"""Small changes to valid input, as bytes that a fuzzer makes."""

import struct


def patched(valid: bytes, patches: bytes) -> bytes:
    """Valid input with patches: two bytes of place and one of value each.

    With the place 0xFFFF the input is cut, to so many 256ths.
    """
    made = bytearray(valid)
    for at in range(0, len(patches) - 2, 3):
        place, value = struct.unpack_from("=HB", patches, at)
        if place == 0xFFFF:
            made = made[: len(made) * value // 256]
        elif made:
            made[place % len(made)] = value
    return bytes(made)
