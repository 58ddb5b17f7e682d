"""Schemas, generated models and what really travels are the same protocol."""

import asyncio
import inspect
import json
import math
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import compared_runs
import httpx
import pytest
from backend_builders import (
    ACTOR,
    FIELDS,
    HOST_ID,
    TARGET_ID,
    division,
    frame_bytes,
    host,
    key_frame,
    process,
    steering,
    target,
)
from backend_server import Backend, running_backend
from builders import frame_header
from compared_runs import Instant, Life
from experiment_entries import journal
from jsonschema import Draft202012Validator, ValidationError
from pydantic import BaseModel
from pydantic import ValidationError as ModelError
from run_builders import run_messages
from schema_check import check, check_text, schemas
from tidscope_backend.comparison.compare import compare
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.difference import DifferenceRules
from tidscope_backend.ring.listing import ring_response
from tidscope_wire.frame import split
from tidscope_wire.generated import agent, models
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.message import Message
from tidscope_wire.problems import make_problem

TRACK = models.RingTrack(
    id="r-20261129-030000-0000bb",
    target=target(),
    host_name="box",
    from_unix_us=1,
    to_unix_us=2,
    bytes=3,
)
AUDIT_RECORD = models.AuditRecord(
    unix_us=1,
    action="attach",
    outcome="refused",
    actor=ACTOR,
    object="process 1",
    details={"problem": "unknown-process"},
    lost=0,
)
REFUSAL = make_problem("kernel-thread", "process 2 is kthreadd", "choose another")
FAILURE = make_problem("internal", "the collector failed", "see its log")
CHECK = models.DoctorCheck(name="a", title="A", status="ok", finding="x", impact="", fix="")
REPORT = models.DoctorReport(host="box", kernel="6", checked_unix_ms=1, status="ok", checks=[CHECK])
AGENT = agent.AgentHello(
    pid=1,
    runtime="go",
    version="1",
    protocol=1,
    knob="gomaxprocs",
    lower=1,
    upper=4,
    size=2,
    original=4,
)
SWEEP = models.SweepState(
    verdict="decided",
    start=4,
    rounds=4,
    discarded=0,
    points=[models.SweepPoint(size=2, ops_per_s=3.5, low=None, high=None, rounds=4)],
    best=2,
    knee=2,
    knee_from=2,
    knee_to=2,
    gain=models.MeasuredChange(percent=12.5, low_percent=None, high_percent=None),
    refused=[1],
    line="GOMAXPROCS=2",
    lost_s=0.5,
    elapsed_s=60.0,
    text="t",
)
EVENTS: list[models.TargetEvent] = [
    models.ThreadBorn(tid=7, start_ns=-1, name="a"),
    models.ThreadRenamed(tid=7, name="b", previous="a"),
    models.ThreadExited(
        tid=7, start_ns=-1, name="b", totals={FIELDS[0]: 5}, exact=True, seen_alive=False
    ),
    models.TargetExited(exit_code=None),
    models.TargetDetached(),
    models.RateChanged(rate_hz=5, previous_hz=10),
    models.RateAdapted(
        rate_hz=5, previous_hz=10, requested_hz=10, overhead_percent=3.5, budget_percent=2
    ),
    models.DeadlinesMissed(count=1),
    models.ExitRecordsLost(count=2),
    models.Gap(from_seq=1, to_seq=2, reason="r"),
    models.GomaxprocsChanged(size=2, previous=1),
    models.ProgramExecuted(name="sleep", executable="/bin/sleep", previous=None),
    models.SampleFailed(reason="r"),
    models.CountersSourceChanged(source="walk", previous="genetlink", reason="r", disagreed=False),
    models.SteeringStarted(
        policy="fixed",
        shadow=False,
        knob="go-agent",
        signal="agent-ops",
        proxy=False,
        lower=1,
        upper=2,
        size=2,
        actor="a",
    ),
    models.SteeringDecided(
        number=1,
        policy="fixed",
        at_ns=1,
        elapsed_s=2.0,
        ops=3.5,
        mean_wait_s=None,
        size=2,
        next_size=1,
        proposed=None,
        state="s",
        reason="r",
        counted=True,
        probing=False,
    ),
    models.SteeringDecided(
        number=1,
        policy="arbiter",
        at_ns=1,
        elapsed_s=2.0,
        ops=3.5,
        mean_wait_s=None,
        size=2,
        next_size=1,
        proposed=None,
        state="s",
        reason="r",
        counted=True,
        probing=False,
        division=division(state="trying", cause="try", more_percent=None),
    ),
    models.SearchRestarted(policy="fixed", reason="r", actor="a"),
    models.SteeringReleased(policy="fixed", size=2, actor="a"),
    models.SteeringProblem(policy="fixed", problem=None),
    models.SteeringProven(
        policy="fixed",
        proof=models.ProofState(
            verdict="same",
            pairs=3,
            discarded=0,
            gain_percent=None,
            low_percent=None,
            high_percent=None,
            lost_s=0.5,
            elapsed_s=120.0,
            steers=False,
            text="t",
        ),
    ),
    models.SteeringSwept(policy="sweep", sweep=SWEEP),
]
COUNTER = models.PrometheusCounter(port=80, path="/metrics", metric="ops_total")
POLICY = models.PolicyInfo(
    name="fixed",
    meaning="m",
    source="s",
    wait=False,
    parameters=[
        models.PolicyParameter(
            name="n", unit="s", integer=False, default=1, low=0, high=2, meaning="m"
        )
    ],
)
STEERING = steering(division=division())
CHILD = models.ExperimentChild(
    name="mine", preset="quick", exit_code=None, started_unix_us=1, messages=["interrupted"]
)
STEER = models.SteerRequest(policy="fixed", lower=1, prometheus=COUNTER)
OPTIONS = models.SteeringOptions(
    knobs=[models.KnobOption(kind="go-affinity", refusal="r", lower=None, upper=None, size=None)],
    signals=[models.SignalOption(kind="network-bytes", proxy=True, refusal="", note="n")],
    steering=STEERING,
)
COMPARISON = compare(
    [
        [
            compared_runs.tables(
                1, [Life("main", (0, 0, 0), (5, 1, None))], [Instant(5, {"main": (0, 0, 0)})]
            )
        ],
        [compared_runs.tables(2, tidscope="0.2.0"), compared_runs.tables(3)],
    ],
    "policy",
)
SESSION = models.SessionInfo(
    id="1f",
    role="operator",
    label="Firefox",
    address="127.0.0.1",
    opened_unix_us=1,
    used_unix_us=2,
    expires_unix_us=3,
    own=True,
)
EXPERIMENT = analyse(
    journal([({"policy": one}, [1.0, 2.0]) for one in ("default", "linear")]), carried_out=False
)

