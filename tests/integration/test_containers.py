"""The services of docker-compose.yml in containers: a program in another one, chosen by name."""

import asyncio
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from built_wheel import PLACE, installation_for_containers
from capabilities import needs
from containers import Podman, compose_options, containers
from followed_target import Follower
from live_page import LivePage
from programs.contended import PYTHON
from receiver import connected
from tidscope_processes import ROOT, free_port, python_for
from tidscope_wire.generated.models import Target

pytestmark = [needs("root"), needs("btf"), pytest.mark.timeout(900)]
THREADS = 3
NAMED = "tidscope-test-"
SERVICES: dict[str, dict[str, Any]] = {
    name: service
    for name, service in yaml.safe_load((ROOT / "docker-compose.yml").read_text())[
        "services"
    ].items()
    if "profiles" not in service
}


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    with containers() as made:
        yield made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Sequence[str]:
    """Options that mount an installation of the wheel."""
    folder = tmp_path_factory.mktemp("installed") / "tidscope"
    return installation_for_containers(folder, wheel, python_for("nobody"))


@dataclass(frozen=True)
class Started:
    """The two services.

    Attributes:
        port: port of the backend on this machine.
        token: the operators' token.
        names: names of the containers, by service.
    """

    port: int
    token: str
    names: dict[str, str]


@contextmanager
def services(podman: Podman, installed: Sequence[str], folder: Path) -> Iterator[Started]:
    """Start backend and collector as docker-compose.yml does, but for image and port.

    Folders of the host that the collector writes to are below `folder`.
    """
    port, run = free_port(), uuid.uuid4().hex[:8]
    secrets_of_run = {
        name: secrets.token_hex(16)
        for name in (
            *("TIDSCOPE_TOKEN", "TIDSCOPE_VIEW_TOKEN"),
            *("TIDSCOPE_COLLECTOR_SECRET", "TIDSCOPE_METRICS_TOKEN"),
        )
    }
    names = {service: f"{NAMED}{service}-{run}" for service in SERVICES}

    def started(service: str) -> Any:
        described = dict(SERVICES[service])
        described["ports"] = [one.replace("8787", str(port)) for one in described.get("ports", ())]
        described["volumes"] = [_volume(one, folder, run) for one in described["volumes"]]
        options = [*compose_options(described, secrets_of_run), *installed]
        command = [word.replace("8787", str(port)) for word in described["command"]]
        return podman.running(names[service], options, (f"{PLACE}/bin/tidscope", *command))

    try:
        with started("backend"), started("collector"):
            yield Started(port, secrets_of_run["TIDSCOPE_TOKEN"], names)
    finally:
        podman.call("volume", "rm", "--force", f"{NAMED}runs-{run}")


def _volume(text: str, folder: Path, run: str) -> str:
    source, _, rest = text.partition(":")
    if not source.startswith("/"):
        return f"{NAMED}{source}-{run}:{rest}"
    if rest.endswith(":ro") and Path(source).exists():
        return text
    (folder / source[1:]).mkdir(parents=True, exist_ok=True)
    return f"{folder / source[1:]}:{rest}"


async def followed(started: Started, container: str) -> tuple[Target, Follower]:
    """Attach to a container by its name, and read frames until all threads waited for its lock."""
    address, bearer = f"127.0.0.1:{started.port}", f"Bearer {started.token}"
    group = {"kind": "container", "value": container}
    headers = {"authorization": bearer}
    async with (
        httpx.AsyncClient(base_url=f"http://{address}", headers=headers, timeout=60) as client,
        LivePage(f"ws://{address}", started.token) as page,
    ):
        await connected(page)
        answer = await client.post("/api/v1/targets", json={"group": group, "rate_hz": 20})
        assert answer.status_code == 201, answer.text
        target = Target.model_validate_json(answer.content)
        await page.subscribe(target.id)
        seen = Follower()
        while "GIL in python3" not in names_of_locks(seen) or len(waiting(seen)) < THREADS:
            seen.take((await page.frame())[1])
        return target, seen


def waiting(seen: Follower) -> list[int]:
    """Threads that have waited for a lock."""
    return [tid for tid in seen.rows if seen.states(tid)["state_futex_ns"] > 0]


def names_of_locks(seen: Follower) -> set[str]:
    """Names of the locks that threads have waited for."""
    if not {"locks", "lock_names"} <= seen.tables.keys():
        return set()
    waited = set(seen.tables["locks"]["lock"].tolist())
    names = seen.tables["lock_names"]
    pairs = zip(names["name"].tolist(), names["lock"].tolist(), strict=True)
    return {name for name, lock in pairs if lock in waited}


def test_a_program_in_another_container_is_attached_to_by_name(
    podman: Podman, installed: Sequence[str], tmp_path: Path
) -> None:
    """Threads of the program, their states and their lock are read."""
    name = f"{NAMED}program-{uuid.uuid4().hex[:8]}"
    program = ("/usr/bin/python3", "-c", PYTHON, str(THREADS), "hold")
    with (
        podman.running(name, ("--network=none", "--user=nobody"), program),
        services(podman, installed, tmp_path) as started,
    ):
        podman.says(name, "ready")
        podman.says(started.names["backend"], "listening")
        podman.says(started.names["collector"], "connected to the backend")
        target, seen = asyncio.run(asyncio.wait_for(followed(started, name), 300))
    assert target.group is not None
    assert (target.group.kind, target.group.value) == ("container", name)
    assert len(seen.rows) == THREADS + 1
