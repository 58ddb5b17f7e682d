"""The OpenAPI document: which refusals it lists, and that answers are compared with it."""

from typing import Any

import httpx
import pytest
from schema_check import check_answer, document
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
