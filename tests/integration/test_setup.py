"""`tidscope setup`: files, users and units below a folder, and a system that really runs them."""

import json
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from built_wheel import PLACE, installation_for_containers
from capabilities import missing, needs
from containers import Podman, containers
from installation import Installation, running_installation
from systemd_system import System
from tidscope_processes import python_for

pytestmark = [needs("root"), pytest.mark.timeout(600)]
UNITS = Path("etc/systemd/system")
WRITTEN = {
    "etc/sysusers.d/tidscope.conf": 0o644,
    "etc/tidscope/secret.env": 0o600,
    "etc/systemd/system/tidscope-backend.socket": 0o644,
    "etc/systemd/system/tidscope-backend.service": 0o644,
    "etc/systemd/system/tidscope-collector.service": 0o644,
}
SETUP = f"{PLACE}/bin/python -I -m tidscope_backend setup"


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    with containers() as made:
        yield made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Sequence[str]:
    """Options that mount an installation of the wheel."""
    folder = tmp_path_factory.mktemp("installed") / "tidscope"
    return installation_for_containers(folder, wheel, python_for("nobody"))


@pytest.fixture
def system(podman: Podman, installed: Sequence[str]) -> Iterator[System]:
    """A fresh machine with two people, of whom one is to look."""
    if not Path("/lib/systemd/systemd").exists():
        raise missing("systemd", "there is no systemd")
    name = f"tidscope-test-system-{uuid.uuid4().hex[:8]}"
    options = ("--systemd=always", "--privileged", *installed)
    with podman.running(name, options, ("/lib/systemd/systemd",)):
        made = System(podman, name)
        made.await_start(120)
        yield made


def test_it_asks_sets_up_and_removes_below_a_folder(system: System) -> None:
    refused = system.run(f"mkdir /image; {SETUP} --root /image </dev/null")
    assert refused.returncode == 1
    assert "nothing was changed" in refused.stderr
    assert system.does("ls -A /image") == ""
    for path in WRITTEN:
        assert f"write /image/{path} " in refused.stdout
    assert "TIDSCOPE_COLLECTOR_SECRET=(random)" in refused.stdout
    system.does(f"{SETUP} --root /image --yes")
    for path, mode in WRITTEN.items():
        found, owner = system.does(f"stat -c '%a %U' /image/{path}").split()
        assert (int(found, 8), owner) == (mode, "root"), path
    first = system.does("cat /image/etc/tidscope/secret.env")
    system.does(f"{SETUP} --root /image --yes --port 9000")
    assert system.does("cat /image/etc/tidscope/secret.env") == first
    assert "ListenStream=127.0.0.1:9000" in system.does(f"cat /image/{UNITS}/*.socket")
    assert system.does("ls /image/etc/systemd/system/sockets.target.wants").split() == [
        "tidscope-backend.socket"
    ]
    assert system.does("ls /image/etc/systemd/system/multi-user.target.wants").split() == [
        "tidscope-collector.service"
    ]
    system.does(f"{SETUP} --root /image --yes --remove")
    left = system.does("find /image -type f -o -type l").split()
    assert not [path for path in left if "tidscope" in path]
    assert "tidscope" not in system.does("cat /image/etc/passwd /image/etc/group")
    again = system.run(f"{SETUP} --root /image --yes --remove")
    assert (again.returncode, "nothing of" in again.stderr) == (1, True)


def test_files_of_others_stay(system: System) -> None:
    unit = f"/image/{UNITS}/tidscope-backend.service"
    system.does(f"mkdir -p /image/{UNITS} && echo mine > {unit}")
    for option in ("", "--remove"):
        refused = system.run(f"{SETUP} --root /image --yes {option}")
        assert refused.returncode == 1
        assert "is not of `tidscope setup`" in refused.stderr
        assert system.does("find /image -type f").split() == [unit]


def test_an_installation_that_services_cannot_or_must_not_run_is_refused(system: System) -> None:
    system.does(
        f"cp -r {PLACE} /home/tidscope && cp -r {PLACE} /opt/copy && chown member /opt/copy"
    )
    for place, said in (
        ("/home/tidscope", "see nothing of /home"),
        ("/opt/copy", "may be changed"),
    ):
        refused = system.run(f"{place}/bin/python -I -m tidscope_backend setup --yes --root /image")
        assert refused.returncode == 1
        assert said in refused.stderr
        assert not system.has_users()


def test_systemd_finds_the_units_right_and_hardened(system: System) -> None:
    system.does(f"{SETUP} --yes")
    said = system.run("systemd-analyze verify /etc/systemd/system/tidscope-*")
    assert said.stdout + said.stderr == ""
    exposed = "systemd-analyze security --no-pager tidscope-backend tidscope-collector"
    found = re.findall(r"exposure level for (\S+): ([0-9.]+)", system.does(exposed))
    assert {name for name, _ in found} == {"tidscope-backend.service", "tidscope-collector.service"}
    assert all(float(level) <= 3.0 for _, level in found), found


def test_members_of_the_group_look_without_sudo_and_others_do_not(system: System) -> None:
    tidscope = f"{PLACE}/bin/tidscope"
    system.does(f"{SETUP} --yes && usermod -aG tidscope member")
    facts = json.loads(system.does(f"{tidscope} up --json", "member"))
    assert facts["service"] is True
    page = f"{PLACE}/bin/python -c \"import urllib.request as r; print(r.urlopen('{{}}').status)\""
    assert system.does(page.format(facts["address"]), "member").strip() == "200"
    # The collector starts beside the backend, and restarts until that listens.
    system.does(f"until {tidscope} attach --json --pid 1; do sleep 0.2; done", "member")
    refused = system.run(f"{tidscope} attach --pid 1", "stranger")
    assert refused.returncode == 1
    assert "no tidscope of this user runs" in refused.stderr
    refused = system.run("cat /run/tidscope-backend/* /etc/tidscope/secret.env", "stranger")
    assert refused.stdout == ""
    system.does(f"{SETUP} --yes --remove")
    assert not system.has_users()
    assert "tidscope" not in system.does("systemctl list-units --all --plain 'tidscope*'")
    assert system.does("find /etc /run -name '*tidscope*'") == ""


def capabilities_of_unit() -> str:
    """The capabilities of the collector's unit, as setpriv writes them."""
    unit = Path(__file__).parents[2] / "backend/tidscope_backend/units/tidscope-collector.service"
    found = re.findall(r"^(\w+)=(CAP_.*)$", unit.read_text(), re.MULTILINE)
    lists = dict(found)
    assert set(lists) == {"AmbientCapabilities", "CapabilityBoundingSet"}
    assert lists["AmbientCapabilities"] == lists["CapabilityBoundingSet"]
    names = lists["AmbientCapabilities"].lower().split()
    return ",".join(["-all", *(f"+{name.removeprefix('cap_')}" for name in names)])


@needs("btf")
async def test_the_capabilities_of_the_unit_suffice_for_all_that_is_measured(
    tmp_path: Path,
) -> None:
    """A container has no PIDs of the host: there eBPF cannot be tried, so it is tried here."""
    rights = capabilities_of_unit()
    within = (
        *("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups"),
        *(f"--inh-caps={rights}", f"--ambient-caps={rights}", f"--bounding-set={rights}"),
    )
    async with running_installation(tmp_path, within, ()) as found:
        await _attach_with_states(found)


async def _attach_with_states(found: Installation) -> None:
    target, follower = await found.attach(os.getpid())
    header = await follower.until(lambda one: one.counters_from is not None)
    assert target.process.pid == os.getpid()
    assert header.counters_from == "walk"
