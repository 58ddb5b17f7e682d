"""An experiment as a child of the backend: at most one, of a file in a configured folder."""

import asyncio
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tidscope_wire.generated.models import (
    ExperimentChild,
    ExperimentLength,
    ExperimentPreset,
    StartableExperiment,
)
from tidscope_wire.problems import refusal

from tidscope_backend.processes import bound_to_parent, run_module
from tidscope_backend.settings import BROWSER_VARIABLE, RUNS_VARIABLE, Settings

FILE = re.compile(r"^[a-z0-9][a-z0-9_-]{0,99}\.toml$", re.IGNORECASE)
"""Names of files that can be started."""
MAX_FILES = 100
PRESETS: Sequence[ExperimentPreset] = ("full", "short", "quick")
END_SECONDS = 30.0
"""Time for ending its programs, after which an experiment is killed."""
MESSAGES, MESSAGE_BYTES = 8, 8192
BETWEEN_REPEATS_S = 3.0
"""Time for starting and ending the programs of a repeat, about, in seconds."""


def startable(folders: Sequence[Path]) -> list[StartableExperiment]:
    """Return the files of the folders by name; the first of two with the same name."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            if FILE.match(path.name) and path.is_file():
                found.setdefault(path.stem, path)
    names = sorted(found)[:MAX_FILES]
    return [_described(name, found[name], found[name].stat().st_mtime_ns) for name in names]


@lru_cache(maxsize=MAX_FILES)
def _described(name: str, path: Path, changed_ns: int) -> StartableExperiment:
    """Return what a file can do; `changed_ns` invalidates the cache."""
    _ = changed_ns
    from tidscope_backend.experiments.definition import read_definition
    from tidscope_backend.experiments.matrix import cells_of
    from tidscope_backend.experiments.workload import ExperimentError, workloads_folder

    title, problem, lengths = "", "", list[ExperimentLength]()
    for preset in PRESETS:
        try:
            one = read_definition(path, workloads_folder(), preset=preset)
        except ExperimentError as error:
            if preset == "full":
                problem = str(error)
            continue
        title, least_s = one.title, None
        if one.variants is None:
            each_s = one.warm_up_s + one.time.measure_s + BETWEEN_REPEATS_S
            least_s = len(cells_of(one)) * one.repeats.least * each_s
        lengths.append(ExperimentLength(preset=preset, least_s=least_s))
    return StartableExperiment(
        name=name, title=title, lengths=[] if problem else lengths, problem=problem
    )


def path_of(folders: Sequence[Path], name: str) -> Path | None:
    """Return the file of that name, or None. The name is no path."""
    if not FILE.match(f"{name}.toml"):
        return None
    paths = (folder / f"{name}.toml" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


@dataclass
class _Started:
    """The child that was started last, and the descriptor of its messages."""

    name: str
    preset: ExperimentPreset
    process: asyncio.subprocess.Process
    messages: int
    unix_us: int


class ExperimentProcess:
    """Starts and ends `tidscope experiment`, with this backend.

    Args:
        settings: settings of the backend.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started: _Started | None = None
        self._changing = asyncio.Lock()

    async def start(
        self, name: str, preset: ExperimentPreset, address: tuple[str, int]
    ) -> ExperimentChild:
        """Start an experiment.

        Args:
            name: name of a startable file.
            preset: how much of it to carry out.
            address: host and port of this backend.

        Raises:
            ProblemError: there is no such file, or one is running.
        """
        async with self._changing:
            now = self._started
            if now is not None and now.process.returncode is None:
                raise refusal(
                    "experiment-running", f"{now.name} is running", "Wait for it, or end it."
                )
            path = path_of(self._settings.experiment_dirs, name)
            if path is None:
                raise refusal(
                    "unknown-experiment",
                    f"no configured folder has a file {name}.toml",
                    "Choose one of the files of the Experiments page.",
                )
            messages = os.memfd_create("experiment")
            try:
                process = await asyncio.create_subprocess_exec(
                    *bound_to_parent(_command(path, preset, address)),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=messages,
                    env=self._environment(),
                    start_new_session=True,
                )
            except BaseException:
                os.close(messages)
                raise
            unix_us = time.time_ns() // 1000
            self._started = _Started(name, preset, process, messages, unix_us)
            if now is not None:
                os.close(now.messages)
            return self._shown(self._started)

    @property
    def child(self) -> ExperimentChild | None:
        """The experiment that was started last, or None."""
        return None if self._started is None else self._shown(self._started)

    async def stop(self) -> None:
        """End the experiment if it is running. Its journal stays whole, and can be resumed."""
        async with self._changing:
            if self._started is None:
                return
            process = self._started.process
            if process.returncode is not None:
                return
            with suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), END_SECONDS)
            except TimeoutError:
                # The programs of the experiment end with it.
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def _environment(self) -> dict[str, str]:
        own = {BROWSER_VARIABLE: self._settings.token}
        if self._settings.runs_dir is not None:
            own[RUNS_VARIABLE] = str(self._settings.runs_dir)
        return {**os.environ, **own}

    def _shown(self, one: _Started) -> ExperimentChild:
        length = os.fstat(one.messages).st_size
        start = max(0, length - MESSAGE_BYTES)
        said = os.pread(one.messages, MESSAGE_BYTES, start)
        return ExperimentChild(
            name=one.name,
            preset=one.preset,
            exit_code=one.process.returncode,
            started_unix_us=one.unix_us,
            messages=said.decode(errors="replace").splitlines()[-MESSAGES:],
        )


def _command(path: Path, preset: ExperimentPreset, address: tuple[str, int]) -> list[str]:
    place = ("--host", address[0], "--port", str(address[1]))
    length = () if preset == "full" else (f"--{preset}",)
    return run_module("tidscope_backend", "experiment", *place, *length, str(path))
