"""Messages between clients and the daemon: one per packet; requests are answered in order.

A request is `version u16, kind u16, body`, a reply `version u16, status u16, body`. Numbers are
little-endian, features are i64. Any deviation is malformed, and ends the connection.
docs/prediction.md has the table of bodies.
"""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from tidscope_policies.perceptron import (
    FEATURES_WANTED,
    MAX_FEATURES,
    Rule,
    check_rule,
)

VERSION = 1
MAX_BYTES = 65536
MAX_UPDATES = 256
OWN = 0xFFFFFFFF
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_HEAD = struct.Struct("<HH")
_OPEN = struct.Struct("<IBBHBB")
_HANDLE = struct.Struct("<I")
_UPDATES = struct.Struct("<IH")
_UPDATE = struct.Struct("<bB")
_RESET = struct.Struct("<IBB")
_ASK = struct.Struct("<IB")
_SHARE = struct.Struct("<IB")
_FEATURE_MIN, _FEATURE_WORD = -(1 << 63), 1 << 64


class Kind(IntEnum):
    """Kind of a request."""

    OPEN = 1
    UPDATE = 2
    RESET = 3
    PREDICT = 4
    SHARE = 5
    DELETE = 6
    LIST = 7


class Status(IntEnum):
    """Status of a reply."""

    DONE = 0
    MALFORMED = 1
    NOT_PERMITTED = 2
    NOT_FOUND = 3
    FULL = 4


class Sharing(IntEnum):
    """Permissions of users other than the owner."""

    OFF = 0
    READ = 1
    WRITE = 2


class MalformedError(Exception):
    """A message violates the format."""


class Open(NamedTuple):
    """Open a model; reply: a handle, with the memory's descriptor attached."""

    name: str
    owner: int = OWN
    create: bool = False
    sharing: Sharing = Sharing.OFF
    rule: Rule = Rule()


class Answer(NamedTuple):
    """Features and the correct answer."""

    features: tuple[int, ...]
    answer: bool


class Update(NamedTuple):
    """Learn answers; reply: u32, the number of answers."""

    handle: int
    answers: tuple[Answer, ...]


class Reset(NamedTuple):
    """Reset the weights of the features, or all weights without features; empty reply."""

    handle: int
    features: tuple[int, ...]


class Predict(NamedTuple):
    """Predict, for clients that cannot map memory; reply: i32."""

    handle: int
    features: tuple[int, ...]


class Share(NamedTuple):
    """Change the permissions of other users; empty reply."""

    handle: int
    sharing: Sharing


class Delete(NamedTuple):
    """Delete a model and its file; empty reply."""

    handle: int


class List(NamedTuple):
    """List models from this number on; reply: JSON, `{"models": […], "next": number or null}`."""

    first: int


Request = Open | Update | Reset | Predict | Share | Delete | List


def write_request(request: Request) -> bytes:
    """Return the packet of a request.

    Raises:
        ValueError: a value cannot be sent.
    """
    match request:
        case Open():
            kind, body = Kind.OPEN, _write_open(request)
        case Update():
            kind, body = Kind.UPDATE, _write_update(request)
        case Reset(handle, features):
            kind, body = Kind.RESET, _RESET.pack(handle, not features, len(features))
            body += _write_features(features) if features else b""
        case Predict(handle, features):
            kind, body = Kind.PREDICT, _ASK.pack(handle, len(features)) + _write_features(features)
        case Share(handle, sharing):
            kind, body = Kind.SHARE, _SHARE.pack(handle, sharing)
        case Delete(handle):
            kind, body = Kind.DELETE, _HANDLE.pack(handle)
        case List(first):
            kind, body = Kind.LIST, _HANDLE.pack(first)
    return _HEAD.pack(VERSION, kind) + body


def read_request(packet: bytes) -> Request:
    """Take a packet apart.

    Raises:
        MalformedError: the packet is malformed.
    """
    try:
        version, number = _HEAD.unpack_from(packet)
        if version != VERSION:
            raise MalformedError(f"version {version}: want {VERSION}")
        return _READERS[Kind(number)](packet, _HEAD.size)
    except (struct.error, ValueError) as error:
        raise MalformedError(str(error)) from error


def write_reply(status: Status, body: bytes = b"") -> bytes:
    """Return the packet of a reply."""
    return _HEAD.pack(VERSION, status) + body


