"""Debug files from debuginfod servers: addresses, the cache, and which files are wanted."""

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from backend_builders import target as a_target
from tidscope_backend.cli.debug_file_options import (
    add_debug_file_options,
    debug_file_arguments,
    debug_file_settings,
)
from tidscope_backend.debug_files import service
from tidscope_backend.debug_files.cache import CacheError, DebugFileCache
from tidscope_backend.debug_files.fetching import Fetched
from tidscope_backend.debug_files.servers import BadServerError, servers_of
from tidscope_backend.debug_files.service import DebugFiles
from tidscope_backend.stacks.live import TargetStacks
from tidscope_backend.stacks.tables import StackTables, no_stacks
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.models import Target

BANK, LIBC, SHARED = "ab" * 20, "cd" * 20, "ef" * 20


def test_servers_come_from_the_option_and_from_the_environment_only_if_asked() -> None:
    environ = {"DEBUGINFOD_URLS": "https://one.example http://two.example:8002/sub/"}
    assert servers_of([], environ) == ()
    assert servers_of([""], environ) == ("https://one.example", "http://two.example:8002/sub")
    assert servers_of(["http://three.example"], environ) == ("http://three.example",)


@pytest.mark.parametrize(
    "address",
    [
        *("file:///etc", "ftp://a", "one.example", "http://", "http://a:0", "http://a:b"),
        *("http://user:word@a", "http://a/?x", "http://[", "ima:enforcing"),
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(BadServerError, match=r"is no address|only scheme"):
        servers_of([address], {})


def test_an_empty_variable_is_said() -> None:
    with pytest.raises(BadServerError, match="DEBUGINFOD_URLS is empty"):
        servers_of([""], {})


def filled(cache: DebugFileCache, build_id: str, size: int, used_s: int) -> None:
    cache.partial.write_bytes(bytes(size))
    cache.keep(build_id)
    os.utime(cache._path(build_id), (used_s, used_s))


def test_the_files_used_longest_ago_make_room(tmp_path: Path) -> None:
    cache = DebugFileCache(tmp_path / "a" / "debug", 1000)
    cache.open()
    for used_s, build_id in enumerate((BANK, LIBC, SHARED)):
        filled(cache, build_id, 300, used_s)
    cache.use(BANK)
    filled(cache, "01" * 20, 400, 9)
    assert [cache.has(one) for one in (BANK, LIBC, SHARED, "01" * 20)] == [True, False, True, True]
    assert cache.bytes() == 1000
    assert oct((tmp_path / "a" / "debug" / ".build-id").stat().st_mode & 0o777) == "0o700"


def test_a_folder_of_others_is_no_cache(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(CacheError, match="open to others"):
        DebugFileCache(tmp_path, 1000).open()
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(CacheError, match="is not a folder of this user"):
        DebugFileCache(tmp_path / "link", 1000).open()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CacheError, match="cannot be made"):
        DebugFileCache(tmp_path / "file" / "debug", 1000).open()


class Seen(TargetStacks):
    """Stacks with these frames: (build ID, module, line)."""

    def __init__(self, *rows: tuple[str, str, int]) -> None:
        super().__init__(0, 1)
        self.rows: Iterable[tuple[str, str, int]] = rows

    def read(self) -> StackTables:
        """See TargetStacks."""
        frames = [
            (place, "native", "", "", line, module, 16, build_id, "")
            for place, (build_id, module, line) in enumerate(self.rows, 1)
        ]
        return no_stacks()._replace(frames=np.array(frames, dtype_of("stack_frames")))


class Asked:
    """A service of one target, with servers that answer as the test says."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.stacks = Seen()
        self.now_s = 0.0
        self.reported: list[list[str]] = []
        self.answers: dict[str, Fetched] = {}
        self.requests: list[str] = []
        self.cache = DebugFileCache(folder / "debug", 1 << 20)
        self.cache.open()
        patch.setattr(service, "fetch", self._fetch)
        target = a_target()
        self.files = DebugFiles(
            *(("http://one.example",), self.cache, lambda: [(target, self.stacks)]),
            *(self._report, lambda: self.now_s, target.host),
        )
        self.target = target

    async def _fetch(self, servers: object, cache: object, build_id: str, module: str) -> Fetched:
        self.requests.append(build_id)
        answer = self.answers.get(build_id, Fetched("not_found", f"none of {module}"))
        if answer.outcome == "fetched":
            filled(self.cache, build_id, 10, 1)
        return answer

    async def _report(self, target: Target, build_ids: list[str]) -> None:
        self.reported.append(build_ids)

    async def after(self, seconds: float) -> None:
        """Check, and fetch what is wanted."""
        self.now_s += seconds
        await self.files.check()
        while self.files._waiting:
            await self.files.fetch_next()


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(tmp_path, monkeypatch)


async def test_a_file_is_fetched_if_its_frames_still_lack_lines(asked: Asked) -> None:
    asked.stacks.rows = [(BANK, "bank", 0), (LIBC, "libc.so.6", 7), ("", "old", 0)]
    asked.answers[BANK] = Fetched("fetched")
    await asked.after(0)
    assert asked.requests == []
    await asked.after(5)
    assert asked.requests == [BANK]
    await asked.after(2)
    await asked.after(2)
    assert asked.reported == [[BANK]]
    assert asked.files.outcomes == {"fetched": 1}
    assert asked.files.note(asked.target.id) == ""


async def test_the_supplementary_file_is_fetched_before_it_is_reported(asked: Asked) -> None:
    asked.stacks.rows = [(BANK, "bank", 0)]
    asked.answers = {BANK: Fetched("fetched", "", SHARED), SHARED: Fetched("fetched")}
    await asked.after(0)
    await asked.after(5)
    assert asked.requests == [BANK, SHARED]
    await asked.after(2)
    assert asked.reported == [[BANK]]


async def test_failures_are_said_and_not_repeated_at_once(asked: Asked) -> None:
    asked.stacks.rows = [(BANK, "bank", 0), (LIBC, "libc.so.6", 0)]
    asked.answers[LIBC] = Fetched("refused", "one.example refused it: status 503.")
    await asked.after(0)
    await asked.after(5)
    await asked.after(5)
    assert asked.requests == [BANK, LIBC]
    assert asked.files.note(asked.target.id) == (
        "The debuginfod servers have no debug file of bank. one.example refused it: status 503."
    )
    await asked.after(service.SOON_S)
    assert asked.requests == [BANK, LIBC, LIBC]
    await asked.after(service.LATER_S)
    assert asked.requests == [BANK, LIBC, LIBC, BANK, LIBC]
    assert asked.reported == []


async def test_a_cache_that_is_too_small_does_not_fetch_in_turn(asked: Asked) -> None:
    asked.stacks.rows = [(BANK, "bank", 0)]
    asked.answers[BANK] = Fetched("fetched")
    await asked.after(0)
    await asked.after(5)
    asked.cache._path(BANK).unlink()
    await asked.after(5)
    assert asked.requests == [BANK]


def test_up_hands_its_options_on(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_debug_file_options(parser)
    environ = {"HOME": str(tmp_path), "DEBUGINFOD_URLS": "https://one.example"}
    assert debug_file_settings(parser.parse_args([]), environ) is None
    given = ["--debuginfod", "--debuginfod", "http://two.example", "--debug-files-gib", "0.5"]
    found = debug_file_settings(parser.parse_args(given), environ)
    assert found is not None
    assert found.servers == ("https://one.example", "http://two.example")
    assert found.folder == tmp_path / ".cache" / "tidscope" / "debug"
    assert found.max_bytes == 1 << 29
    handed = parser.parse_args(debug_file_arguments(found))
    assert debug_file_settings(handed, {}) == found
