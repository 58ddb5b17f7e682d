"""The daemon's models: whose they are, who may do what, and how many there may be."""

import os
from collections.abc import Collection, Iterator, Sequence

from tidscope_predictd.layout import Counts, make_memory
from tidscope_predictd.messages import OWN, Answer, Open, Sharing, Status
from tidscope_predictd.model import perceptron
from tidscope_predictd.model.perceptron import WEIGHTS, Rule
from tidscope_predictd.storage import Stored

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
