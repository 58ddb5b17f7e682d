"""tidscope run by root: what it may not be made to run, and what it warns of."""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
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
def environment() -> dict[str, str]:
    """Ours, without what another tidscope or sudo has put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """File that hostile modules write if anything imports them."""
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


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """An installation by README's commands; the packages that it needs are not fetched."""
    folder = tmp_path_factory.mktemp("installation")
    (block,) = re.findall(r"### Installed for root.*?```\n(.*?)```", README, re.DOTALL)
    first, *lines, last = [line.removeprefix("sudo ") for line in block.splitlines()]
    assert first == "make wheel"
    assert last == "/opt/tidscope/bin/tidscope up"
    place = folder / "opt"
    for line in lines:
        command = shlex.split(line.replace("/opt/tidscope", str(place)))
        if "--require-hashes" in command:
            assert command[-1] == "requirements.lock"
            (packages,) = (place / "lib").glob("python*/site-packages")
            (packages / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
            continue
        command = [str(wheel) if word.startswith("dist/") else word for word in command]
        if command[0] == "python3":
            command[0] = sys.executable
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return place


@pytest.fixture
def changeable(installation: Path) -> Iterator[Path]:
    """A folder of the installation that a user owns during the test."""
    folder = installation / "bin"
    owner = folder.stat()
    os.chown(folder, USER, USER)
    yield folder
    os.chown(folder, owner.st_uid, owner.st_gid)


def run(
    installation: Path, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run the installed tidscope."""
    command = [str(installation / "bin" / "tidscope"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


COLLECT = ("collect", "--backend", "ftp://127.0.0.1")
"""Arguments with an unusable address: the collector ends at once."""


def test_the_installation_that_readme_describes_is_roots_and_works(
    installation: Path, environment: dict[str, str]
) -> None:
    done = run(installation, environment, "doctor", "--json")
    assert json.loads(done.stdout)["checks"], done.stderr
    environment["TIDSCOPE_COLLECTOR_SECRET"] = "0123456789abcdef"
    for said in (done.stderr, run(installation, environment, *COLLECT).stderr):
        assert "warning" not in said
        assert "may be changed" not in said


@pytest.mark.parametrize("arguments", [("doctor",), COLLECT], ids=["doctor", "collect"])
def test_an_installation_that_a_user_may_change_is_warned_of(
    installation: Path, changeable: Path, environment: dict[str, str], arguments: tuple[str, ...]
) -> None:
    environment["TIDSCOPE_COLLECTOR_SECRET"] = "0123456789abcdef"
    said = run(installation, environment, *arguments).stderr
    assert f"{changeable} may be changed by user {USER}" in said
    assert "README.md" in said
