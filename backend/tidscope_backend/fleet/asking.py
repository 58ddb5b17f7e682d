"""Asks questions about many hosts: starts the process that answers them, and bounds its time."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.fleet.answering import LENGTH
from tidscope_backend.fleet.recent_roles import RecentRoles
from tidscope_backend.processes import bound_to_parent, run_module
from tidscope_backend.store.disk import SharedReads

PROGRAM = "tidscope_backend.fleet.answering"
TIMEOUT_S = 60.0
"""Maximum time of a question, start of the process included, in seconds; it is then killed."""
IDLE_S = 120.0
"""Time without questions after which the process ends, in seconds."""
FRESH_S = 5.0
"""Age up to which an answer serves the same question again, in seconds."""
MAX_ANSWERS = 32
"""Number of kept answers; each is up to some megabytes."""
MAX_ANSWER_BYTES = 64 << 20


class Questions:
    """Asks one question at a time; equal ones share an answer.

    Args:
        folder: folder of the table; None without a runs directory.
        recent: rows in memory.
        live: returns what is known of hosts whose collectors are connected, by ID.
        wrong_clocks: returns which hosts have rows at other times; None if all clocks are right.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        folder: Path | None,
        recent: RecentRoles,
        live: Callable[[], Mapping[str, Any]],
        wrong_clocks: Callable[[], str | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._recent, self._live, self._clock = folder, recent, live, clock
        self._wrong_clocks = wrong_clocks
        self._shared: SharedReads[str] = SharedReads()
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._answers: dict[str, tuple[float, str]] = {}

    async def ask(self, name: str, **arguments: Any) -> str:
        """Return the answer as JSON.

        Args:
            name: wall, across or compare.
            **arguments: window, and what the question takes (answering.py).

        Raises:
            ProblemError: it took too long or too much memory, or failed.
        """
        key = json.dumps([name, arguments], sort_keys=True)
        kept = self._answers.get(key)
        if kept is not None and self._clock() - kept[0] < FRESH_S:
            return kept[1]
        return await self._shared.get(key, lambda: self._asked(key, name, arguments))

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _asked(self, key: str, name: str, arguments: Mapping[str, Any]) -> str:
        async with self._turn:
            question = {
                "name": name,
                "folder": None if self._folder is None else str(self._folder),
                "live": self._live() if name == "wall" else {},
                "kept": self._recent.kept,
                "wrong_clocks": self._wrong_clocks(),
                **arguments,
            }
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    reply = await self._exchange(json.dumps(question).encode())
            except TimeoutError:
                await self._end()
                detail = f"the answer took longer than {TIMEOUT_S:g} s"
                raise _unavailable(detail, "Ask for a shorter window.") from None
            except (OSError, EOFError, ValueError):
                await self._end()
                detail = "the process that reads totals by role ended"
                raise _unavailable(detail, "Ask for a shorter window; its log says more.") from None
            except asyncio.CancelledError:
                await self._end()
                raise
            self._end_later()
        if "answer" not in reply:
            detail = f"the totals by role cannot be read ({reply.get('failed')})"
            raise _unavailable(detail, "Ask for a shorter window; the backend's log says more.")
        answer: str = reply["answer"]
        self._keep(key, answer)
        return answer

    def _keep(self, key: str, answer: str) -> None:
        self._answers.pop(key, None)
        self._answers[key] = self._clock(), answer
        limit = self._clock() - FRESH_S
        for old in [one for one, (at, _) in self._answers.items() if at < limit]:
            del self._answers[old]
        while len(self._answers) > MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]

    async def _exchange(self, question: bytes) -> dict[str, Any]:
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await asyncio.create_subprocess_exec(
                *bound_to_parent(run_module(PROGRAM)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")},
            )
        sink, source = process.stdin, process.stdout
        if sink is None or source is None:
            raise EOFError
        for message in (question, stream_of(self._recent.table())):
            sink.write(LENGTH.pack(len(message)))
            sink.write(message)
        await sink.drain()
        (length,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
        if length > MAX_ANSWER_BYTES:
            raise ValueError("answer too long")
        found: dict[str, Any] = json.loads(await source.readexactly(length))
        return found

    def _end_later(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        loop = asyncio.get_running_loop()
        self._ending = loop.call_later(IDLE_S, self._end_idle)

    def _end_idle(self) -> None:
        if not self._turn.locked() and self._process is not None and self._process.stdin:
            # The process ends with its input.
            self._process.stdin.close()
            self._process = None

    async def _end(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def stream_of(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _unavailable(detail: str, hint: str) -> ProblemError:
    return refusal("roles-unavailable", detail, hint)
