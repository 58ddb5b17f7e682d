"""The REST interface: what it answers, and how it refuses."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from backend_builders import HOST_ID, TARGET_ID, host, process, target
from backend_server import TOKEN, Backend, running_backend
from schema_check import document
from tidscope_backend.security.rights import rights_of
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    AttachCommand,
    DetachCommand,
    DoctorCheck,
    DoctorCommand,
    DoctorReply,
    DoctorReport,
    FieldCatalogue,
    GroupSelector,
    HealthResponse,
    HostsResponse,
    ListProcessesCommand,
    Problem,
    ProblemType,
    ProcessesReply,
    ProcessesResponse,
    RefusedReply,
    SetDelayAccountingCommand,
    SetRateCommand,
    Target,
    TargetReply,
    TargetsResponse,
)
from tidscope_wire.problems import make_problem

WAIT = 200


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    """The file's backend; hosts and targets of earlier tests stay listed."""
    folder = tmp_path_factory.mktemp("backend")
    async with running_backend(web_dir=folder, state_dir=folder) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(tmp_path: Path) -> AsyncIterator[Backend]:
    """A backend that knows nothing."""
    async with running_backend(web_dir=tmp_path, state_dir=tmp_path) as running:
        yield running


def refused(answer: httpx.Response, status: int, kind: str) -> Problem:
    """Check that an answer is a problem document of this kind."""
    assert answer.headers["content-type"] == "application/problem+json"
    document = Problem.model_validate_json(answer.content)
    assert (answer.status_code, document.status) == (status, status)
    assert document.type == f"urn:tidscope:problem:{kind}"
    assert document.detail
    assert document.hint
    return document


async def test_health(fresh: Backend) -> None:
    async with fresh.program() as client:
        health = HealthResponse.model_validate_json((await client.get("/api/v1/health")).content)
        assert (health.status, health.collectors) == ("degraded", 0)
        assert health.rss_bytes > 10_000_000
        async with fresh.collector(targets=[target()]) as collector:
            await collector.greeted()
            health = HealthResponse.model_validate_json(
                (await client.get("/api/v1/health")).content
            )
            assert (health.status, health.collectors, health.targets) == ("ok", 1, 1)


async def test_hosts_targets_and_fields(fresh: Backend) -> None:
    async with fresh.program() as client, fresh.collector(targets=[target()]) as collector:
        await collector.greeted()
        hosts = HostsResponse.model_validate_json((await client.get("/api/v1/hosts")).content)
        assert hosts.hosts == [host()]
        targets = TargetsResponse.model_validate_json((await client.get("/api/v1/targets")).content)
        assert targets.targets == [target()]
        one = Target.model_validate_json((await client.get(f"/api/v1/targets/{TARGET_ID}")).content)
        assert one == target()
        fields = FieldCatalogue.model_validate_json((await client.get("/api/v1/fields")).content)
        assert fields == CATALOGUE


async def test_processes(backend: Backend) -> None:
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.get("/api/v1/processes", params={"host": HOST_ID}))
        command = await collector.command(ListProcessesCommand)
        await collector.say(
            ProcessesReply(request_id=command.request_id, processes=[process(1), process(2)])
        )
        reply = ProcessesResponse.model_validate_json((await asking).content)
        assert reply == ProcessesResponse(host=HOST_ID, processes=[process(1), process(2)])


async def test_doctor(backend: Backend) -> None:
    check = DoctorCheck(name="a", title="A", status="ok", finding="x", impact="", fix="")
    report = DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[check])
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.get("/api/v1/doctor"))
        command = await collector.command(DoctorCommand)
        await collector.say(DoctorReply(request_id=command.request_id, report=report))
        assert DoctorReport.model_validate_json((await asking).content) == report


@pytest.mark.parametrize("on", [True, False])
async def test_delay_accounting_is_switched_by_the_collector(backend: Backend, on: bool) -> None:
    check = DoctorCheck(
        name="a", title="A", status="ok", finding="x", impact="", fix="", enabled=on
    )
    report = DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[check])
    path = "/api/v1/doctor/delay-accounting"
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.put(path, params={"host": HOST_ID}, json={"on": on}))
        command = await collector.command(SetDelayAccountingCommand)
        assert command.on is on
        await collector.say(DoctorReply(request_id=command.request_id, report=report))
        assert DoctorReport.model_validate_json((await asking).content) == report


async def test_a_switch_that_is_refused(backend: Backend) -> None:
    problem = Problem(
        type="urn:tidscope:problem:not-permitted",
        title="The kernel does not permit it",
        status=403,
        detail="Read-only file system",
        hint="On the host: sudo sysctl",
    )
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(
            client.put("/api/v1/doctor/delay-accounting", json={"on": True})
        )
        command = await collector.command(SetDelayAccountingCommand)
        await collector.say(RefusedReply(request_id=command.request_id, problem=problem))
        assert refused(await asking, 403, "not-permitted") == problem


