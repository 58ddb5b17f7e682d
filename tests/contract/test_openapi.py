"""The OpenAPI document, and made-up requests for each of its operations."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from answering_collector import answering_collector
from backend_builders import HOST_ID, TARGET_ID, stream
from backend_server import TOKEN, Backend, running_backend
from experiment_entries import NAME as EXPERIMENT
from experiment_entries import journal, write_journal
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from run_folders import DEEP
from schema_check import check_answer, document
from schemathesis import APIOperation, Case, GenerationMode, SerializationContext
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from scripted_run import write_run
from tidscope_backend.api.openapi import METHODS, PROBLEM_KINDS
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.problems import MEDIA_TYPE, make_problem

DOCUMENT = document()
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method in METHODS
}
NOT_OF_AN_OPERATION = {"not-found", "method-not-allowed"}
"""Answered where no operation is."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_refusals_are_problem_documents(name: str) -> None:
    refusals = {
        status: response
        for status, response in OPERATIONS[name]["responses"].items()
        if not status.startswith("2")
    }
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    assert {"403", "500"} <= set(refusals)
    for response in refusals.values():
        assert response["content"] == {MEDIA_TYPE: schema}
    listed = {str(PROBLEMS[kind].status) for kind in OPERATIONS[name][PROBLEM_KINDS]}
    # A body that is not JSON is the one problem with a status that is not of its kind.
    assert set(refusals) - {"400"} == listed


def test_the_shape_of_problems_is_ours() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert set(schemas["Problem"]["required"]) == {"type", "title", "status", "detail", "hint"}
    assert "HTTPValidationError" not in str(DOCUMENT)


def test_each_problem_of_an_operation_is_listed_somewhere() -> None:
    listed = {kind for operation in OPERATIONS.values() for kind in operation[PROBLEM_KINDS]}
    assert listed == set(PROBLEMS) - NOT_OF_AN_OPERATION


@pytest.mark.parametrize(
    ("status", "content_type", "kind"),
    [
        (418, MEDIA_TYPE, "unknown-run"),
        (404, "application/json", "unknown-run"),
        (404, MEDIA_TYPE, "unknown-target"),
    ],
)
async def test_an_answer_that_is_not_listed_is_noticed(
    status: int, content_type: str, kind: Any
) -> None:
    problem = make_problem(kind, "detail", "hint", status)
    answer = httpx.Response(
        status,
        content=problem.model_dump_json(),
        headers={"content-type": content_type},
        request=httpx.Request("GET", "http://127.0.0.1/api/v1/runs/r-1"),
    )
    with pytest.raises(AssertionError, match="GET /api/v1/runs/r-1 answers"):
        await check_answer(answer)


# Made-up requests for every operation of the OpenAPI document, by schemathesis, with a fixed
# seed. The backend is a real one behind a real socket, with a collector that answers every
# command, so that requests get past the first check. No request may be answered with an error of
# the backend, and each answer has a status, a media type and a body that the document lists for
# it.


EXAMPLES = 12 if DEEP else 3
"""Examples per operation and kind of data (valid, invalid), in each round."""
OFTEN = {"POST /api/v1/runs/import": 12, "PUT /api/v1/targets/{target_id}/steering": 8}
"""Operations with more examples: most archives are cut somewhere, and many requests to steer name
no program."""
SEEDS = (20261122, 20261123)
"""One a round: what was deleted in the first is restored in the second."""
EXCLUDED = {
    "POST /api/v1/demo": "it starts a program with many threads; test_backend_demo.py does it",
    "POST /api/v1/session/tickets": "it needs a session; test_backend_sessions.py has one",
    "POST /api/v1/proof/session": "it needs a proof, which is not guessed; test_proof.py makes one",
}
NEVER_DONE = {
    "GET /api/v1/predictions/{owner}/{name}",
    "POST /api/v1/predictions/{owner}/{name}/reset",
    "GET /api/v1/traces/values",
    "GET /api/v1/traces/{trace_id}",
    "POST /api/v1/traces/import",
    "POST /api/v1/traces/jaeger",
    "GET /api/v1/targets/{target_id}/stacks/export",
    "GET /api/v1/runs/{run}/stacks/export",
    "POST /api/v1/experiments",
    "POST /api/v1/ring/cuts",
}
"""No prediction service runs here (test_backend_predictions.py has one), files of traces, their
operations and a Jaeger are not guessed (test_traces_http.py has them), nothing here has stacks
(test_stacks_http.py has them), no folder has experiments to start (test_experiments_http.py has
one), and no ring is written (test_ring.py has one). They must not fail."""
RUNS = [f"r-20261121-120000-{number:06x}" for number in (1, 2, 3)]
ARCHIVE = "application/zstd"
ORDER = ("GET", "PUT", "PATCH", "POST", "DELETE")
"""Methods in the order of requests; deletions are last, so that other requests find resources."""
ALLOWED_5XX = {503, 504}
HEADERS = {"Authorization": f"Bearer {TOKEN}"}

