"""`tidscope serve` as a process that a test can kill as nothing it could prepare for."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from backend_server import SECRET, TOKEN

ENVIRONMENT = {**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_COLLECTOR_SECRET": SECRET}


@asynccontextmanager
async def served(
    port: int, within: Sequence[str] = (), **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run it, and kill it at the end.

    Args:
        port: that it listens on.
        within: a command that runs its arguments some other way, such as ["prlimit", …].
        environment: variables on top of the usual ones.
    """
    process = await asyncio.create_subprocess_exec(
        *within,
        *(sys.executable, "-m", "tidscope_backend", "serve", "--port", str(port)),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**ENVIRONMENT, **environment},
    )
    try:
        assert process.stderr is not None
        # It says so when it listens.
        while f"port {port}" not in (line := (await process.stderr.readline()).decode()):
            assert line, "the backend has ended"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
