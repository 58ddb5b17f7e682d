"""The prediction service over REST: what it has learnt, and letting it forget."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_server import Backend, running_backend
from prediction_service import serving
from tidscope_policies.perceptron import WEIGHTS
from tidscope_predictd.client import open_model
from tidscope_predictd.messages import Sharing
from tidscope_wire.audit import FILE, read_records
from tidscope_wire.generated.models import PredictionService, PredictionWeights, Problem

WAIT = 200
VIEW_TOKEN = "view-token-of-the-tests"


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with (
        asyncio.timeout(WAIT),
        running_backend(
            web_dir=tmp_path,
            state_dir=tmp_path,
            view_token=VIEW_TOKEN,
            predictd=tmp_path / "socket",
        ) as running,
    ):
        yield running


async def test_models_weights_and_reset(backend: Backend, tmp_path: Path) -> None:
    address = f"/api/v1/predictions/{os.getuid()}/cache"
    with serving(tmp_path):
        model = open_model("cache", path=tmp_path / "socket", sharing=Sharing.READ, timeout_s=30)
        for _ in range(3):
            model.update([1, 2], answer=True)
        model.flush()
        async with backend.program() as program:
            listed = PredictionService.model_validate_json(
                (await program.get("/api/v1/predictions")).content
            )
            (one,) = listed.models
            assert (one.name, one.owner, one.sharing) == ("cache", os.getuid(), "read")
            assert (one.updates, one.hits, one.undecided, one.used_weights) == (3, 2, 1, 2)
            assert [user.pid for user in one.shown_users] == [os.getpid()]
            shown = PredictionWeights.model_validate_json((await program.get(address)).content)
            assert (len(shown.weights), sum(shown.weights)) == (WEIGHTS, 6)
            answer = await program.post(f"{address}/reset")
            assert PredictionService.model_validate_json(answer.content).models[0].resets == 1
        assert model.predict([1, 2]) == 0
        async with backend.client(authorization=f"Bearer {VIEW_TOKEN}") as viewer:
            assert (await viewer.get(address)).status_code == 200
            assert (await viewer.post(f"{address}/reset")).status_code == 403
        model.close()
    resets = [one for one in read_records(tmp_path / FILE) if one.action == "reset-predictions"]
    assert [one.outcome for one in resets] == ["done"]
    assert resets[0].object == f"{os.getuid()}/cache"


async def test_no_service(backend: Backend) -> None:
    async with backend.program() as program:
        answer = await program.get("/api/v1/predictions")
        found = PredictionService.model_validate_json(answer.content)
        assert found.models == []
        assert "no prediction service" in (found.reason or "")
        refused = await program.post("/api/v1/predictions/0/none/reset")
    assert refused.status_code == 409
    problem = Problem.model_validate_json(refused.content)
    assert problem.type == "urn:tidscope:problem:prediction-refused"


@pytest.mark.parametrize("name", ["%2e%2e", "a%2fb", ".hidden", "x" * 65, "a%00"])
async def test_names_that_cannot_be_are_refused(name: str, backend: Backend) -> None:
    async with backend.program() as program:
        answer = await program.get(f"/api/v1/predictions/0/{name}")
    assert answer.status_code in (404, 422)
