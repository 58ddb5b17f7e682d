"""Fixtures and settings for all tests.

What only some fixtures need is imported in them: the backend takes more than a second to load.
"""

from __future__ import annotations

import gc
import os
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from capabilities import failure_of_skip, missing
from hypothesis import settings
from loop_disk import LoopDisk, synced_disk
from programs.build import go_environment
from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator

    from installation import Installation
    from programs.known_work import KnownWork

DEEP = bool(os.environ.get("TIDSCOPE_DEEP_TESTS"))
"""True in `make test-deep`: properties get 200 examples, not 20, and other ones each time."""

# A busy machine makes an example slow, not wrong.
settings.register_profile(
    "patient", deadline=None, max_examples=200 if DEEP else 20, derandomize=not DEEP
)
settings.load_profile("patient")


# Backends keep sessions in the user's state folder: not in that of who runs the tests.
_STATE = tempfile.TemporaryDirectory(prefix="tidscope-tests-state-")
os.environ["XDG_STATE_HOME"] = os.environ["XDG_RUNTIME_DIR"] = _STATE.name

# Builds of commands and of tests share Go's standard library.
os.environ["GOCACHE"] = go_environment()["GOCACHE"]

MACHINE = {
    "test_budget",
    "test_delays",
    "test_doctor_kernel",
    "test_exits",
    "test_taskstats",
    "test_time_parts",
}
"""Files about what a machine has once: the delay accounting switch, all exits, the CPU budget."""

STACKS = {
    "test_stacks_failures",
    "test_stacks_native",
    "test_stacks_programs",
    "test_stacks_threads",
    "test_stacks_windows",
}
"""Files that load the unwinder often, which takes seconds of a processor."""

LONGEST = (
    "stacks",
    "test_proven_pools",
    "test_ab",
    "test_experiment_command",
    "test_steering_commands",
    "machine",
    "test_pools",
    "test_docs_commands",
    "test_stacks_runtimes",
    "test_goroutines",
    "test_setup",
    "test_extended_kernel",
    "test_stacks_hostile",
    "test_lock_advisor",
    "test_runs_killed",
    "test_steering",
    "test_hotrod",
    "test_openapi",
)
"""Groups of tests that take longest, by `make test-times`; the longest first."""


def group_of(nodeid: str) -> str:
    """The tests that run in one worker, one after the other: a file's, or those of several.

    By names, since xdist's own groups are lost under pytest 9: it no longer keeps changed node ids.
    """
    file = nodeid.partition("::")[0]
    stem = Path(file).stem
    return "machine" if stem in MACHINE else "stacks" if stem in STACKS else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest groups: a worker that begins one late ends after all others."""
    places = {name: place for place, name in enumerate(LONGEST)}

    def place_of(item: pytest.Item) -> int:
        return places.get(Path(group_of(item.nodeid)).stem, len(places))

    items.sort(key=place_of)


def pytest_collection_finish() -> None:
    """Exempt what was imported and collected from garbage collection, which lives to the end.

    Full collections then search a quarter of the objects.
    """
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Share the tests out to the workers."""
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = group_of
    return scheduler


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes name no test: the workers have to collect the same names, and gzip writes the time."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under CI no test is skipped unless allowed_skips.toml says why."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if failure := failure_of_skip(reason):
            report.outcome = "failed"
            report.longrepr = failure
    return report


@pytest.fixture
def known_work() -> Iterator[KnownWork]:
    """A running known_work program with its default amounts of work."""
    from programs.known_work import KnownWork

    with KnownWork() as program:
        yield program


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_installation() -> AsyncIterator[Installation]:
    """A backend and a collector with all rights, for the tests of one file."""
    from installation import installation

    async with installation() as found:
        # A shared page would fall behind, so each test has its own.
        await found.page.socket.close()
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def root(shared_installation: Installation) -> AsyncIterator[Installation]:
    """The file's installation with a new page; what a test attached is detached at its end.

    Its tests are marked ``asyncio(loop_scope="module")``. Targets of earlier tests stay listed.
    """
    from receiver import connected

    async with shared_installation.backend.page() as page:
        await connected(page)
        yield replace(shared_installation, page=page)
        await shared_installation.detach_all()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built once for all workers."""
    from built_wheel import shared_wheel

    return shared_wheel(tmp_path_factory)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[LoopDisk]:
    """A mounted file system for one test; skip the test where none can be mounted."""
    with ExitStack() as opened:
        try:
            made = opened.enter_context(synced_disk(tmp_path))
        except (OSError, subprocess.CalledProcessError) as error:
            raise missing("mount", str(getattr(error, "stderr", error)).strip()) from None
        yield made