def read_reply(packet: bytes) -> tuple[Status, bytes]:
    """Take a reply apart.

    Raises:
        MalformedError: the packet is malformed.
    """
    try:
        version, status = _HEAD.unpack_from(packet)
        if version != VERSION:
            raise MalformedError(f"version {version}: want {VERSION}")
        return Status(status), packet[_HEAD.size :]
    except (struct.error, ValueError) as error:
        raise MalformedError(str(error)) from error


def _write_open(request: Open) -> bytes:
    if not NAME.fullmatch(request.name):
        raise ValueError(f"{request.name!r} cannot be the name of a model")
    name = request.name.encode()
    threshold, limit = check_rule(request.rule)
    flags = (request.owner, request.create, request.sharing, threshold, limit, len(name))
    return _OPEN.pack(*flags) + name


def _write_update(request: Update) -> bytes:
    if not 1 <= len(request.answers) <= MAX_UPDATES:
        raise ValueError(f"{len(request.answers)} updates: want 1 to {MAX_UPDATES}")
    entries = [
        _UPDATE.pack(1 if one.answer else -1, len(one.features)) + _write_features(one.features)
        for one in request.answers
    ]
    return _UPDATES.pack(request.handle, len(entries)) + b"".join(entries)


def _read_open(packet: bytes, at: int) -> Open:
    owner, create, sharing, threshold, limit, length = _OPEN.unpack_from(packet, at)
    name = _rest(packet, at + _OPEN.size, length).decode("ascii")
    if create not in (0, 1) or not NAME.fullmatch(name):
        raise MalformedError("not a name, or not a flag")
    rule = check_rule(Rule(threshold, limit))
    return Open(name, owner, bool(create), Sharing(sharing), rule)


def _read_reset(packet: bytes, at: int) -> Reset:
    handle, everything, count = _RESET.unpack_from(packet, at)
    _rest(packet, at + _RESET.size, 8 * count)
    if everything != (count == 0):
        raise MalformedError("a reset of everything has no features")
    return Reset(handle, _read_features(packet, at + _RESET.size, count) if count else ())


def _read_predict(packet: bytes, at: int) -> Predict:
    handle, count = _ASK.unpack_from(packet, at)
    _rest(packet, at + _ASK.size, 8 * count)
    return Predict(handle, _read_features(packet, at + _ASK.size, count))


def _read_share(packet: bytes, at: int) -> Share:
    handle, sharing = _SHARE.unpack(packet[at:])
    return Share(handle, Sharing(sharing))


def _read_update(packet: bytes, at: int) -> Update:
    handle, count = _UPDATES.unpack_from(packet, at)
    if not 1 <= count <= MAX_UPDATES:
        raise MalformedError(f"{count} updates: want 1 to {MAX_UPDATES}")
    at += _UPDATES.size
    answers = []
    for _ in range(count):
        direction, length = _UPDATE.unpack_from(packet, at)
        if direction not in (-1, 1):
            raise MalformedError(f"direction {direction}: want -1 or 1")
        at += _UPDATE.size
        answers.append(Answer(_read_features(packet, at, length), direction == 1))
        at += 8 * length
    _rest(packet, at, 0)
    return Update(handle, tuple(answers))


def _read_features(packet: bytes, at: int, count: int) -> tuple[int, ...]:
    if not 1 <= count <= MAX_FEATURES:
        raise MalformedError(f"{count} features: {FEATURES_WANTED}")
    return struct.unpack_from(f"<{count}q", packet, at)


def _write_features(features: Sequence[int]) -> bytes:
    if not 1 <= len(features) <= MAX_FEATURES:
        raise ValueError(f"{len(features)} features: {FEATURES_WANTED}")
    # Modulo 2^64, as in the hash.
    words = [(value - _FEATURE_MIN) % _FEATURE_WORD + _FEATURE_MIN for value in features]
    return struct.pack(f"<{len(words)}q", *words)


def _rest(packet: bytes, at: int, length: int) -> bytes:
    if len(packet) != at + length:
        raise MalformedError(f"{len(packet)} bytes: want {at + length}")
    return packet[at:]


_READERS: Mapping[Kind, Callable[[bytes, int], Request]] = {
    Kind.OPEN: _read_open,
    Kind.UPDATE: _read_update,
    Kind.RESET: _read_reset,
    Kind.PREDICT: _read_predict,
    Kind.SHARE: _read_share,
    Kind.DELETE: lambda packet, at: Delete(*_HANDLE.unpack(packet[at:])),
    Kind.LIST: lambda packet, at: List(*_HANDLE.unpack(packet[at:])),
}
