"""Models of the prediction service: weights, store and perceptron."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from prediction_service import VECTORS
from tidscope_policies.perceptron import (
    ENTRIES,
    WEIGHTS,
    Predictor,
    Rule,
    named,
    places_of,
    rounded,
)
from tidscope_predictd.layout import Counts, map_memory
from tidscope_predictd.messages import OWN, Answer, Open, Sharing, Status
from tidscope_predictd.models import (
    MAX_OF_A_USER,
    DamagedError,
    Models,
    RefusedError,
    Storage,
    Stored,
    pack,
    unpack,
    used_weights,
)


@pytest.mark.parametrize(("feature", "entry"), VECTORS["entries"])
def test_entries(feature: int, entry: int) -> None:
    assert places_of([feature]) == [entry]
    assert places_of([0, 0, feature])[2] == 2 * ENTRIES + entry


@pytest.mark.parametrize(("number", "nearest"), VECTORS["rounded"])
def test_rounded(number: int, nearest: int) -> None:
    assert rounded(number) == nearest


@pytest.mark.parametrize(("text", "feature"), VECTORS["named"])
def test_named(text: str, feature: int) -> None:
    assert named(text) == feature


def test_consecutive_values_share_few_weights() -> None:
    """Chance would give a thousand sizes 640 different weights."""
    assert len({places_of([number])[0] for number in range(1000)}) > 850


def test_the_script() -> None:
    predictor = Predictor(Rule())
    for step in VECTORS["script"]:
        if step["do"] == "predict":
            assert predictor.predict(step["features"]) == step["sum"], step
        elif step["do"] == "reset":
            predictor.reset(step["features"] or None)
        else:
            predictor.update(step["features"], answer=step["do"] == "yes")


def test_it_learns_an_answer_and_its_opposite() -> None:
    predictor = Predictor(Rule(threshold=4))
    assert predictor.predict([70, 1]) == 0
    predictor.update([70, 1], answer=True)
    assert predictor.predict([70, 1]) == 2
    assert predictor.predict([70, 2]) == 1
    for _ in range(10):
        predictor.update([70, 1], answer=True)
    assert predictor.predict([70, 1]) == 6
    for _ in range(10):
        predictor.update([70, 1], answer=False)
    assert predictor.predict([70, 1]) == -6


def test_only_wrong_or_uncertain_answers_change_weights() -> None:
    predictor = Predictor(Rule(threshold=0))
    predictor.update([1], answer=True)
    predictor.update([1], answer=True)
    assert predictor.predict([1]) == 1
    predictor.update([1], answer=False)
    assert predictor.predict([1]) == 0


def test_weights_are_clamped() -> None:
    predictor = Predictor(Rule(threshold=1000, limit=5))
    for _ in range(50):
        predictor.update([1, 2, 3], answer=True)
    assert predictor.predict([1, 2, 3]) == 15


def test_a_literal_update_would_never_say_no() -> None:
    """The prediction is no where the answer always is."""
    predictor = Predictor(Rule(threshold=3))
    for _ in range(20):
        predictor.update([9], answer=False)
    assert predictor.predict([9]) == -4


def test_reset_forgets_what_is_named_or_everything() -> None:
    predictor = Predictor(Rule(threshold=9))
    predictor.update([7], answer=True)
    predictor.update([8], answer=True)
    predictor.reset([7])
    assert (predictor.predict([7]), predictor.predict([8])) == (0, 1)
    predictor.reset()
    assert predictor.predict([8]) == 0


def test_one_predictor_serves_several_knobs() -> None:
    predictor = Predictor(Rule(threshold=8))
    pool, cache = named("pool"), named("cache")
    for _ in range(20):
        predictor.update([pool + 4, pool + 5], answer=True)
        predictor.update([cache + 4, cache + 5], answer=False)
    assert predictor.predict([pool + 4, pool + 5]) > 8
    assert predictor.predict([cache + 4, cache + 5]) < -8


@pytest.mark.parametrize("count", [0, 17])
def test_number_of_features(count: int) -> None:
    predictor = Predictor(Rule())
    with pytest.raises(ValueError, match="want 1 to 16"):
        predictor.predict([1] * count)
    with pytest.raises(ValueError, match="want 1 to 16"):
        predictor.update([1] * count, answer=True)


@pytest.mark.parametrize("rule", [Rule(-1), Rule(2033), Rule(8, 0), Rule(8, 128)])
def test_rules_out_of_bounds(rule: Rule) -> None:
    with pytest.raises(ValueError, match="want"):
        Predictor(rule)


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


MODEL = Stored(
    "cache",
    1000,
    Sharing.READ,
    Rule(9, 31),
    Counts(5, 3, 1, 2),
    bytes([1, 255, 31, 225]) + bytes(WEIGHTS - 4),
)


def checked(body: bytes) -> bytes:
    """A file with a good checksum."""
    return body + struct.pack("<I", zlib.crc32(body))


def test_what_is_packed_is_unpacked() -> None:
    assert unpack(pack(MODEL)) == MODEL


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(MODEL._replace(counts=Counts()))
    storage.save(MODEL)
    assert list(storage.load()) == [MODEL]
    assert [path.name for path in tmp_path.iterdir()] == ["1000-cache.model"]
    assert (tmp_path / "1000-cache.model").stat().st_mode & 0o777 == 0o600
    storage.delete(MODEL.owner, MODEL.name)
    storage.delete(MODEL.owner, MODEL.name)
    assert list(storage.load()) == []


def test_every_changed_bit_is_seen() -> None:
    data = pack(MODEL)
    for place in (0, 9, 13, 17, 18, 25, 55, 60, 70, 5000, len(data) - 1):
        changed = bytearray(data)
        changed[place] ^= 4
        with pytest.raises(DamagedError):
            unpack(bytes(changed))


@pytest.mark.parametrize("size", [0, 10, 56, 5000])
def test_what_is_cut_off_is_damaged(size: int) -> None:
    with pytest.raises(DamagedError):
        unpack(pack(MODEL)[:size])


@pytest.mark.parametrize(
    "model",
    [
        MODEL._replace(name=".."),
        MODEL._replace(rule=Rule(9, 30)),
        MODEL._replace(rule=Rule(9, 128)),
        MODEL._replace(name="größe"),
    ],
    ids=["name", "weight", "limit", "not ASCII"],
)
def test_a_good_checksum_is_not_enough(model: Stored) -> None:
    with pytest.raises(DamagedError):
        unpack(pack(model))


def test_an_unknown_sharing_or_version_is_damaged() -> None:
    body = bytearray(pack(MODEL)[:-4])
    body[16] = 7
    with pytest.raises(DamagedError, match="Sharing"):
        unpack(checked(bytes(body)))
    body = bytearray(pack(MODEL)[:-4])
    body[8] = 2
    with pytest.raises(DamagedError, match="version"):
        unpack(checked(bytes(body)))


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "1-other.model").write_bytes(pack(MODEL))
    (tmp_path / "2-half.model").write_bytes(pack(MODEL)[:100])
    (tmp_path / "folder.model").mkdir()
    said = list(Storage(tmp_path).load())
    assert len(said) == 3
    assert "name of another" in str(said[0])
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".damaged"] * 3


def test_a_failed_save_leaves_the_file_of_before(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.save(MODEL)
    (tmp_path / "1000-cache.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        storage.save(MODEL._replace(counts=Counts()))
    assert MODEL in list(storage.load())
