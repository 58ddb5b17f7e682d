"""Programs that work in the background of a backend."""

import os
import subprocess
import sys

import pytest

NICE = 7
RUN = """
import asyncio, sys
from tidscope_backend.background_programs import run_in_background

program = f"import os, sys; sys.exit(os.nice(0) != {sys.argv[1]})"
asyncio.run(run_in_background([sys.executable, "-c", program], 60, is_awaited=True))
"""


@pytest.mark.parametrize("nice", [0, NICE])
def test_an_awaited_program_has_the_priority_of_the_backend(nice: int) -> None:
    """Without rights it cannot be raised, so a backend that was started by nice must not try."""
    rights = ("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice")
    own = os.nice(0)
    wanted = min(own + nice, 19)
    command = ["nice", f"-n{nice}", *(rights if os.geteuid() == 0 else ())]
    done = subprocess.run(
        [*command, sys.executable, "-c", RUN, str(wanted)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
