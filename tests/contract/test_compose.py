"""docker-compose.yml gives the collector the rights it needs, the backend none, and fits our code.

It needs no Docker: the file is read, and the commands in it are given to our own parsers.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tidscope_backend.cli import VERBS
from tidscope_backend.cli.collect import socket_url
from tidscope_backend.settings import (
    BROWSER_VARIABLE,
    COLLECTOR_VARIABLE,
    DEFAULT_PORT,
    METRICS_VARIABLE,
    RUNS_VARIABLE,
    VIEW_VARIABLE,
)
from tidscope_collector.inspection.answering import Places
from tidscope_collector.steering.loop.affinity_leases import DIRECTORY as LEASES
from tidscope_wire.audit import SYSTEM_FOLDER as AUDIT
from tidscope_wire.generated.limits import MIN_SECRET

ROOT = Path(__file__).parent.parent.parent
ALL: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())[
    "services"
]
SERVICES = {name: service for name, service in ALL.items() if "profiles" not in service}
MONITORING = {name: service for name, service in ALL.items() if name not in SERVICES}
BACKEND, COLLECTOR = SERVICES["backend"], SERVICES["collector"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
FILES_OF_IMAGE = (ROOT / "tools" / "make-image").read_text()


def test_these_are_all_services() -> None:
    assert set(SERVICES) == {"backend", "collector"}
    assert set(MONITORING) == {"prometheus", "grafana"}


def test_collector_sees_the_host_with_few_capabilities() -> None:
    assert COLLECTOR["pid"] == COLLECTOR["network_mode"] == COLLECTOR["userns_mode"] == "host"
    assert COLLECTOR["cap_drop"] == ["ALL"]
    measuring = {"NET_ADMIN", "BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH"}
    steering, names = {"SYS_NICE", "DAC_OVERRIDE"}, {"KILL", "DAC_OVERRIDE"}
    stacks = {"CHECKPOINT_RESTORE", "SYSLOG"}
    assert set(COLLECTOR["cap_add"]) == measuring | steering | names | stacks


def test_what_steering_writes_outlives_the_container() -> None:
    kept = {folder.rpartition(":")[2] for folder in COLLECTOR["volumes"] if folder[-3:] != ":ro"}
    assert {str(LEASES.parent), str(AUDIT)} == kept


def test_control_groups_and_names_of_containers_are_seen() -> None:
    places = Places()
    seen = {folder.split(":")[1] for folder in COLLECTOR["volumes"] if folder[-3:] == ":ro"}
    podman = f"{places.podman}/overlay-containers"
    assert seen == {"/sys/fs/cgroup", f"{places.docker}/containers", podman}
    assert COLLECTOR["cgroup"] == "host"


def test_backend_has_no_rights() -> None:
    assert BACKEND["cap_drop"] == ["ALL"]
    assert int(BACKEND["user"].split(":")[0]) > 0
    assert not {"cap_add", "pid", "network_mode", "userns_mode"} & set(BACKEND)


def test_runs_and_state_outlive_the_container() -> None:
    (volume,) = BACKEND["volumes"]
    name, _, folder = volume.partition(":")
    assert name in yaml.safe_load((ROOT / "docker-compose.yml").read_text())["volumes"]
    for variable in (RUNS_VARIABLE, "XDG_STATE_HOME"):
        assert BACKEND["environment"][variable].startswith(f"{folder}/")
    # Docker gives a new volume the owner of the folder that the image has there.
    assert f"-o {BACKEND['user'].split(':')[0]} " in FILES_OF_IMAGE
    assert f" {folder} " in DOCKERFILE


@pytest.mark.parametrize("service", ALL.values(), ids=ALL)
def test_nothing_gains_rights(service: dict[str, Any]) -> None:
    assert "privileged" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["read_only"] is True


def test_secrets_are_asked_for_and_never_written_down() -> None:
    needed = {
        "backend": {BROWSER_VARIABLE, VIEW_VARIABLE, COLLECTOR_VARIABLE},
        "collector": {COLLECTOR_VARIABLE},
    }
    for name, service in SERVICES.items():
        others = {RUNS_VARIABLE, "XDG_STATE_HOME", METRICS_VARIABLE}
        secrets = {k: v for k, v in service["environment"].items() if k not in others}
        assert set(secrets) == needed[name]
        for variable, value in secrets.items():
            said = f"set it to at least {MIN_SECRET} characters"
            assert value == f"${{{variable}:?{said}}}"


def test_backend_is_reached_on_loopback_only() -> None:
    command = BACKEND["command"]
    port = command[command.index("--port") + 1]
    assert port == str(DEFAULT_PORT)
    assert BACKEND["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_monitoring_is_reached_on_loopback_only_and_reads_files_that_are_there() -> None:
    for service in MONITORING.values():
        assert service["profiles"] == ["monitoring"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert service["cap_drop"] == ["ALL"]
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert not source.startswith(".") or (ROOT / source).exists(), volume


def test_prometheus_asks_the_backend_with_the_token_that_it_gets() -> None:
    (job,) = yaml.safe_load((ROOT / "packaging/monitoring/prometheus.yml").read_text())[
        "scrape_configs"
    ]
    assert job["static_configs"] == [{"targets": [f"backend:{DEFAULT_PORT}"]}]
    command = BACKEND["command"]
    assert command[command.index("--allow-host") + 1] == "backend"
    (secret,) = MONITORING["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    described = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["secrets"]
    assert described == {secret: {"environment": METRICS_VARIABLE}}
    assert BACKEND["environment"][METRICS_VARIABLE] == f"${{{METRICS_VARIABLE}:-}}"


def test_collector_is_reported_where_the_backend_is() -> None:
    command = COLLECTOR["command"]
    url = command[command.index("--backend") + 1]
    assert socket_url(url) == f"ws://127.0.0.1:{DEFAULT_PORT}/ws/collector"


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
def test_commands_are_ours(service: dict[str, Any]) -> None:
    verb, *options = service["command"]
    assert verb in VERBS
    done = subprocess.run(
        [sys.executable, "-m", "tidscope_backend", verb, *options, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {option for option in options if option.startswith("--")} <= set(
        re.findall(r"--[a-z-]+", done.stdout)
    )


def copied_by_the_image() -> list[str]:
    return [
        word
        for line in DOCKERFILE.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in shlex.split(line)[1:-1]
    ]


def test_image_is_made_of_debian_the_locked_packages_and_the_wheel() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, flags=re.M)
    assert bases == ["debian:bookworm-slim", "scratch"]
    assert re.findall(r"^COPY --from=made (.*)$", DOCKERFILE, flags=re.M) == ["/image /"]
    assert copied_by_the_image() == [
        *("requirements.lock", "tools/make-installation", "tools/make-image"),
        "dist/*.whl",
    ]
    assert "./make-installation python3 /opt/tidscope requirements.lock *.whl" in DOCKERFILE
    script = (ROOT / "tools/make-installation").read_text()
    assert '--require-hashes --no-deps -r "$lock"' in script
    assert '--no-deps "$wheel"' in script
    assert not re.search(r"curl|wget|git |http", DOCKERFILE)


def test_only_what_the_image_copies_is_given_to_the_builder() -> None:
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert rules == ["*", *(f"!{path}" for path in copied_by_the_image())]


def test_image_runs_our_command_without_rights() -> None:
    assert 'ENTRYPOINT ["tidscope"]' in DOCKERFILE
    assert re.findall(r"^USER (\d+):", DOCKERFILE, flags=re.M) == ["65534"]
