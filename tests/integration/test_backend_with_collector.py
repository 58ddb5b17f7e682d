"""`tidscope up`, `collect` and `doctor` with a stand-in for the collector process."""

import json
import os
import signal
import subprocess
import sysconfig
import venv
from pathlib import Path

import httpx
import pytest
from processes import arguments, is_running, wait_for_end, wait_until
from schema_check import check_text
from tidscope_wire.generated.models import CheckStatus, DoctorCheck, DoctorReport, HostsResponse

STAND_IN = """
import os, sys
from pathlib import Path

async def main():
    from backend_builders import host
    from fake_collector import FakeCollector
    url = sys.argv[sys.argv.index("--backend") + 1]
    assert url.endswith("/ws/collector")
    assert "TIDSCOPE_TOKEN" not in os.environ
    box = host()
    changes = {"pid": os.getpid(), "privileged": False, "reason": "no CAP_NET_ADMIN"}
    info = box.collector.model_copy(update=changes)
    secret = os.environ["TIDSCOPE_COLLECTOR_SECRET"]
    box = box.model_copy(update={"collector": info})
    async with FakeCollector(url.removesuffix("/ws/collector"), secret, host=box) as collector:
        await collector.greeted()
        await collector.socket.wait_closed()

if sys.argv[1] == "doctor":
    if "on" in sys.argv[2:]:
        assert sys.argv[2:] == ["--json", "--delay-accounting", "on"]
        if "forbid" in os.environ:
            print("Read-only file system", file=sys.stderr)
            sys.exit(4)
    print(Path(__file__).with_name("report.json").read_text())
else:
    import asyncio
    asyncio.run(main())
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """An installation of tidscope in which the stand-in is in place of the collector.

    Root's collector heeds no variable such as PYTHONPATH, so it is a virtual environment.
    """
    package = tmp_path / "tidscope_collector"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(STAND_IN)
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    helpers = Path(__file__).parent.parent
    found = [str(tmp_path), str(helpers)]
    (packages / "stand_in.pth").write_text(
        f"import sys; sys.path[:0] = {found}\n"
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    return [str(python), "-m", "tidscope_backend"]


@pytest.fixture
def environment() -> dict[str, str]:
    """Ours, without what another tidscope or sudo has put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}


def connected(client: httpx.Client) -> list[int]:
    """Process IDs of the connected collectors, as they report them."""
    hosts = HostsResponse.model_validate_json(client.get("/api/v1/hosts").content).hosts
    return [one.collector.pid for one in hosts if one.connected]


def test_up_waits_for_the_collector_keeps_it_alive_and_ends_it(
    command: list[str], environment: dict[str, str]
) -> None:
    process = subprocess.Popen(
        [*command, "up", "--port", "0", "--json", "--no-open", "--budget-percent", "7.5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        try:
            assert process.stdout is not None
            reported = json.loads(process.stdout.readline())
            headers = {"authorization": f"Bearer {reported['token']}"}
            with httpx.Client(base_url=reported["address"], headers=headers, timeout=120) as client:
                # The collector had connected before the address was printed.
                first = reported["collector_pid"]
                assert connected(client) == [first]
                started = arguments(first)
                assert started[1:5] == ["-I", "-m", "tidscope_collector", "run"]
                assert started[-2:] == ["--budget-percent", "7.5"]
                os.kill(first, signal.SIGKILL)
                wait_for_end(first)
                wait_until(lambda: connected(client) not in ([], [first]))
                assert len(connected(client)) == 1
        finally:
            process.terminate()
            _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "the collector ended by SIGKILL; it starts again" in said
    assert "the collector lacks privileges: no CAP_NET_ADMIN" in said
    assert not is_running(reported["backend_pid"])


@pytest.mark.parametrize(("state", "code"), [("ok", 0), ("limited", 0), ("failed", 1)])
def test_doctor(
    command: list[str], environment: dict[str, str], tmp_path: Path, state: CheckStatus, code: int
) -> None:
    check = DoctorCheck(
        name="a", title="Exit records", status=state, finding="none", impact="totals", fix="be root"
    )
    report = DoctorReport(
        host="box", kernel="6.18", checked_unix_ms=1, status=state, checks=[check]
    ).model_dump_json()
    (tmp_path / "tidscope_collector" / "report.json").write_text(report)
    for options in ([], ["--json"]):
        done = subprocess.run(
            [*command, "doctor", *options],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == code, done.stderr
        if options:
            assert check_text("DoctorReport", done.stdout) == json.loads(report)
        else:
            assert "Exit records: none" in done.stdout
            assert "fix: be root" in done.stdout


def test_doctor_switches_first(
    command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    report = DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[])
    (tmp_path / "tidscope_collector" / "report.json").write_text(report.model_dump_json())
    switching = [*command, "doctor", "--enable-delay-accounting"]
    done = subprocess.run(switching, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "box, Linux 6: ok" in done.stdout
    done = subprocess.run(
        switching, capture_output=True, text=True, check=False, env={**environment, "forbid": "yes"}
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Read-only file system" in done.stderr
    assert "delay accounting was not switched on; see above" in done.stderr


def test_doctor_without_a_report(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*command, "doctor"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert "the collector gave no report (exit code 1)" in done.stderr


def test_collect_becomes_the_collector(command: list[str], environment: dict[str, str]) -> None:
    """The stand-in is refused the connection, which shows that it was it that ran."""
    done = subprocess.run(
        [*command, "collect", "--backend", "http://127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "TIDSCOPE_COLLECTOR_SECRET": "collector-secret-value"},
    )
    assert done.returncode == 1
    assert "httpx.ConnectError" in done.stderr
