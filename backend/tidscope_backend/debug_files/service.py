"""Debug files for the stacks of live targets: finds missing ones, and reports those that came."""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.debug_files.cache import CacheError, DebugFileCache
from tidscope_backend.debug_files.fetching import Fetched, fetch, is_build_id
from tidscope_backend.processes import local_host_id
from tidscope_backend.settings import DebugFileSettings
from tidscope_backend.stacks.live import TargetStacks

_log = logging.getLogger(__name__)
EVERY_S = 2.0
"""Interval between two checks of the frames of targets, in seconds."""
SETTLE_S = 4.0
"""Time for which a frame may lack its line before a server is asked: files here are read first."""
LATER_S = 3600.0
"""Time after which servers are asked for a file again, in seconds. If files in use are more than
the cache holds, they are not fetched in turn."""
SOON_S = 300.0
"""Time after which servers that refused a file or did not answer are asked again, in seconds."""
PAUSE_S = 0.5
"""Pause between two requests. Programs may claim any number of build IDs."""
MAX_WAITING = 256
"""Maximum files that wait to be fetched; further ones are looked for later."""
MAX_REMEMBERED = 4096
"""Maximum files remembered that were asked for."""

Live = Callable[[], Iterable[tuple[Target, TargetStacks | None]]]
"""Returns attached targets, each with its stacks."""
Report = Callable[[Target, list[str]], Awaitable[object]]
"""Reports to the collector of a target which debug files it can read."""


class _Asked(NamedTuple):
    """A file that servers were asked for, when they may be asked again, and what came of it."""

    again_s: float
    fetched: Fetched


class _Seen:
    """Files with native frames of one target.

    Attributes:
        modules: names of the files, by build ID.
        nameless: files with frames without a function.
        since_s: when a frame without a line was first seen, by build ID.
        reported: files that were reported to the collector.
        used: files in the cache that were noted as used.
    """

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.nameless: set[str] = set()
        self.since_s: dict[str, float] = {}
        self.reported: set[str] = set()
        self.used: set[str] = set()


