"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from enum import IntEnum


class CloseCode(IntEnum):
    """WebSocket close codes of /ws/live, /ws/collector and /ws/collector/frames."""

    BAD_MESSAGE = 4400
    """A message did not fit its schema; the reason names what."""

    UNAUTHENTICATED = 4401
    """No valid session, one that has ended, or a wrong collector secret."""

    FORBIDDEN_ORIGIN = 4403
    """Origin or Host is not one this backend serves."""

    TIMED_OUT = 4408
    """The first message did not come in time."""

    REPLACED = 4409
    """Another collector of the same host has connected."""

    WRONG_HOST = 4421
    """The collector's secret is that of another host, or its host has another secret; the reason names both."""

    PROTOCOL_VERSION = 4426
    """The other side speaks another version of the protocol; the reason names both."""

    TOO_MANY = 4429
    """Too many pages or collectors are connected."""

    GONE = 4410
    """The control connection of this data connection has ended, or the ticket is of none."""

    STALLED = 4420
    """The page took nothing for too long while frames were waiting for it; it may connect again."""
