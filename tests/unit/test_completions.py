"""Offers of the Tab key, asked of the shells themselves."""

import os
import pty
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from capabilities import missing
from tidscope_backend.cli import VERBS, main
from tidscope_wire.readiness import is_readable

PATIENCE_S = 120.0
CASES = [
    ("tidscope ", {"up", "steer", "completions"}),
    ("tidscope --ver", {"--version"}),
    ("tidscope steer --poli", {"--policy"}),
    ("tidscope up --network ", {"auto", "taskstats", "ebpf", "none"}),
    ("tidscope hosts ", {"add", "list", "rotate", "revoke"}),
    ("tidscope hosts rotate --gr", {"--grace"}),
    ("tidscope completions ", {"bash", "zsh", "fish"}),
]
"""A line that ends where the key is pressed, and words that are offered, among others."""


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise missing("shells", f"there is no {name}")
    return found


@pytest.fixture
def script(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> str:
    """The file for the shell that the test names."""
    assert main(["completions", request.param]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("line", "offered"), CASES)
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_offers(script: str, line: str, offered: set[str]) -> None:
    asked = (
        f'{script}\nread -ra COMP_WORDS <<< "$1"; [[ $1 != *" " ]] || COMP_WORDS+=("")\n'
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tidscope; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        [shell("bash"), "-uc", asked, "bash", line], capture_output=True, text=True, check=True
    )
    found = set(done.stdout.split())
    assert offered <= found
    assert all(word.startswith(line.rsplit(" ", maxsplit=1)[-1]) for word in found)


@pytest.mark.parametrize(("line", "offered"), CASES)
@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_offers(script: str, line: str, offered: set[str], tmp_path: Path) -> None:
    file = tmp_path / "tidscope.fish"
    file.write_text(script)
    asked = f"source {file}; complete -C {line!r}"
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", asked],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = {row.partition("\t")[0] for row in done.stdout.splitlines()}
    assert offered <= found
    assert not found & set(VERBS) or line.count(" ") == 1 or found <= offered


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_offers(script: str, tmp_path: Path) -> None:
    """On a terminal, since only its line editor completes."""
    (tmp_path / "_tidscope").write_text(script)
    begin = f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D; echo rea''dy"
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", HOME=str(tmp_path))
        os.execv(shell("zsh"), ["zsh", "-f", "-i"])
    try:
        os.write(terminal, f"{begin}\n".encode())
        shown_until(terminal, "ready\r")
        for line, offered in CASES:
            # Ctrl-U empties the line; with several words, the second Tab lists them.
            os.write(terminal, f"\x15{line}\t".encode() + (b"\t" if line.endswith(" ") else b""))
            shown_until(terminal, *offered)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def shown_until(terminal: int, *texts: str) -> None:
    """Read what a terminal shows until all texts are in it; not beyond them."""
    shown = ""
    while not all(text in shown for text in texts):
        assert is_readable(terminal, PATIENCE_S), shown
        shown += os.read(terminal, 1).decode(errors="replace")