class DebugFiles:
    """Fetches debug files. Belongs to the event loop.

    Args:
        servers: addresses of debuginfod servers.
        cache: where the files are kept.
        live: targets.
        report: reports to collectors; raises ProblemError.
        clock: monotonic time, in seconds.
        host: ID of this machine; targets of others are left alone, as their collectors cannot read
            the files.

    Attributes:
        outcomes: number of files asked for, by outcome.
    """

    def __init__(
        self,
        servers: Sequence[str],
        cache: DebugFileCache,
        live: Live,
        report: Report,
        clock: Callable[[], float],
        host: str,
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self._servers, self._cache = servers, cache
        self._live, self._report, self._clock = live, report, clock
        self._host = host
        self._seen: dict[str, _Seen] = {}
        self._waiting: dict[str, str] = {}
        self._shared: dict[str, str] = {}
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._come = asyncio.Event()
        self._broken = ""

    async def run(self) -> None:
        """Find, fetch and report files, until cancelled."""
        try:
            await asyncio.to_thread(self._cache.open)
        except CacheError as error:
            self._broken = f"No debug files are fetched: {error}."
            _log.warning("%s", self._broken)
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._check_often())
            group.create_task(self._fetch_all())

    def note(self, target: str) -> str:
        """Return what is to be said about debug files of a target; empty if nothing is."""
        seen = self._seen.get(target)
        if self._broken or seen is None:
            return self._broken
        waiting = [seen.modules[one] for one in seen.since_s if one in self._waiting]
        asked = {one: self._asked[one].fetched for one in seen.since_s if one in self._asked}
        texts = [f"Debug files of {_list(waiting)} are being fetched."] if waiting else []
        absent = [
            seen.modules[one]
            for one, how in asked.items()
            if how.outcome == "not_found" and one in seen.nameless
        ]
        if absent:
            texts.append(f"The debuginfod servers have no debug file of {_list(absent)}.")
        failed = [how.text for how in asked.values() if how.outcome not in ("not_found", "fetched")]
        return " ".join([*texts, *dict.fromkeys(failed)])

    async def _check_often(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await self.check()

    async def check(self) -> None:
        """Find files whose debug files are missing, and report those that have come."""
        live = [
            (target, stacks)
            for target, stacks in self._live()
            if stacks is not None and target.host == self._host
        ]
        ids = {target.id for target, _ in live}
        self._seen = {name: seen for name, seen in self._seen.items() if name in ids}
        for target, stacks in live:
            frames = (await asyncio.to_thread(stacks.read)).frames
            seen = self._seen.setdefault(target.id, _Seen())
            modules, without, seen.nameless = files_of(frames)
            seen.modules = modules
            now = self._clock()
            seen.since_s = {one: seen.since_s.get(one, now) for one in without}
            come = await asyncio.to_thread(self._here, modules)
            for build_id in come - seen.used:
                self._cache.use(build_id)
            seen.used = come
            seen.reported &= come
            settled = [one for one, since_s in seen.since_s.items() if now - since_s >= SETTLE_S]
            for build_id in settled:
                if build_id not in come:
                    self._want(build_id, modules[build_id])
            await self._report_of(target, seen, [one for one in settled if one in come])

    def _here(self, modules: Mapping[str, str]) -> set[str]:
        """Return files whose debug file is in the cache, with its supplementary file."""

        def is_there(build_id: str) -> bool:
            is_awaited = self._shared.get(build_id) in self._waiting
            return self._cache.has(build_id) and not is_awaited

        return {one for one in modules if is_there(one)}

    async def _report_of(self, target: Target, seen: _Seen, come: Sequence[str]) -> None:
        new = [one for one in come if one not in seen.reported][:MAX_WAITING]
        if not new:
            return
        try:
            await self._report(target, new)
        except ProblemError as error:
            _log.info("frames of %s keep their names: %s", target.id, error)
        else:
            seen.reported |= set(new)

    def _want(self, build_id: str, module: str) -> None:
        asked = self._asked.get(build_id)
        if asked is not None and asked.again_s > self._clock():
            return
        if len(self._waiting) < MAX_WAITING and build_id not in self._waiting:
            self._waiting[build_id] = module
            self._come.set()

    async def _fetch_all(self) -> None:
        while True:
            self._come.clear()
            while self._waiting:
                await self.fetch_next()
                await asyncio.sleep(PAUSE_S)
            await self._come.wait()

    async def fetch_next(self) -> None:
        """Fetch the file that has waited longest; one must wait."""
        build_id, module = next(iter(self._waiting.items()))
        fetched = await fetch(self._servers, self._cache, build_id, module)
        self._take(build_id, module, fetched)
        del self._waiting[build_id]

    def _take(self, build_id: str, module: str, fetched: Fetched) -> None:
        self.outcomes[fetched.outcome] += 1
        is_final = fetched.outcome not in ("refused", "unreachable", "timeout", "failed")
        self._asked.pop(build_id, None)
        self._asked[build_id] = _Asked(self._clock() + (LATER_S if is_final else SOON_S), fetched)
        if len(self._asked) > MAX_REMEMBERED:
            self._shared.pop(self._asked.popitem(last=False)[0], None)
        if fetched.outcome != "fetched":
            _log.info("no debug file of %s (build ID %s): %s", module, build_id, fetched.text)
            return
        _log.info("fetched the debug file of %s (build ID %s)", module, build_id)
        if fetched.shared_id and not self._cache.has(fetched.shared_id):
            self._shared[build_id] = fetched.shared_id
            self._want(fetched.shared_id, module)


def open_debug_files(
    asked: DebugFileSettings | None, live: Live, report: Report, clock: Callable[[], float]
) -> DebugFiles | None:
    """Make what fetches debug files; None unless an operator asked for it.

    Args:
        asked: servers and cache.
        live: targets.
        report: reports to collectors; raises ProblemError.
        clock: monotonic time, in seconds.
    """
    if asked is None:
        return None
    cache = DebugFileCache(asked.folder, asked.max_bytes)
    return DebugFiles(asked.servers, cache, live, report, clock, local_host_id())


def files_of(frames: Table) -> tuple[dict[str, str], list[str], set[str]]:
    """Return names of files with native frames by build ID, and which lack lines or functions.

    Args:
        frames: rows of `stack_frames`.
    """
    modules: dict[str, str] = {}
    without: dict[str, None] = {}
    nameless: set[str] = set()
    for row in frames:
        build_id = str(row["build_id"])
        if row["kind"] == "native" and is_build_id(build_id):
            modules[build_id] = str(row["module"])
            if not row["line"]:
                without[build_id] = None
            if not row["function"]:
                nameless.add(build_id)
    return modules, list(without), nameless


def _list(names: Sequence[str], most: int = 3) -> str:
    """Return names as part of a sentence."""
    more = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {more} more" if more > 0 else shown