VARIANTS = analyse(
    journal(
        [({"variant": one}, [{"throughput": 1.0, "wall_s": 1.0}] * 4) for one in ("old", "new")],
        difference=DifferenceRules("wall_s", "Wall time", "s", "less", 2.0, None, None, 0),
    ),
    carried_out=False,
)

MESSAGES: list[BaseModel] = [
    COMPARISON,
    *COMPARISON.runs,
    *COMPARISON.groups,
    *COMPARISON.setup,
    *COMPARISON.roles,
    *COMPARISON.metrics,
    *COMPARISON.series,
    *EVENTS,
    REFUSAL,
    CHECK,
    REPORT,
    CATALOGUE,
    *CATALOGUE.fields,
    host(),
    process(refusal=REFUSAL),
    target(),
    frame_header(events=EVENTS),
    models.CollectorHello(policies=[POLICY], protocol=1, host=host(), targets=[target()]),
    models.CollectorFrames(protocol=1, host=HOST_ID, ticket="0" * 32),
    models.CollectorWelcome(protocol=1, resume={TARGET_ID: 4}),
    models.CollectorWelcome(protocol=1, resume={}, frames="0" * 32),
    models.FramesReceived(targets={TARGET_ID: 4}),
    models.FramesWatched(targets=[TARGET_ID]),
    models.AttachCommand(request_id=1, pid=1, start_ticks=None, rate_hz=10, actor=ACTOR),
    ACTOR,
    AUDIT_RECORD,
    models.DetachCommand(request_id=1, target=TARGET_ID, actor=ACTOR),
    models.SetRateCommand(request_id=1, target=TARGET_ID, rate_hz=1, actor=ACTOR),
    models.SampleStacksCommand(request_id=1, target=TARGET_ID, seconds=0.5, actor=ACTOR),
    models.NameThreadsCommand(
        request_id=1,
        target=TARGET_ID,
        names=[models.SpanThreadName(pid=7, tid=8, name="order-worker")],
    ),
    models.DebugFilesCommand(request_id=1, target=TARGET_ID, build_ids=["ab" * 20]),
    models.StackRequest(seconds=3600),
    models.FlushCommand(request_id=1, target=TARGET_ID),
    models.FlushReply(request_id=1, seq=4, exited=None),
    models.ListRingCommand(request_id=1),
    models.ListRingReply(request_id=1, ring=ring_response(None, [TRACK])),
    models.CutRingCommand(
        request_id=1, cut=models.RingCut(track=TRACK.id, from_unix_us=1, to_unix_us=2, name="a")
    ),
    models.CutRingReply(request_id=1, cut="c-0123456789abcdef", bytes=5),
    models.ReadCutCommand(request_id=1, cut="c-0123456789abcdef", offset=0),
    models.ReadCutReply(request_id=1, data="aGVsbG8="),
    models.ListProcessesCommand(request_id=1),
    models.DoctorCommand(request_id=1),
    models.SizeAuditCommand(request_id=1),
    models.SetDelayAccountingCommand(request_id=1, on=True, actor=ACTOR),
    models.SteerCommand(request_id=1, target=TARGET_ID, request=STEER, actor=ACTOR),
    models.RenewSteeringCommand(request_id=1, target=TARGET_ID),
    models.RestartSearchCommand(request_id=1, target=TARGET_ID, actor=ACTOR),
    models.ReleaseCommand(request_id=1, target=TARGET_ID, actor=ACTOR),
    models.SteeringOptionsCommand(request_id=1, target=TARGET_ID),
    models.SteeringOptionsReply(request_id=1, options=OPTIONS),
    models.TargetReply(request_id=1, target=target(), created=True),
    models.ProcessesReply(request_id=1, processes=[process()]),
    models.DoctorReply(request_id=1, report=REPORT),
    models.SizeAuditReply(request_id=1, audit=models.SizeAudit(programs=[], omitted=0)),
    models.RefusedReply(request_id=1, problem=REFUSAL),
    models.TargetChanged(target=target(state="exited")),
    models.TargetForgotten(target=TARGET_ID),
    models.FramesLost(target=TARGET_ID, from_seq=1, to_seq=2, reason="r"),
    models.CollectorGoodbye(last={TARGET_ID: 4}),
    models.LiveState(hosts=[host()], targets=[target()]),
    models.LiveProblem(problem=REFUSAL),
    models.StreamStats(sent=1, coalesced=0, dropped=0, queue=0, clients=1),
    models.Subscribe(target=TARGET_ID, after_seq=None),
    models.Unsubscribe(target=TARGET_ID),
    models.FrameAck(frames=1),
    models.AttachRequest(pid=1),
    models.JaegerRequest(port=16686, service="frontend", limit=20, lookback_s=60),
    models.RateRequest(rate_hz=100),
    models.DelayAccountingRequest(on=False),
    models.SessionRequest(token="t"),
    models.ProofRequest(subject="operator", nonce="ab" * 32, port=8787),
    models.ProofResponse(nonce="cd" * 40, proofs=["ef" * 32, "01" * 32]),
    models.ClientProof(
        subject="collector:web-1.example",
        client_nonce="ab" * 32,
        backend_nonce="cd" * 40,
        port=None,
        proof="ef" * 32,
    ),
    STEER,
    models.PoliciesResponse(policies=[POLICY]),
    models.ExperimentsResponse(
        experiments=[EXPERIMENT.summary],
        damaged=["x: cannot be read"],
        files=[
            models.StartableExperiment(
                name="mine",
                title="Mine",
                lengths=[models.ExperimentLength(preset="quick", least_s=None)],
                problem="",
            )
        ],
        child=CHILD,
    ),
    models.StartExperimentRequest(name="mine", preset="short"),
    CHILD,
    EXPERIMENT,
    VARIANTS,
    *VARIANTS.verdicts,
    models.SessionOpened(id="1f", role="viewer", credential="tds_c"),
    models.SessionResponse(role="viewer", id=None),
    SESSION,
    models.SessionsResponse(sessions=[SESSION]),
    models.TicketRequest(path="/api/v1/runs/r/export"),
    models.TicketResponse(ticket="t"),
    models.TargetsResponse(targets=[target()]),
    models.HostsResponse(hosts=[host()]),
    models.ProcessesResponse(host=host().id, processes=[]),
    models.DemoResponse(target=target()),
    *run_messages(),
    agent.AgentCall(id=1, method="hello"),
    agent.AgentSetCall(id=2, params=agent.AgentSetParams(size=1, lease_s=0.5)),
    agent.AgentAnswer(id=2, result=AGENT),
    AGENT,
    agent.AgentReading(ops=1, size=1, queue_wait_ns=None, queue_waits=None, monotonic_ns=1),
    agent.AgentSize(size=2, wanted=1),
    agent.AgentFailure(id=None, error=agent.AgentError(code=-32700, message="m")),
    agent.AgentNotice(),
]
BY_NAME = {type(message).__name__: message for message in MESSAGES}


