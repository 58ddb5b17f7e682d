"""The Debian package in a fresh system: installed, upgraded and purged, with systemd running.

`make deb-test` runs this; `make deb` has to come before.
"""

import json
import os
import re
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from capabilities import needs
from containers import Podman
from processes import wait_until
from systemd_system import System

ROOT = Path(__file__).parents[2]
PYTHON = "/usr/lib/tidscope/bin/python3"
UNITS = ("tidscope-backend.socket", "tidscope-backend.service", "tidscope-collector.service")
OLD = "0.0.1"
pytestmark = [needs("root"), pytest.mark.timeout(1800)]


def call(*command: str | Path) -> str:
    """Run a command that has to succeed; what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package() -> Path:
    found = sorted((ROOT / "dist").glob("tidscope_*.deb"), key=lambda path: path.stat().st_mtime)
    assert found, "there is no package: run `make deb`"
    return found[-1]


@pytest.fixture(scope="module")
def older(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with an older version, and with a file that the newer one lacks."""
    folder = tmp_path_factory.mktemp("older")
    call("dpkg-deb", "-R", package, folder / "tree")
    control = folder / "tree/DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*", f"Version: {OLD}", control.read_text()))
    (folder / "tree/usr/lib/tidscope/lib/gone.py").write_text("")
    call("dpkg-deb", "--root-owner-group", "-Znone", "-b", folder / "tree", folder / "older.deb")
    return folder / "older.deb"


def depends(package: Path) -> Sequence[str]:
    """Names of the packages that it depends on; the first of alternatives."""
    listed = call("dpkg-deb", "-f", package, "Depends").strip()
    return [one.split("|")[0].split("(")[0].strip() for one in listed.split(",")]


@pytest.fixture(scope="module")
def fresh_root(package: Path) -> Iterator[Path]:
    """A Debian system with systemd and what the package depends on, and no more."""
    with tempfile.TemporaryDirectory(prefix="tidscope-test-debian-") as name:
        root = Path(name) / "root"
        suite = re.findall("(?m)^VERSION_CODENAME=(.*)", Path("/etc/os-release").read_text())[0]
        sources = list(Path("/etc/apt/sources.list.d").glob("debian.sources"))
        wanted = ",".join(["systemd", *dict.fromkeys(depends(package))])
        options = ("--quiet", "--variant=minbase", f"--include={wanted}")
        call("mmdebstrap", *options, suite, root, *sources)
        yield root


@pytest.fixture(scope="module")
def system(fresh_root: Path, package: Path, older: Path) -> Iterator[System]:
    name = f"tidscope-test-debian-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory(prefix="tidscope-podman-") as folder:
        podman = Podman(Path(folder), patience_s=900)
        volumes = [f"--volume={package}:/mnt/new.deb:ro", f"--volume={older}:/mnt/old.deb:ro"]
        options = ("--systemd=always", "--privileged", *volumes)
        with podman.running_root(name, fresh_root, options, ("/lib/systemd/systemd",)):
            made = System(podman, name)
            made.await_start(120)
            yield made


def test_lintian_has_nothing_to_say(package: Path) -> None:
    done = subprocess.run(
        ["lintian", "--allow-root", "--info", "--fail-on", "error,warning", package],
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_installed_upgraded_and_purged(system: System, package: Path) -> None:
    """One story, since each step begins where the one before ends."""
    before = system.does("find /etc /usr /var -xdev -not -path '/var/lib/dpkg/*' | sort")
    system.does("dpkg -i /mnt/old.deb")
    _check_services(system)
    secret = system.does("cat /etc/tidscope/secret.env")
    assert system.does("stat -c '%a %U' /etc/tidscope/secret.env") == "600 root\n"

    system.does("dpkg -i /mnt/new.deb")
    _check_services(system)
    assert system.does("cat /etc/tidscope/secret.env") == secret
    assert not system.does("find /usr/lib/tidscope/lib -maxdepth 1 -name 'gone*'")
    version = call("dpkg-deb", "-f", package, "Version").strip()
    assert f"tidscope {version}\n" in system.does("tidscope --version", "stranger")
    verified = system.run(f"systemd-analyze verify {' '.join(UNITS)}")
    assert verified.stdout + verified.stderr == ""
    for path in (
        *("man/man1/tidscope.1.gz", "man/man1/tidscope-record.1.gz"),
        *("bash-completion/completions/tidscope", "zsh/vendor-completions/_tidscope"),
        "fish/vendor_completions.d/tidscope.fish",
    ):
        assert system.does(f"stat -c %s /usr/share/{path}") != "0\n"
    refused = system.run("tidscope setup --yes")
    assert (refused.returncode, "of the Debian package" in refused.stderr) == (1, True)
    _check_rights(system)

    system.does("dpkg --remove tidscope")
    active = system.run(f"systemctl is-active {' '.join(UNITS)}").stdout.split()
    assert active == ["inactive"] * len(UNITS)
    assert system.does("cat /etc/tidscope/secret.env") == secret
    system.does("dpkg --purge tidscope")
    after = system.does("find /etc /usr /var -xdev -not -path '/var/lib/dpkg/*' | sort")
    left = set(after.splitlines()) - set(before.splitlines())
    assert not [path for path in left if "tidscope" in path]


def _check_services(system: System) -> None:
    """The socket listens, the collector runs, and with it the backend; after a restart, too."""
    for unit in ("tidscope-backend.socket", "tidscope-collector.service"):
        assert system.does(f"systemctl is-enabled {unit}") == "enabled\n"
    wait_until(lambda: system.run(f"systemctl is-active {' '.join(UNITS)}").returncode == 0, 120)


def _check_rights(system: System) -> None:
    """Members of the group look, others do not."""
    system.does("usermod -aG tidscope member")
    wait_until(lambda: system.run("tidscope up --json", "member").returncode == 0, 60)
    facts = json.loads(system.does("tidscope up --json", "member"))
    assert facts["service"] is True
    system.does("until tidscope attach --json --pid 1; do sleep 0.2; done", "member")
    refused = system.run("tidscope attach --pid 1", "stranger")
    assert refused.returncode == 1
    assert "no tidscope of this user runs" in refused.stderr
    assert system.run("cat /etc/tidscope/secret.env", "stranger").stdout == ""
