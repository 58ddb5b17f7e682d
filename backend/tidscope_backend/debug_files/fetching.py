"""Fetching of one debug file from the first server that has it, by limited processes."""

import asyncio
import json
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple, cast

from tidscope_backend.debug_files.cache import DebugFileCache
from tidscope_backend.debug_files.download import Answer, Orders
from tidscope_backend.exchange.confinement import ENVIRONMENT
from tidscope_backend.processes import bound_to_parent, run_module

PROGRAM = "tidscope_backend.debug_files.download"
SECONDS = 300.0
"""Maximum time to fetch a file from one server."""
_LATE = (None, -signal.SIGALRM)
"""Exit codes of a process that took too long: its own deadline may come first."""
OUTCOMES: Mapping[str, str] = {
    "fetched": "",
    "not_found": "{server} has no debug file of {module}.",
    "refused": "{server} refused the debug file of {module}: {detail}.",
    "unreachable": "{server} did not give the debug file of {module}: {detail}.",
    "too_large": "The debug file of {module} has more bytes than the cache takes.",
    "other_file": "{server} gave a file with another build ID for {module}. It was deleted.",
    "damaged": "What {server} gave for {module} is no debug file. It was deleted.",
    "timeout": "The debug file of {module} did not arrive from {server} in time.",
    "failed": "The process that fetches the debug file of {module} has failed.",
}
"""Sentences by outcome."""
_ANSWER_BYTES = 4096


class Fetched(NamedTuple):
    """Outcome of fetching a file.

    Attributes:
        outcome: a key of OUTCOMES.
        text: why there is no file, a sentence; empty if there is one.
        shared_id: see `Answer`.
    """

    outcome: str
    text: str = ""
    shared_id: str = ""


async def fetch(
    servers: Sequence[str],
    cache: DebugFileCache,
    build_id: str,
    module: str,
    seconds: float = SECONDS,
) -> Fetched:
    """Fetch a debug file into the cache, one at a time.

    Args:
        servers: servers, asked in order until one has it.
        cache: the cache.
        build_id: build ID, hexadecimal.
        module: name of the program or library, for sentences.
        seconds: maximum time for each server.
    """
    found = Fetched("not_found", "")
    for server in servers:
        answer = await _ask(Orders(server, build_id, str(cache.partial), 0, seconds), cache)
        if answer.outcome == "fetched":
            try:
                await asyncio.to_thread(cache.keep, build_id)
            except OSError as error:
                return Fetched("failed", f"A debug file cannot be kept: {error}.")
            return Fetched("fetched", "", answer.shared_id)
        text = OUTCOMES[answer.outcome].format(server=server, module=module, detail=answer.detail)
        # A failure says more than that another server has no such file.
        if not found.text or found.outcome == "not_found":
            found = Fetched(answer.outcome, text)
    return found


async def _ask(orders: Orders, cache: DebugFileCache) -> Answer:
    orders = orders._replace(max_bytes=cache.max_file_bytes)
    answer = Answer("failed")
    cache.discard_partial()
    try:
        with tempfile.TemporaryFile() as said:
            code = await _run(orders, said)
            said.seek(0)
            text = said.read(_ANSWER_BYTES)
        answer = Answer("timeout") if code in _LATE else _parse(text) if code == 0 else answer
    except OSError:
        pass
    finally:
        if answer.outcome != "fetched":
            cache.discard_partial()
    return answer


async def _run(orders: Orders, said: IO[bytes]) -> int | None:
    """Run the limited process; return its exit code, or None on timeout."""
    process = await asyncio.create_subprocess_exec(
        *bound_to_parent(run_module(PROGRAM, json.dumps(orders))),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )
    try:
        async with asyncio.timeout(orders.seconds):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _parse(text: bytes) -> Answer:
    """Check an answer; a hostile file may have taken the process over."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return Answer("failed")
    if not isinstance(row, list) or len(row) != 3 or not all(isinstance(one, str) for one in row):
        return Answer("failed")
    outcome, detail, shared_id = cast("list[str]", row)
    is_id = is_build_id(shared_id) or not shared_id
    if outcome not in OUTCOMES or not is_id:
        return Answer("failed")
    return Answer(outcome, "".join(one if one.isprintable() else "?" for one in detail), shared_id)


def is_build_id(text: str) -> bool:
    """Return True if a text can be a build ID: 4 to 64 bytes, hexadecimal."""
    return 8 <= len(text) <= 128 and len(text) % 2 == 0 and set(text) <= set("0123456789abcdef")