def test_every_schema_is_one() -> None:
    for schema in schemas().values():
        Draft202012Validator.check_schema(schema)


def test_every_message_has_an_example_here() -> None:
    """A new message needs an example; examples of messages cover their parts."""
    named = {
        title
        for title, schema in schemas().items()
        if schema.get("properties", {}).get("type", {}).get("const")
        or title.endswith(("Request", "Response"))
    }
    # Health is checked below, as the backend answers it.
    assert named - set(BY_NAME) == {"HealthResponse"}


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_models_write_what_schemas_allow(name: str) -> None:
    check(name, json.loads(BY_NAME[name].model_dump_json()))


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_models_and_schemas_refuse_the_same(name: str) -> None:
    """A member too many, each required one missing, each of a wrong kind."""
    message = json.loads(BY_NAME[name].model_dump_json())
    required = schemas()[name].get("required", [])
    wrong: list[dict[str, Any]] = [{**message, "surplus": 1}]
    # Models fill in what can have one value only.
    given = [key for key in required if "const" not in schemas()[name]["properties"][key]]
    wrong += [{k: v for k, v in message.items() if k != key} for key in given]
    wrong += [
        {**message, key: {"no": "such"}}
        for key in message
        if key not in ("resume", "details", "labels")
    ]
    for value in wrong:
        with pytest.raises(ValidationError):
            check(name, value)
        with pytest.raises(ModelError):
            type(BY_NAME[name]).model_validate(value)


