"""Made traces of a large application, in the shape that CRISP's source reports (section 4.7).

Services have operations; each operation has a plan: stages one after the other, each of calls at
once, some of which are only made sometimes. Own times are lognormal. All traces of an endpoint
follow the same plans, so that their critical paths vary as those of real requests do.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidscope_traces.spans.model import Operation, Span

START_NS = 1_700_000_000_000_000_000
DEEPEST = 25


@dataclass(slots=True)
class Plan:
    """Plan of an operation.

    Attributes:
        operation: name of the operation.
        own_ns: median of its own time.
        stages: one after the other; of each, the calls made at once and how often each is made.
    """

    operation: Operation
    own_ns: float
    stages: list[list[tuple["Plan", float]]] = field(default_factory=list)


TYPICAL_WIDTHS = (1, 1, 1, 2, 3, 6)


def make_endpoint(
    seed: int,
    services: int = 60,
    calls: int = 900,
    always: float = 0.75,
    widths: Sequence[int] = TYPICAL_WIDTHS,
) -> Plan:
    """Plans of an endpoint.

    Args:
        seed: another gives another endpoint.
        services: services of the application.
        calls: number of calls that the endpoint knows; a request makes some of them.
        always: share of the calls that each request makes that gets there; of the others each
            makes some.
        widths: calls made at once in a stage, each width as often.
    """
    chance = random.Random(seed)
    root = _plan(chance, services)
    open_plans, made = [(root, 1)], 1
    while made < calls * 1.18 and open_plans:
        plan, depth = open_plans.pop(0 if chance.random() < 0.4 else -1)
        for _ in range(chance.choice((1, 1, 2, 2, 3))):
            stage = []
            for _ in range(chance.choice(widths)):
                callee = _plan(chance, services)
                stage.append(
                    (callee, 1.0 if chance.random() < always else chance.uniform(0.05, 0.9))
                )
                made += 1
                if depth < DEEPEST - 1:
                    open_plans.append((callee, depth + 1))
            plan.stages.append(stage)
    return root


def _plan(chance: random.Random, services: int) -> Plan:
    service = min(services - 1, int(chance.expovariate(4 / services)))
    operation = Operation(f"service-{service:02d}", f"Service{service:02d}::{chance.choice(VERBS)}")
    return Plan(operation, chance.lognormvariate(0, 1.2) * 400_000)


VERBS = ("get", "getMany", "update", "validate", "authorize", "enrich", "decide", "list")


@dataclass(slots=True)
class Call:
    """One call of a request: its plan, without times."""

    operation: Operation
    own_ns: float
    stages: list[list["Call"]]


def draw_call(plan: Plan, chance: random.Random, slow: float) -> Call:
    """Draw which calls a request makes, and how long each of them is busy itself."""
    own_ns = plan.own_ns * slow * chance.lognormvariate(0, 0.4)
    stages = [
        [
            draw_call(callee, chance, slow)
            for callee, often in stage
            if often == 1.0 or chance.random() < often
        ]
        for stage in plan.stages
    ]
    return Call(plan.operation, own_ns, stages)


def make_faulty(root: Call, chance: random.Random, dropped: float = 0.2) -> None:
    """Drop this share of the calls, with what they call, and deal the own times out again.

    As the source makes abnormal traces (section 4.7.3).
    """
    calls = list(_all_calls(root))
    doomed = {id(call) for call in calls[1:] if chance.random() < dropped}
    for call in calls:
        call.stages = [[one for one in stage if id(one) not in doomed] for stage in call.stages]
    left = list(_all_calls(root))
    times = [call.own_ns for call in left]
    chance.shuffle(times)
    for call, own_ns in zip(left, times, strict=True):
        call.own_ns = own_ns


def _all_calls(root: Call) -> Iterator[Call]:
    yield root
    for stage in root.stages:
        for callee in stage:
            yield from _all_calls(callee)


def make_spans(
    root: Plan, number: int, seed: int, skew_ns: int = 100_000, *, faulty: bool = False
) -> list[Span]:
    """Spans of one request.

    Args:
        root: plans of the endpoint.
        number: number of the trace.
        seed: other than that of the plans.
        skew_ns: clocks of services differ by up to this much, either way.
        faulty: it is abnormal, as make_faulty has it.
    """
    chance = random.Random(f"{seed} {number}")
    trace_id = f"{chance.getrandbits(127) + 1:032x}"
    request = draw_call(root, chance, chance.lognormvariate(0, 0.25))
    if faulty:
        make_faulty(request, chance)
    clocks: dict[str, int] = {}
    spans: list[Span] = []

    def lay_out(call: Call, parent_id: str, start_ns: int) -> int:
        span_id = f"{chance.getrandbits(63) + 1:016x}"
        place = len(spans)
        spans.append(Span(trace_id, span_id, parent_id, *call.operation, 0, 0))
        own_ns = int(call.own_ns / (len(call.stages) + 1))
        now = start_ns + own_ns
        for stage in call.stages:
            ends = [
                lay_out(callee, span_id, now + turn * 10_000) for turn, callee in enumerate(stage)
            ]
            now = max([now, *ends]) + own_ns
        service = call.operation.service
        if service not in clocks:
            clocks[service] = chance.randint(-skew_ns, skew_ns) if skew_ns and parent_id else 0
        skew = clocks[service]
        spans[place] = spans[place]._replace(
            start_ns=start_ns + skew, end_ns=now + skew, kind="server"
        )
        return now

    lay_out(request, "", START_NS + number * 1_000_000_000)
    return spans


def jaeger_json(spans: Sequence[Span]) -> bytes:
    """A trace as Jaeger's query service answers it, with the tags that its spans usually have."""
    services = sorted({span.service for span in spans})
    places = {service: f"p{place}" for place, service in enumerate(services)}
    entry = {
        "traceID": spans[0].trace_id,
        "spans": [_jaeger_span(span, places[span.service]) for span in spans],
        "processes": {
            place: {"serviceName": service, "tags": list(_tags(PROCESS_TAGS))}
            for service, place in places.items()
        },
        "warnings": None,
    }
    return json.dumps({"data": [entry], "total": 0, "limit": 0, "errors": None}).encode()


PROCESS_TAGS = {"hostname": "host-0042.example", "ip": "10.20.30.40", "process.pid": 4711}
SPAN_TAGS = {
    "span.kind": "server",
    "component": "net/http",
    "http.method": "POST",
    "http.url": "http://service.example:8080/rpc/v2/Operation?region=europe-west",
    "http.status_code": 200,
    "sampler.type": "probabilistic",
    "sampler.param": 0.001,
    "internal.span.format": "proto",
    "peer.service": "service-of-the-caller",
    "rpc.encoding": "thrift",
}


def _jaeger_span(span: Span, process: str) -> dict[str, Any]:
    references = []
    if span.parent_id:
        references.append(
            {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_id}
        )
    start_us = span.start_ns // 1000
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "flags": 1,
        "operationName": span.operation,
        "references": references,
        "startTime": start_us,
        "duration": (span.end_ns - span.start_ns) // 1000,
        "tags": list(_tags(SPAN_TAGS)),
        "logs": [
            {
                "timestamp": start_us + 5,
                "fields": list(_tags({"event": "request decoded", "bytes": 1234})),
            }
        ],
        "processID": process,
        "warnings": None,
    }


def _tags(tags: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in tags.items():
        kind = {str: "string", int: "int64", float: "float64"}[type(value)]
        yield {"key": key, "type": kind, "value": value}
