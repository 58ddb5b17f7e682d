"""The demo program as a child of the backend: at most one, ended with the backend."""

import asyncio
import os
import sys
import tempfile
from contextlib import suppress

from tidscope_wire.generated.models import Actor, AttachRequest, Target
from tidscope_wire.problems import ProblemError, make_problem, refusal

from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.processes import local_host_id, start_ticks

READY = b"ready\n"
READY_SECONDS = 15
END_SECONDS = 5
RATE_HZ = 10


class DemoProcess:
    """Starts, attaches and ends the demo program.

    Args:
        links: connected collectors.
    """

    def __init__(self, links: CollectorLinks) -> None:
        self._links = links
        self._process: asyncio.subprocess.Process | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._changing = asyncio.Lock()

    async def start(self, actor: Actor) -> Target:
        """Start the program unless it is running, and attach to it.

        Raises:
            ProblemError: the program could not be started or attached to.
        """
        async with self._changing:
            # Checked first: without a collector, nothing could observe the program.
            link = self._links.pick(local_host_id() if len(self._links) > 1 else None)
            if self._process is None or self._process.returncode is not None:
                # Folder of the agent's socket, which a killed program leaves behind.
                self._folder = tempfile.TemporaryDirectory(prefix="tidscope-demo-")
                self._process = await _spawn(self._folder.name)
            pid = self._process.pid
            try:
                asked = AttachRequest(pid=pid, start_ticks=start_ticks(pid), rate_hz=RATE_HZ)
                reply = await link.attach(asked, actor)
            except (ProblemError, OSError) as error:
                await self._end()
                reason = error.problem.detail if isinstance(error, ProblemError) else str(error)
                raise ProblemError(
                    make_problem(
                        "demo-failed",
                        f"the demo program (process {pid}) could not be attached to: {reason}",
                        "the collector has to run on the backend's machine, in its PID namespace; "
                        "tidscope doctor says what is missing",
                    )
                ) from error
            return reply.target

    async def stop(self) -> None:
        """End the program if it is running."""
        async with self._changing:
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        folder, self._folder = self._folder, None
        try:
            await self._end_process(process)
        finally:
            if folder is not None:
                folder.cleanup()

    @staticmethod
    async def _end_process(process: asyncio.subprocess.Process | None) -> None:
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        await _code_of(process)


async def _spawn(agent_folder: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "tidscope_backend.demo"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
        | {"TIDSCOPE_AGENT_DIR": agent_folder},
    )
    line = b""
    if process.stdout is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                line = await process.stdout.readline()
    if line != READY:
        code = await _code_of(process)
        raise refusal(
            "demo-failed",
            f"the demo program ended with code {code} before it was ready",
            "run `python -m tidscope_backend.demo` to see why",
        )
    return process


async def _code_of(process: asyncio.subprocess.Process) -> int:
    """Return the exit code of a misbehaving process, after a short time to end by itself.

    An immediate kill could race with the process's end: sending a signal polls the child, which
    takes the exit code from the event loop.
    """
    try:
        async with asyncio.timeout(END_SECONDS):
            return await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()