def test_a_frame_may_have_every_table() -> None:
    """A Go program with stacks, locks and pools has most of them in a key frame."""
    tables = [{"name": name, "rows": 0, "bytes": 8} for name in COLUMNS]
    header = frame_header().model_dump() | {"tables": tables}
    found = models.FrameHeader.model_validate(header).tables
    assert found is not None
    assert len(found) == len(COLUMNS)


def test_every_model_comes_from_a_schema() -> None:
    classes = {
        name
        for name, value in inspect.getmembers(models, inspect.isclass)
        if issubclass(value, Message) and value is not Message
    }
    assert classes <= set(schemas())


@pytest.mark.parametrize("generated", [models, agent])
def test_no_model_holds_a_number_that_json_does_not_have(generated: ModuleType) -> None:
    classes = [
        value
        for _, value in inspect.getmembers(generated, inspect.isclass)
        if issubclass(value, BaseModel) and value is not Message
    ]
    assert len(classes) > 5
    for one in classes:
        assert one.model_config.get("allow_inf_nan") is False, one
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ModelError, match="finite"):
            models.SteerRequest(policy="fixed", parameters={"size": number})


def test_every_kind_of_problem_has_a_status_and_a_title() -> None:
    assert set(PROBLEMS) == set(schemas()["ProblemType"]["enum"])
    for kind in PROBLEMS:
        check("Problem", json.loads(make_problem(kind, "d", "h").model_dump_json()))


