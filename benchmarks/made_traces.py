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
    """What an operation does.

    Attributes:
        operation: its name.
        own_ns: median of its own time.
        stages: one after the other; of each, the calls made at once and how often each is made.
    """

    operation: Operation
    own_ns: float
    stages: list[list[tuple["Plan", float]]] = field(default_factory=list)


def make_endpoint(seed: int, services: int = 60, calls: int = 900) -> Plan:
    """Plans of an endpoint that knows this many calls; about half are made by a request."""
    chance = random.Random(seed)
    root = _plan(chance, services)
    open_plans, made = [(root, 1)], 1
    while made < calls * 1.18 and open_plans:
        plan, depth = open_plans.pop(0 if chance.random() < 0.4 else -1)
        for _ in range(chance.choice((1, 1, 2, 2, 3))):
            stage = []
            for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
                callee = _plan(chance, services)
                stage.append((callee, 1.0 if chance.random() < 0.75 else chance.uniform(0.05, 0.9)))
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


def make_spans(root: Plan, number: int, seed: int, skew_ns: int = 100_000) -> list[Span]:
    """Spans of one request.

    Args:
        root: plans of the endpoint.
        number: of the trace.
        seed: other than that of the plans.
        skew_ns: clocks of services differ by up to this much, either way.
    """
    chance = random.Random(f"{seed} {number}")
    trace_id = f"{chance.getrandbits(127) + 1:032x}"
    slow = chance.lognormvariate(0, 0.25)
    clocks: dict[str, int] = {}
    spans: list[Span] = []

    def call(plan: Plan, parent_id: str, start_ns: int) -> int:
        span_id = f"{chance.getrandbits(63) + 1:016x}"
        place = len(spans)
        spans.append(Span(trace_id, span_id, parent_id, *plan.operation, 0, 0))
        pieces = len(plan.stages) + 1
        own = plan.own_ns * slow * chance.lognormvariate(0, 0.4) / pieces
        now = start_ns + int(own)
        for stage in plan.stages:
            ends = [
                call(callee, span_id, now + turn * 10_000)
                for turn, (callee, often) in enumerate(stage)
                if often == 1.0 or chance.random() < often
            ]
            now = max([now, *ends]) + int(own)
        service = plan.operation.service
        if service not in clocks:
            clocks[service] = chance.randint(-skew_ns, skew_ns) if skew_ns and parent_id else 0
        skew = clocks[service]
        spans[place] = spans[place]._replace(
            start_ns=start_ns + skew, end_ns=now + skew, kind="server"
        )
        return now

    call(root, "", START_NS + number * 1_000_000_000)
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
