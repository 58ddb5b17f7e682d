"""Models on disk: one file each, replaced as a whole, with a version and a checksum.

A file is the fixed part below, the name, the weights, and the CRC-32 of all that; numbers are
little-endian. What is not exactly so is put aside, and the model starts empty.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tidscope_predictd.layout import Counts
from tidscope_predictd.messages import NAME, Sharing
from tidscope_predictd.model.perceptron import WEIGHTS, Rule, check_rule

MAGIC = b"TIDMODEL"
VERSION = 1
ENDING = ".model"
DAMAGED = ".damaged"

_FIXED = struct.Struct("<8sIIBBHH4Q")
_CHECKSUM = struct.Struct("<I")
_LARGEST = _FIXED.size + 64 + WEIGHTS + _CHECKSUM.size


class Stored(NamedTuple):
    """A model as it is kept.

    Attributes:
        weights: 16 tables of 1024 signed bytes.
    """

    name: str
    owner: int
    sharing: Sharing
    rule: Rule
    counts: Counts
    weights: bytes


class DamagedError(Exception):
    """A file that is no model of this version."""


def pack(model: Stored) -> bytes:
    """The bytes of its file."""
    name = model.name.encode()
    fixed = (model.owner, model.sharing, len(name), *model.rule, *model.counts)
    body = _FIXED.pack(MAGIC, VERSION, *fixed) + name + model.weights
    return body + _CHECKSUM.pack(zlib.crc32(body))


def unpack(data: bytes) -> Stored:
    """Take a file apart.

    Raises:
        DamagedError: it is not exactly a model.
    """
    try:
        magic, version, owner, sharing, length, threshold, limit, *counts = _FIXED.unpack_from(data)
        if magic != MAGIC or version != VERSION:
            raise DamagedError("not a model, or one of another version")
        at = _FIXED.size + length
        if len(data) != at + WEIGHTS + _CHECKSUM.size:
            raise DamagedError(f"{len(data)} bytes: want {at + WEIGHTS + _CHECKSUM.size}")
        if _CHECKSUM.unpack_from(data, at + WEIGHTS) != (zlib.crc32(data[: at + WEIGHTS]),):
            raise DamagedError("the checksum differs")
        name = data[_FIXED.size : at].decode("ascii")
        rule = check_rule(Rule(threshold, limit))
        weights = data[at : at + WEIGHTS]
        if not NAME.fullmatch(name):
            raise DamagedError("not a name")
        view = memoryview(weights).cast("b")
        if max(view) > limit or min(view) < -limit:
            raise DamagedError("a weight is beyond the limit")
        return Stored(name, owner, Sharing(sharing), rule, Counts(*counts), weights)
    except (struct.error, ValueError) as error:
        raise DamagedError(str(error)) from error


class Storage:
    """A folder of models, of one daemon.

    Args:
        folder: it exists.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> Iterator[Stored | str]:
        """Each model, or a sentence about a file that was put aside."""
        for path in sorted(self._folder.glob(f"*{ENDING}")):
            try:
                model = unpack(_read(path))
                if path.name != _file_name(model.owner, model.name):
                    raise DamagedError("the file has the name of another model")
            except (DamagedError, OSError) as error:
                with suppress(OSError):
                    path.replace(path.with_suffix(DAMAGED))
                yield f"{path} is put aside as {DAMAGED}: {error}"
                continue
            yield model

    def save(self, model: Stored) -> None:
        """Replace the model's file.

        Raises:
            OSError: it cannot be written; the file of before stays.
        """
        path = self._folder / _file_name(model.owner, model.name)
        new = path.with_suffix(".new")
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(pack(model))
                stream.flush()
                os.fsync(file)
            new.replace(path)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def delete(self, owner: int, name: str) -> None:
        """Delete the model's file, if there is one.

        Raises:
            OSError: it cannot be deleted.
        """
        (self._folder / _file_name(owner, name)).unlink(missing_ok=True)


def _file_name(owner: int, name: str) -> str:
    return f"{owner}-{name}{ENDING}"


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)