@pytest.mark.parametrize("body", ["{}", '{"on":2}', '{"on":"../../panic"}', '{"on":null}'])
async def test_nothing_but_on_or_off_reaches_the_collector(backend: Backend, body: str) -> None:
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        answer = await client.put(
            "/api/v1/doctor/delay-accounting",
            content=body,
            headers={"content-type": "application/json"},
        )
        refused(answer, 422, "bad-request")


async def test_attach_is_201_and_200_if_it_was_attached_already(fresh: Backend) -> None:
    async with fresh.program() as client, fresh.collector() as collector:
        await collector.greeted()
        for created, status in ((True, 201), (False, 200)):
            asking = asyncio.create_task(
                client.post("/api/v1/targets", json={"pid": 100, "rate_hz": 20})
            )
            command = await collector.attached(created)
            assert (command.pid, command.start_ticks, command.rate_hz) == (100, None, 20)
            answer = await asking
            assert answer.status_code == status
            assert Target.model_validate_json(answer.content) == target()
        listed = TargetsResponse.model_validate_json((await client.get("/api/v1/targets")).content)
        assert listed.targets == [target()]


async def test_a_group_is_attached_to(fresh: Backend) -> None:
    asked = {"kind": "tree", "pid": 7, "start_ticks": 5}
    async with fresh.program() as client, fresh.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.post("/api/v1/targets", json={"group": asked}))
        command = await collector.attached()
        assert command.pid is None
        assert command.group == GroupSelector(kind="tree", pid=7, start_ticks=5)
        assert (await asking).status_code == 201


@pytest.mark.parametrize("body", [{}, {"pid": 7, "group": {"kind": "tree", "pid": 7}}])
async def test_either_a_process_or_a_group_is_attached_to(
    backend: Backend, body: dict[str, Any]
) -> None:
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        refused(await client.post("/api/v1/targets", json=body), 422, "bad-request")


async def test_the_collectors_refusal_is_passed_on_as_it_is(backend: Backend) -> None:
    said = make_problem("kernel-thread", "process 2 is kthreadd", "choose another")
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.post("/api/v1/targets", json={"pid": 2}))
        command = await collector.command(AttachCommand)
        await collector.say(RefusedReply(request_id=command.request_id, problem=said))
        assert refused(await asking, 422, "kernel-thread") == said


@pytest.mark.parametrize(("kind", "status"), [("unauthenticated", 401), ("kernel-thread", 401)])
async def test_a_refusal_that_no_collector_gives_is_not_passed_on(
    backend: Backend, kind: ProblemType, status: int
) -> None:
    said = make_problem(kind, "show your token at evil.example", "do so").model_copy(
        update={"status": status}
    )
    async with backend.program() as client, backend.collector() as collector:
        await collector.greeted()
        asking = asyncio.create_task(client.post("/api/v1/targets", json={"pid": 2}))
        command = await collector.command(AttachCommand)
        await collector.say(RefusedReply(request_id=command.request_id, problem=said))
        problem = refused(await asking, 500, "internal")
        assert kind in problem.detail
        assert "evil" not in problem.detail


async def test_rate_and_detach(fresh: Backend) -> None:
    async with fresh.program() as client, fresh.collector(targets=[target()]) as collector:
        await collector.greeted()
        path = f"/api/v1/targets/{TARGET_ID}"
        asking = asyncio.create_task(client.patch(path, json={"rate_hz": 50}))
        rate = await collector.command(SetRateCommand)
        assert (rate.target, rate.rate_hz) == (TARGET_ID, 50)
        await collector.say(
            TargetReply(request_id=rate.request_id, target=target(rate_hz=50), created=False)
        )
        assert Target.model_validate_json((await asking).content).rate_hz == 50
        asking = asyncio.create_task(client.delete(path))
        detach = await collector.command(DetachCommand)
        await collector.say(
            TargetReply(
                request_id=detach.request_id, target=target(state="detached"), created=False
            )
        )
        answer = await asking
        assert (answer.status_code, answer.content) == (204, b"")
        refused(await client.patch(path, json={"rate_hz": 5}), 410, "target-exited")
        # A second deletion removes it from the list.
        assert (await client.delete(path)).status_code == 204
        refused(await client.get(path), 404, "unknown-target")


async def test_a_collector_that_does_not_answer(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(web_dir=tmp_path, command_seconds=0.2) as backend,
        backend.program() as client,
        backend.collector() as collector,
    ):
        await collector.greeted()
        answer = await client.get("/api/v1/processes")
        assert "0.2 s" in refused(answer, 504, "collector-timeout").detail


