"""Reasons to refuse a message from the kernel, by name.

A message that is not exactly what the kernel sends is refused whole: a number that may be wrong is
worse than none.
"""

from enum import StrEnum


class Refusal(StrEnum):
    """Why a message was refused."""

    SHORT = "shorter than its headers"
    LENGTH = "length that differs from the message's"
    TYPE = "message of another type"
    OVERRUN = "NLMSG_OVERRUN"
    COMMAND = "another command than TASKSTATS_CMD_NEW"
    ATTRIBUTE = "attribute that does not fit into its container"
    CONTENT = "not the records that were expected"


class MalformedReplyError(Exception):
    """A datagram that is not what the kernel sends; `refusal` and `detail` say in what way."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(f"{refusal}: {detail}")
        self.refusal = refusal
        self.detail = detail
