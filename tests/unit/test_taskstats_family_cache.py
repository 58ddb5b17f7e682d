"""The number of the taskstats family between two collectors of one boot."""

import os
from pathlib import Path

import pytest
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.family_cache import FamilyCache

FAMILY = 31


def boot(root: Path, name: str) -> ProcFs:
    """A /proc of one boot."""
    file = root / "sys/kernel/random/boot_id"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{name}\n")
    return ProcFs(root)


@pytest.fixture
def cache(tmp_path: Path) -> FamilyCache:
    """A cache with a number in it."""
    made = FamilyCache(boot(tmp_path / "proc", "first"), tmp_path / "run/family")
    assert made.read() is None
    made.write(FAMILY)
    return made


def test_a_number_is_read_by_later_collectors_of_the_boot(
    cache: FamilyCache, tmp_path: Path
) -> None:
    assert cache.read() == FAMILY
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["family"]
    cache.write(FAMILY + 1)
    assert cache.read() == FAMILY + 1


def test_a_number_of_an_earlier_boot_is_not_read(cache: FamilyCache, tmp_path: Path) -> None:
    boot(tmp_path / "proc", "second")
    assert cache.read() is None


@pytest.mark.parametrize("content", ["", "first", "first x", "first 31 32", "first \xff"])
def test_a_damaged_file_is_not_read(cache: FamilyCache, tmp_path: Path, content: str) -> None:
    (tmp_path / "run/family").write_text(content, encoding="latin-1")
    assert cache.read() is None


def test_a_file_that_others_can_write_is_not_read(cache: FamilyCache, tmp_path: Path) -> None:
    (tmp_path / "run/family").chmod(0o666)
    assert cache.read() is None


def test_a_symbolic_link_is_not_followed(cache: FamilyCache, tmp_path: Path) -> None:
    (tmp_path / "run/family").rename(tmp_path / "run/elsewhere")
    (tmp_path / "run/family").symlink_to("elsewhere")
    assert cache.read() is None


def test_a_file_of_another_user_is_not_read(
    cache: FamilyCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert cache.read() is None


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    cache = FamilyCache(boot(tmp_path / "proc", "first"), tmp_path / "run/family")
    cache.write(FAMILY)
    assert cache.read() is None
