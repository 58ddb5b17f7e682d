"""The daemon's models, in memory and on disk: owners, permissions and bounds."""

import os
import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tidscope_policies import perceptron
from tidscope_policies.perceptron import WEIGHTS, Rule, check_rule

from tidscope_predictd.layout import Counts, make_memory
from tidscope_predictd.messages import NAME, OWN, Answer, Open, Sharing, Status

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


MAX_MODELS = 256
MAX_OF_A_USER = 64


class RefusedError(Exception):
    """What a client may not have.

    Attributes:
        status: for the reply.
    """

    def __init__(self, status: Status) -> None:
        super().__init__(status.name)
        self.status = status


class SharedModel:
    """One model, in memory that clients read.

    Args:
        name: unique among those of its owner.
        owner: user id.
        sharing: what others may do.
        rule: how it learns.

    Attributes:
        descriptor: of the memory, for clients.
        unsaved: whether it changed since it was saved.
    """

    def __init__(self, name: str, owner: int, sharing: Sharing, rule: Rule) -> None:
        self.name, self.owner, self.sharing, self.rule = name, owner, sharing, rule
        self.descriptor, self._memory = make_memory(rule)
        self.unsaved = True

    @property
    def counts(self) -> Counts:
        """What happened to it."""
        return self._memory.counts

    @property
    def closed(self) -> bool:
        """Whether it was deleted."""
        return self.descriptor < 0

    def weights(self) -> bytes:
        """All weights as they are now."""
        return bytes(self._memory.weights)

    def predict(self, features: Sequence[int]) -> int:
        """The sum of the weights."""
        return perceptron.predict(self._memory.weights, features)

    def learn(self, answers: Collection[Answer]) -> None:
        """Learn from answers, in order."""
        hits = undecided = 0
        for features, answer in answers:
            total = perceptron.update(self._memory.weights, self.rule, features, answer=answer)
            hits += total != 0 and (total > 0) == answer
            undecided += total == 0
        before = self.counts
        self._memory.counts = before._replace(
            updates=before.updates + len(answers),
            hits=before.hits + hits,
            undecided=before.undecided + undecided,
        )
        self.unsaved = True

    def reset(self, features: Sequence[int]) -> None:
        """Forget what the features pick, or everything if there are none."""
        if features:
            perceptron.reset(self._memory.weights, features)
        else:
            self._memory.clear()
        self._memory.counts = self.counts._replace(resets=self.counts.resets + 1)
        self.unsaved = True

    def restore(self, stored: Stored) -> None:
        """Take over what was stored."""
        self._memory.weights[:] = memoryview(stored.weights).cast("b")
        self._memory.counts = stored.counts
        self.unsaved = False

    def share(self, sharing: Sharing) -> None:
        """Change what others may do. Where they may do less, the model moves to new memory: what
        they have mapped stays mapped, but is empty from now on.
        """
        if sharing < self.sharing:
            weights, counts = self.weights(), self.counts
            descriptor, memory = make_memory(self.rule)
            self.close()
            self.descriptor, self._memory = descriptor, memory
            memory.weights[:] = memoryview(weights).cast("b")
            memory.counts = counts
        self.sharing = sharing
        self.unsaved = True

    def stored(self) -> Stored:
        """As it is kept on disk."""
        return Stored(self.name, self.owner, self.sharing, self.rule, self.counts, self.weights())

    def close(self) -> None:
        """Say to all who have it mapped that nobody writes it any more."""
        self._memory.retire()
        self._memory.close()
        os.close(self.descriptor)
        self.descriptor = -1


class Models:
    """All models of a daemon.

    Args:
        administrators: user ids that may do with every model what its owner may; root always.
    """

    def __init__(self, administrators: Collection[int] = ()) -> None:
        self._administrators = {0, *administrators}
        self._models: dict[tuple[int, str], SharedModel] = {}

    def __iter__(self) -> Iterator[SharedModel]:
        return iter(self._models.values())

    def may_administer(self, user: int, model: SharedModel) -> bool:
        """Whether a user may share, reset and delete a model."""
        return user == model.owner or user in self._administrators

    def may(self, user: int, model: SharedModel, wanted: Sharing) -> bool:
        """Whether a user may read, or write, a model."""
        return self.may_administer(user, model) or model.sharing >= wanted

    def open(self, user: int, request: Open) -> SharedModel:
        """Find a model, or make it if that is asked for.

        Raises:
            RefusedError: it is not there, not for this user, or there are too many.
            OSError: there is no memory for it.
        """
        owner = user if request.owner == OWN else request.owner
        model = self._models.get((owner, request.name))
        if model is not None:
            if not self.may(user, model, Sharing.READ):
                # As if it were not there: names of others' models are theirs.
                raise RefusedError(Status.NOT_FOUND)
            return model
        if not request.create:
            raise RefusedError(Status.NOT_FOUND)
        if owner != user:
            raise RefusedError(Status.NOT_PERMITTED)
        of_user = sum(one.owner == owner for one in self)
        if len(self._models) >= MAX_MODELS or of_user >= MAX_OF_A_USER:
            raise RefusedError(Status.FULL)
        made = SharedModel(request.name, owner, request.sharing, request.rule)
        self._models[owner, request.name] = made
        return made

    def restore(self, stored: Stored) -> bool:
        """Make a model that was stored; False if there are too many."""
        if len(self._models) >= MAX_MODELS:
            return False
        made = SharedModel(stored.name, stored.owner, stored.sharing, stored.rule)
        made.restore(stored)
        self._models[stored.owner, stored.name] = made
        return True

    def delete(self, model: SharedModel) -> None:
        """Forget a model."""
        del self._models[model.owner, model.name]
        model.close()

    def close(self) -> None:
        """Close all. Their weights stay readable to those who have them mapped."""
        self._models.clear()


def used_weights(weights: bytes) -> int:
    """How many weights are not 0."""
    return WEIGHTS - weights.count(0)
