"""Models on disk: what is saved is loaded, what is damaged is put aside."""

import struct
import zlib
from pathlib import Path

import pytest
from tidscope_policies.perceptron import WEIGHTS, Rule
from tidscope_predictd.layout import Counts
from tidscope_predictd.messages import Sharing
from tidscope_predictd.models import DamagedError, Storage, Stored, pack, unpack

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
