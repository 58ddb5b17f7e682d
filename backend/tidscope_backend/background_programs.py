"""Programs of ours that work in the background, so that their CPU time, memory and crashes do not
affect the backend."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from tidscope_backend.processes import bound_to_parent

LOWEST_PRIORITY = 19


class ProgramFailedError(Exception):
    """A program failed; the text is its last line, or says how it ended."""


async def run_in_background(
    command: Sequence[str], seconds: float, *, is_awaited: bool = False
) -> None:
    """Run a program to its end, without our secrets.

    Args:
        command: the program and its arguments.
        seconds: timeout.
        is_awaited: True if a person waits for it; it then keeps the priority of the backend, which
            may not be allowed to raise one. Otherwise it gets the lowest.

    Raises:
        ProgramFailedError: it failed, or took too long and was killed.
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *bound_to_parent(command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")},
    )
    try:
        if not is_awaited:
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST_PRIORITY)
        async with asyncio.timeout(seconds):
            _, output = await process.communicate()
    except TimeoutError:
        raise ProgramFailedError(f"it took longer than {seconds:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        said = output.decode(errors="replace").strip().rpartition("\n")[2]
        raise ProgramFailedError(said or f"it ended with code {process.returncode}")
