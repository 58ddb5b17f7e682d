"""Sockets that ended programs left are removed by the next agent; those of others stay."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from capabilities import needs
from programs.agent_program import LANGUAGES, AgentFolder, AgentProgram

NOBODY = 65534
ABOVE_ALL = (1 << 22) + 100
"""No process has an id from here on."""


def leave(path: Path) -> Path:
    """A socket at which nobody listens any more."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return path


@needs("root")
@pytest.mark.parametrize("language", LANGUAGES)
def test_sockets_of_ended_programs_are_removed(language: str) -> None:
    with AgentFolder() as folder, socket.socket(socket.AF_UNIX) as other:
        stale = leave(folder / f"{ABOVE_ALL}.sock")
        # A program in another namespace has an id that is none here.
        elsewhere = folder / f"{ABOVE_ALL + 1}.sock"
        other.bind(str(elsewhere))
        other.listen()
        of_nobody = leave(folder / f"{ABOVE_ALL + 2}.sock")
        os.chown(of_nobody, NOBODY, NOBODY)
        text = folder / f"{ABOVE_ALL + 3}.sock"
        text.write_text("no socket")
        living = leave(folder / f"{os.getpid()}.sock")
        with AgentProgram(language, folder) as program:
            assert program.socket.exists()
            assert not stale.exists()
            assert [one.exists() for one in (elsewhere, of_nobody, text, living)] == [True] * 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_that_a_signal_ended_leaves_nothing_for_long(language: str) -> None:
    with AgentFolder() as folder:
        with AgentProgram(language, folder) as ended:
            subprocess.run(["kill", "-TERM", str(ended.pid)], check=True)
            ended.wait()
        with AgentProgram(language, folder) as program:
            assert [path.name for path in folder.iterdir()] == [f"{program.pid}.sock"]
