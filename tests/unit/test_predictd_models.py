"""Who may do what with the daemon's models, and how many there may be."""

from collections.abc import Iterator

import pytest
from tidscope_policies.perceptron import WEIGHTS, Rule
from tidscope_predictd.layout import Counts, map_memory
from tidscope_predictd.messages import OWN, Answer, Open, Sharing, Status
from tidscope_predictd.models import MAX_OF_A_USER, Models, RefusedError, Stored, used_weights

OWNER, OTHER, ADMINISTRATOR, ROOT = 1000, 1001, 990, 0


@pytest.fixture
def models() -> Iterator[Models]:
    made = Models([ADMINISTRATOR])
    yield made
    for model in list(made):
        made.delete(model)


def status_of(models: Models, user: int, request: Open) -> Status:
    with pytest.raises(RefusedError) as refused:
        models.open(user, request)
    return refused.value.status


def test_a_model_is_its_owners(models: Models) -> None:
    made = models.open(OWNER, Open("a", create=True))
    assert models.open(OWNER, Open("a", owner=OWNER)) is made
    assert models.open(ROOT, Open("a", owner=OWNER)) is made
    assert models.open(ADMINISTRATOR, Open("a", owner=OWNER)) is made
    assert status_of(models, OTHER, Open("a", owner=OWNER)) is Status.NOT_FOUND
    assert models.open(OTHER, Open("a", create=True)) is not made
    assert status_of(models, OTHER, Open("b", owner=OWNER, create=True)) is Status.NOT_PERMITTED
    assert status_of(models, OWNER, Open("b", owner=OWN)) is Status.NOT_FOUND


@pytest.mark.parametrize(
    ("user", "sharing", "rights"),
    [
        (OWNER, Sharing.OFF, (True, True, True)),
        (ADMINISTRATOR, Sharing.OFF, (True, True, True)),
        (ROOT, Sharing.OFF, (True, True, True)),
        (OTHER, Sharing.OFF, (False, False, False)),
        (OTHER, Sharing.READ, (True, False, False)),
        (OTHER, Sharing.WRITE, (True, True, False)),
    ],
)
def test_rights(
    user: int, sharing: Sharing, rights: tuple[bool, bool, bool], models: Models
) -> None:
    model = models.open(OWNER, Open("a", create=True, sharing=sharing))
    assert (
        models.may(user, model, Sharing.READ),
        models.may(user, model, Sharing.WRITE),
        models.may_administer(user, model),
    ) == rights


def test_a_user_has_so_many_models(models: Models) -> None:
    for number in range(MAX_OF_A_USER):
        models.open(OWNER, Open(f"m{number}", create=True))
    assert status_of(models, OWNER, Open("more", create=True)) is Status.FULL
    assert models.open(OTHER, Open("more", create=True))


def test_clients_see_what_is_learnt_and_when_it_is_closed(models: Models) -> None:
    model = models.open(OWNER, Open("a", create=True, rule=Rule(2, 5), sharing=Sharing.WRITE))
    memory = map_memory(model.descriptor)
    model.learn([Answer((1, 2), True), Answer((1, 2), True), Answer((1,), False)])
    assert model.predict((1, 2)) == sum(memory.weights) == 3
    assert memory.counts == Counts(updates=3, hits=1, undecided=1)
    assert (memory.rule, memory.closed, used_weights(model.weights())) == (Rule(2, 5), False, 2)
    model.reset((1,))
    assert (sum(memory.weights), memory.counts.resets) == (2, 1)
    model.share(Sharing.OFF)
    assert (memory.closed, sum(memory.weights)) == (True, 0)
    assert model.predict((1, 2)) == 2
    memory.close()
    memory = map_memory(model.descriptor)
    model.share(Sharing.READ)
    assert not memory.closed
    model.reset(())
    assert (sum(memory.weights), memory.counts.resets) == (0, 2)
    memory.close()


def test_a_stored_model_is_restored(models: Models) -> None:
    weights = b"\xff" * WEIGHTS
    stored = Stored("a", OWNER, Sharing.READ, Rule(), Counts(4, 3, 2, 1), weights)
    assert models.restore(stored)
    model = models.open(OTHER, Open("a", owner=OWNER))
    assert (model.stored(), model.unsaved) == (stored, False)