def test_close_codes_are_those_of_the_schema() -> None:
    codes = {code["title"].upper(): code["const"] for code in schemas()["CloseCode"]["oneOf"]}
    assert {code.name: code.value for code in CloseCode} == codes


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with asyncio.timeout(200), running_backend() as running:
        yield running


async def test_what_the_backend_sends_to_a_page(backend: Backend) -> None:
    seen: set[str] = set()
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        for number in range(9):
            await page.subscribe(f"t-{number}-00000000")
        await page.unsubscribe("t-0-00000000")
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1), frame_bytes(5, events=EVENTS))
        while seen < {"live_state", "live_problem", "frames_lost", "stream_stats", "frame"}:
            message = await page.socket.recv()
            if isinstance(message, bytes):
                header, _ = split(message)
                end = 4 + int.from_bytes(message[:4], "little")
                check_text("FrameHeader", message[4:end])
                seen.add(header.type)
            else:
                seen.add(check_text("LiveMessage", message)["type"])


async def test_what_the_backend_sends_to_a_collector(backend: Backend) -> None:
    async with backend.program() as client, backend.collector(targets=[target()]) as collector:
        path = f"/api/v1/targets/{TARGET_ID}"
        asking = [
            asyncio.create_task(client.request(method, where, json=body))
            for method, where, body in (
                ("GET", "/api/v1/processes", None),
                ("GET", "/api/v1/doctor", None),
                ("GET", "/api/v1/sizes", None),
                ("PUT", "/api/v1/doctor/delay-accounting", {"on": False}),
                ("POST", "/api/v1/targets", {"pid": 1}),
                ("PATCH", path, {"rate_hz": 2}),
                ("DELETE", path, None),
            )
        ]
        seen: set[str] = set()
        while len(seen) < 8:
            message = check_text("CollectorCommand", await collector.socket.recv())
            seen.add(message["type"])
            if "request_id" in message:
                await collector.say(
                    models.RefusedReply(request_id=message["request_id"], problem=FAILURE)
                )
        for answer in await asyncio.gather(*asking):
            assert answer.status_code == FAILURE.status


async def test_what_the_backend_answers(backend: Backend) -> None:
    async with backend.program() as client, backend.collector(targets=[target()]) as collector:
        await collector.greeted()
        for path, title in (
            ("health", "HealthResponse"),
            ("hosts", "HostsResponse"),
            ("targets", "TargetsResponse"),
            (f"targets/{TARGET_ID}", "Target"),
            ("fields", "FieldCatalogue"),
            ("nothing", "Problem"),
        ):
            check_text(title, (await client.get(f"/api/v1/{path}")).content)


async def test_an_error_of_ours_is_a_problem_document_too(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> int:
        raise ZeroDivisionError("with details that are nobody's business")

    monkeypatch.setattr("tidscope_backend.api.collectors.rss_bytes", fail)
    async with backend.program() as client:
        answer: httpx.Response = await client.get("/api/v1/health")
    assert answer.status_code == 500
    document = check_text("Problem", answer.content)
    assert document["type"] == "urn:tidscope:problem:internal"
    assert "ZeroDivisionError" in document["detail"]
    assert "business" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
