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
    """A model in its stored form.

    Attributes:
        weights: weights of 16 tables of 1024 signed bytes.
    """

    name: str
    owner: int
    sharing: Sharing
    rule: Rule
    counts: Counts
    weights: bytes


class DamagedError(Exception):
    """The file is not a model of this version."""


def pack(model: Stored) -> bytes:
    """Encode a model as its file's bytes."""
    name = model.name.encode()
    fixed = (model.owner, model.sharing, len(name), *model.rule, *model.counts)
    body = _FIXED.pack(MAGIC, VERSION, *fixed) + name + model.weights
    return body + _CHECKSUM.pack(zlib.crc32(body))


def unpack(data: bytes) -> Stored:
    """Take a file apart.

    Raises:
        DamagedError: the data is not exactly one model.
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
    """Folder of one daemon's models.

    Args:
        folder: path of the folder, which exists.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> Iterator[Stored | str]:
        """Yield each model, or a message about a damaged file that was moved aside."""
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
            OSError: the file cannot be written; the old one is kept.
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
        """Delete the model's file if it exists.

        Raises:
            OSError: the file cannot be deleted.
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
    """A request that the client is not permitted to make.

    Attributes:
        status: status of the reply.
    """

    def __init__(self, status: Status) -> None:
        super().__init__(status.name)
        self.status = status


class SharedModel:
    """A model in shared memory.

    Args:
        name: name, unique per owner.
        owner: user ID of the owner.
        sharing: permissions of other users.
        rule: learning rule.

    Attributes:
        descriptor: descriptor of the memory, for clients.
        unsaved: whether the model changed since it was last saved.
    """

    def __init__(self, name: str, owner: int, sharing: Sharing, rule: Rule) -> None:
        self.name, self.owner, self.sharing, self.rule = name, owner, sharing, rule
        self.descriptor, self._memory = make_memory(rule)
        self.unsaved = True

    @property
    def counts(self) -> Counts:
        """Counts since the model's creation."""
        return self._memory.counts

    @property
    def closed(self) -> bool:
        """True if the model was deleted."""
        return self.descriptor < 0

    def weights(self) -> bytes:
        """Copy of all current weights."""
        return bytes(self._memory.weights)

    def predict(self, features: Sequence[int]) -> int:
        """Return the sum of the weights."""
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
        """Reset the weights of the features, or all weights without features."""
        if features:
            perceptron.reset(self._memory.weights, features)
        else:
            self._memory.clear()
        self._memory.counts = self.counts._replace(resets=self.counts.resets + 1)
        self.unsaved = True

    def restore(self, stored: Stored) -> None:
        """Load the stored weights and counts."""
        self._memory.weights[:] = memoryview(stored.weights).cast("b")
        self._memory.counts = stored.counts
        self.unsaved = False

    def share(self, sharing: Sharing) -> None:
        """Change the permissions of other users.

        The model moves to new memory if permissions are reduced; existing mappings stay valid but
        empty.
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
        """Return the model in its stored form."""
        return Stored(self.name, self.owner, self.sharing, self.rule, self.counts, self.weights())

    def close(self) -> None:
        """Mark the memory as stale for all clients that have it mapped."""
        self._memory.retire()
        self._memory.close()
        os.close(self.descriptor)
        self.descriptor = -1


class Models:
    """All models of a daemon.

    Args:
        administrators: user IDs with an owner's permissions on every model; root always has them.
    """

    def __init__(self, administrators: Collection[int] = ()) -> None:
        self._administrators = {0, *administrators}
        self._models: dict[tuple[int, str], SharedModel] = {}

    def __iter__(self) -> Iterator[SharedModel]:
        return iter(self._models.values())

    def may_administer(self, user: int, model: SharedModel) -> bool:
        """Return True if a user may share, reset and delete a model."""
        return user == model.owner or user in self._administrators

    def may(self, user: int, model: SharedModel, wanted: Sharing) -> bool:
        """Return True if a user may read, or write, a model."""
        return self.may_administer(user, model) or model.sharing >= wanted

    def open(self, user: int, request: Open) -> SharedModel:
        """Find a model, or create it if requested.

        Raises:
            RefusedError: the model does not exist, the user lacks permission, or there are too many
                models.
            OSError: memory for the model is exhausted.
        """
        owner = user if request.owner == OWN else request.owner
        model = self._models.get((owner, request.name))
        if model is not None:
            if not self.may(user, model, Sharing.READ):
                # Same answer as for a missing model: names of other users' models are private.
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
        """Create a stored model. Return False if there are too many."""
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
        """Close all models. Existing mappings stay readable."""
        self._models.clear()


def used_weights(weights: bytes) -> int:
    """Return the number of non-zero weights."""
    return WEIGHTS - weights.count(0)
