"""tidscope run by root: what it may not be made to run, and what it warns of."""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs

pytestmark = needs("root")
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
USER = 1234
HOSTILE = "import os, pathlib; pathlib.Path({marker!r}).write_text('uid %d' % os.geteuid())\n"


@pytest.fixture
def tidscope(tmp_path: Path) -> Iterator[Path]:
    """The interpreter of an installation in a folder of its own."""
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "tidscope.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    yield tmp_path / "venv" / "bin" / "python"


@pytest.fixture
def environment() -> dict[str, str]:
    """Ours, without what another tidscope or sudo has put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Where hostile modules write, if anything imports them."""
    return tmp_path / "marker"


@pytest.fixture
def hostile(tmp_path: Path, marker: Path) -> Path:
    """A folder with modules named like those that a collector imports."""
    folder = tmp_path / "hostile"
    (folder / "tidscope_collector").mkdir(parents=True)
    code = HOSTILE.format(marker=str(marker))
    for name in ("tidscope_collector/__init__", "tidscope_collector/__main__", "sitecustomize"):
        (folder / f"{name}.py").write_text(code)
    return folder


def test_modules_in_the_current_directory_are_not_run_by_root(
    hostile: Path, marker: Path, environment: dict[str, str]
) -> None:
    command = [str(Path(sysconfig.get_path("scripts")) / "tidscope"), "doctor", "--json"]
    done = subprocess.run(
        command, cwd=hostile, env=environment, capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["checks"], done.stderr
    assert not marker.exists(), marker.read_text()


def test_modules_that_the_environment_names_are_not_run_by_roots_collector(
    hostile: Path, marker: Path, environment: dict[str, str]
) -> None:
    script = (
        "import os; from tidscope_backend.cli import main; "
        f"os.environ['PYTHONPATH'] = {str(hostile)!r}; main(['doctor', '--json'])"
    )
    python = str(Path(sysconfig.get_path("scripts")) / "python")
    done = subprocess.run(
        [python, "-P", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["checks"], done.stderr
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("verb", ["doctor", "collect"])
def test_an_installation_that_a_user_may_change_is_warned_of(
    tidscope: Path, environment: dict[str, str], verb: str
) -> None:
    command = [str(tidscope), "-m", "tidscope_backend", verb]
    if verb == "collect":
        # It ends at once: there is no such address.
        command += ["--backend", "ftp://127.0.0.1"]
        environment["TIDSCOPE_COLLECTOR_SECRET"] = "0123456789abcdef"
    before = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    ).stderr
    os.chown(tidscope.parent, USER, USER)
    after = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    ).stderr
    assert "warning" not in before
    assert f"{tidscope.parent} may be changed by user {USER}" in after
    assert "README.md" in after


def test_the_installation_that_readme_describes_is_roots_and_works(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """README's commands, in a folder of the test; the packages that it needs are not fetched."""
    (block,) = re.findall(r"### Installed for root.*?```\n(.*?)```", README, re.DOTALL)
    lines = [line.removeprefix("sudo ") for line in block.splitlines()]
    assert lines[0] == "make wheel"
    build = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run([sys.executable, *build], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    place = tmp_path / "opt"
    done = None
    for line in lines[1:]:
        command = shlex.split(line.replace("/opt/tidscope", str(place)))
        if "--require-hashes" in command:
            assert command[-1] == "requirements.lock"
            (packages,) = (place / "lib").glob("python*/site-packages")
            (packages / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
            continue
        command = [str(wheel) if word.startswith("dist/") else word for word in command]
        if command[-1] == "up":
            command = [*command[:-1], "doctor", "--json"]
        if command[0] == "python3":
            command[0] = sys.executable
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout or done.returncode == 0, done.stderr
    assert done is not None
    assert json.loads(done.stdout)["checks"]
    assert "may be changed" not in done.stderr