AnyOperation = APIOperation[Any, Any, Any, Any]
AnyCase = Case[Any]
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

load_all_checks()


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    for number in (1, 2, 3):
        write_run(tmp_path / "runs", number)
    write_journal(tmp_path / "runs", journal([({"size": 1}, [1.0, 1.0])]))
    async with running_backend(runs_dir=tmp_path / "runs", web_dir=tmp_path) as running:
        yield running


# Half a minute of CPU time: the longest test of all.
@pytest.mark.timeout(1200)
# schemathesis draws some broken values by the random module.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
async def test_no_request_is_answered_with_an_error_of_the_backend(backend: Backend) -> None:
    async with backend.program() as client:
        archive = (await client.get(f"/api/v1/runs/{RUNS[0]}/export")).content
    async with answering_collector(backend) as (collector, commands):
        await collector.send(*stream(1, 5, baseline=True))
        answered = await asyncio.to_thread(Fuzzer(backend, archive).run)
    assert commands
    # Requests have got past the checks of every operation.
    never_done = {label for label, statuses in answered.items() if min(statuses) >= 400}
    assert never_done == NEVER_DONE


class Fuzzer:
    """Asks a backend.

    Args:
        backend: it.
        archive: an exported run.
    """

    def __init__(self, backend: Backend, archive: bytes) -> None:
        self._url = backend.url
        schema = schemathesis.openapi.from_dict(document())
        found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
        self._operations = sorted(found, key=place_of)
        assert set(EXCLUDED) < {operation.label for operation in found}
        self._archive = archive
        self._known: dict[str, list[Any]] = {
            "target_id": [TARGET_ID],
            "target": [TARGET_ID],
            "host": [HOST_ID],
            "run_id": [*RUNS],
            "run": RUNS,
            "runs": [f"{RUNS[0]},{RUNS[1]}"],
            "before": [f"target:{TARGET_ID}"],
            "after": [f"run:{RUNS[0]}"],
            "experiment_id": [EXPERIMENT],
            "token": [TOKEN],
            "session_id": ["0"],
            "duration_s": [None],
            "since_ms": [None],
            "until_ms": [None],
            "counter": ["cpu_run_ns"],
        }
        """Values that mean something to the backend, by parameter or member of a body."""
        self._answered: dict[str, set[int]] = defaultdict(set)

    def run(self) -> dict[str, set[int]]:
        """Ask all; returns the statuses that each operation answered."""
        for number in SEEDS:
            for operation in self._operations:
                if operation.label not in EXCLUDED:
                    for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                        self._ask(operation, mode, number)
        return dict(self._answered)

    def _ask(self, operation: AnyOperation, mode: GenerationMode, number: int) -> None:
        """Send requests of one kind to one operation, and check the answers."""

        @seed(number)
        @settings(
            max_examples=max(EXAMPLES, OFTEN.get(operation.label, 0)),
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode), st.data())
        def check(case: AnyCase, data: st.DataObject) -> None:
            self._fill_in(case, data)
            answer = case.call(base_url=self._url, headers=HEADERS, timeout=120)
            self._answered[operation.label].add(answer.status_code)
            assert answer.status_code < 500 or answer.status_code in ALLOWED_5XX, answer.content
            case.validate_response(answer, checks=CHECKS)
            if operation.label == "POST /api/v1/runs" and answer.status_code == 201:
                self._known["run_id"].append(answer.json()["id"])
            if operation.label == "POST /api/v1/session" and answer.status_code == 201:
                self._known["session_id"].append(answer.json()["id"])

        # An operation without parameters or body has no wrong data.
        with suppress(Unsatisfiable) if mode == GenerationMode.NEGATIVE else nullcontext():
            check()

    def _fill_in(self, case: AnyCase, data: st.DataObject) -> None:
        """Put what the backend knows in the place of what is made up, mostly."""
        for given_values in (case.path_parameters, case.query, case.body):
            if isinstance(given_values, dict):
                for name in sorted(set(given_values) & set(self._known)):
                    # The first example draws zeros: it asks for what is there.
                    if data.draw(st.integers(0, 2)) < 2:
                        given_values[name] = data.draw(st.sampled_from(self._known[name][-2:]))
        if case.media_type == ARCHIVE and data.draw(st.integers(0, 2)):
            case.body = self._archive[: data.draw(st.integers(0, 4 * len(self._archive)))]


def place_of(operation: AnyOperation) -> tuple[int, int]:
    """Return the sort key of an operation: nested resources are made later and deleted earlier."""
    method = ORDER.index(operation.method.upper())
    return method, -len(operation.path) if ORDER[method] == "DELETE" else len(operation.path)


@schemathesis.serializer(ARCHIVE)
def _as_bytes(_: SerializationContext, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