async def test_a_collector_that_goes_away_meanwhile(backend: Backend) -> None:
    async with backend.program() as client:
        async with backend.collector() as collector:
            await collector.greeted()
            asking = asyncio.create_task(client.get("/api/v1/processes"))
            await collector.command(ListProcessesCommand)
        assert "lost" in refused(await asking, 503, "no-collector").detail
        refused(
            await client.get("/api/v1/processes", params={"host": HOST_ID}), 503, "no-collector"
        )


async def test_several_hosts_have_to_be_named(fresh: Backend) -> None:
    other_host = host("h-ba9876543210")
    async with (
        fresh.program() as client,
        fresh.collector() as one,
        fresh.collector(host=other_host, secret=fresh.add_host("other")) as other,
    ):
        await one.greeted()
        await other.greeted()
        answer = await client.post("/api/v1/targets", json={"pid": 1})
        assert HOST_ID in refused(answer, 422, "bad-request").detail
        answer = await client.get("/api/v1/processes", params={"host": "h-000000000000"})
        assert "h-000000000000" in refused(answer, 404, "unknown-host").detail


def routes() -> Iterator[tuple[str, str]]:
    """Method and path of every route in the interface's own description."""
    for path, operations in document()["paths"].items():
        for method in operations:
            yield method.upper(), path.replace("{target_id}", "t-1-00000000")


ROUTES = sorted(routes())


BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/v1/targets"): {
        "host": HOST_ID,
        "pid": 1,
        "start_ticks": 1,
        "group": {"kind": "tree", "pid": 1, "start_ticks": 1, "value": "a"},
        "rate_hz": 10,
        "role_rules": [{"pattern": "a-*", "role": "a"}],
    },
    ("PATCH", "/api/v1/targets/{target_id}"): {"rate_hz": 10},
    ("PUT", "/api/v1/targets/{target_id}/steering"): {
        "policy": "fixed",
        "parameters": {"size": 2},
        "shadow": True,
        "knob": "pool-agent",
        "signal": "prometheus",
        "lower": 1,
        "upper": 2,
        "share": 1.5,
        "floor": 1,
        "priority": -1,
        "prometheus": {"port": 1, "path": "/metrics", "metric": "ops_total"},
        "programs": [{"pid": 1, "knob": "pool-agent", "upper": 2}],
        "join": True,
        "proof": {"block_s": 10, "smallest_percent": 2, "seed": 7},
        "sweep": {"block_s": 1, "sizes": 4},
        "lease_s": 15,
    },
    ("PUT", "/api/v1/doctor/delay-accounting"): {"on": True},
    ("POST", "/api/v1/session"): {"token": TOKEN},
    ("POST", "/api/v1/proof"): {"subject": "operator", "nonce": "ab" * 32, "port": 8787},
    ("POST", "/api/v1/proof/session"): {
        "subject": "operator",
        "client_nonce": "ab" * 32,
        "backend_nonce": "cd" * 40,
        "port": 8787,
        "proof": "ef" * 32,
    },
    ("POST", "/api/v1/session/tickets"): {"path": "/api/v1/runs/r/export"},
    ("POST", "/api/v1/traces/jaeger"): {
        "port": 16686,
        "service": "frontend",
        "limit": 20,
        "lookback_s": 60,
    },
    ("POST", "/api/v1/targets/{target_id}/stacks"): {"seconds": 5},
    ("POST", "/api/v1/experiments"): {"name": "a", "preset": "quick"},
    ("POST", "/api/v1/ring/cuts"): {
        "track": "r-20261129-000000-000000",
        "host": None,
        "from_unix_us": 1,
        "to_unix_us": 2,
        "name": "a",
    },
    ("POST", "/api/v1/runs"): {
        "target": TARGET_ID,
        "stacks": True,
        "name": "a",
        "tags": ["a"],
        "group": "a",
        "notes": "a",
        "past_s": 1,
        "duration_s": 1,
        "command": "a",
    },
    ("PATCH", "/api/v1/runs/{run_id}"): {
        "name": "a",
        "tags": ["a"],
        "group": "a",
        "notes": "a",
        "marks": [{"time_ns": 1, "text": "a"}],
        "outcome": {
            **{"command": ["a"], "exit_code": 0, "signal": None, "elapsed_us": 1},
            **{"user_cpu_us": 1, "system_cpu_us": 1, "max_rss_bytes": 1},
            **{"children_cpu_us": None, "output_tail": None, "output_bytes": 0},
            **{"major_faults": 0, "minor_faults": 1},
            **{"voluntary_switches": 1, "involuntary_switches": 1},
        },
        "results": [{"name": "ops", "value": 1, "better": "more"}],
    },
}
"""A good body for each route that takes JSON, with every property."""
NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or object within a value, with each place in it that holds neither."""
    for key in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], dict | list):
            yield from leaves(value[key])
        else:
            yield value, key


def with_each_leaf(body: dict[str, Any], literal: str) -> Iterator[tuple[str, str]]:
    """The body as text, once for each value in it, with the literal there; and that place."""
    body = json.loads(json.dumps(body))
    for holder, key in leaves(body):
        good, holder[key] = holder[key], "LITERAL"
        yield str(key), json.dumps(body).replace('"LITERAL"', literal)
        holder[key] = good


async def test_there_is_a_good_body_of_every_property() -> None:
    schema = document()
    properties = {
        (method.upper(), path): schema["components"]["schemas"][
            operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition(
                "/"
            )[2]
        ]["properties"]
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }
    assert {route: set(body) for route, body in BODIES.items()} == {
        route: set(found) for route, found in properties.items()
    }


@pytest.mark.parametrize(("method", "path"), BODIES)
async def test_a_number_that_json_does_not_have_is_refused_at_once(
    backend: Backend, method: str, path: str
) -> None:
    """A collector is there that would answer nothing: what reached it would time out."""
    address = path.format(target_id=TARGET_ID, run_id="20260101-000000-abcdef")
    async with backend.program() as client, backend.collector(targets=[target()]) as collector:
        await collector.greeted()
        broken = [
            one for literal in NO_NUMBERS for one in with_each_leaf(BODIES[method, path], literal)
        ]
        for place, text in broken:
            answer = await client.request(
                method, address, content=text, headers={"content-type": "application/json"}
            )
            assert place in refused(answer, 422, "bad-request").detail


async def test_all_routes_are_described() -> None:
    assert len(ROUTES) >= 14


async def test_every_route_refuses_who_has_no_session(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as client:
        for method, path in ROUTES:
            if rights_of(path)[method] != "public":
                answer = await client.request(method, path)
                refused(answer, 401, "unauthenticated")
                assert answer.headers["www-authenticate"] == "Bearer"


async def test_every_change_refuses_other_sites(backend: Backend) -> None:
    changes = [(method, path) for method, path in ROUTES if method != "GET"]
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {}):
        async with backend.client(**headers) as client:
            for method, path in changes:
                refused(await client.request(method, path), 403, "forbidden-origin")
    async with backend.program() as client:
        for method, path in changes:
            answer = await client.request(method, path, headers={"origin": "http://evil.example"})
            refused(answer, 403, "forbidden-origin")


async def test_every_route_says_which_methods_it_takes(backend: Backend) -> None:
    async with backend.program() as client:
        for path in sorted({path for _, path in ROUTES}):
            answer = await client.request("PROPFIND", path)
            assert "PROPFIND" in refused(answer, 405, "method-not-allowed").detail
            assert answer.headers["allow"]


async def test_what_needs_a_collector_says_so(fresh: Backend) -> None:
    async with fresh.program() as client:
        for method, path, body in (
            ("GET", "/api/v1/processes", None),
            ("GET", "/api/v1/doctor", None),
            ("GET", "/api/v1/sizes", None),
            ("PUT", "/api/v1/doctor/delay-accounting", {"on": True}),
            ("POST", "/api/v1/demo", None),
            ("POST", "/api/v1/targets", {"pid": 1}),
        ):
            answer = await client.request(method, path, json=body)
            assert "tidscope" in refused(answer, 503, "no-collector").hint


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ("{", 400, "JSON"),
        ("{}", 422, "pid"),
        ('{"pid":0}', 422, "not 0"),
        ('{"pid":"many"}', 422, "'many'"),
        ('{"pid":1,"rate_hz":500}', 422, "not 500"),
        ('{"pid":1,"colour":"red"}', 422, "colour"),
    ],
)
async def test_a_bad_body_is_named(backend: Backend, body: str, status: int, named: str) -> None:
    async with backend.program() as client:
        answer = await client.post(
            "/api/v1/targets", content=body, headers={"content-type": "application/json"}
        )
        assert named in refused(answer, status, "bad-request").detail


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api", "/api/v1/targets/", "/ws/other", "/docs/x"]
)
async def test_an_unknown_path(backend: Backend, path: str) -> None:
    async with backend.program() as client:
        assert path in refused(await client.get(path), 404, "not-found").detail


async def test_a_large_body_is_refused_announced_or_not(backend: Backend) -> None:
    most = backend.settings.max_body_bytes

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(most // 1024 + 1):
            yield b" " * 1024

    async with backend.program() as client:
        refused(await client.post("/api/v1/targets", content=b" " * (most + 1)), 413, "too-large")
        refused(await client.post("/api/v1/targets", content=pieces()), 413, "too-large")


async def test_docs_need_no_other_site(backend: Backend) -> None:
    async with backend.program() as client:
        page = (await client.get("/docs")).text
        assert "/api/v1/targets/{target_id}" in page
        assert "http" not in page.replace("https://", "")
        assert "script" not in page
        assert (await client.get("/openapi.json")).json()["info"]["title"] == "tidscope"
