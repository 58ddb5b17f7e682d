"""A host whose wall clock is not the backend's."""

import asyncio
import time
from pathlib import Path

from backend_builders import TARGET_ID, host, target
from backend_server import running_backend
from tidscope_wire.audit import FILE, read_records
from tidscope_wire.generated.models import (
    CollectorHello,
    CollectorWelcome,
    HostsResponse,
    SampleStacksCommand,
    StackSampling,
    TargetReply,
)

HOUR_US = 3_600_000_000


async def test_the_difference_is_known_and_the_start_of_stacks_is_logged(tmp_path: Path) -> None:
    """Stacks were taken until an hour ago, by the host's clock; by the backend's they still are."""
    before_us = time.time_ns() // 1000
    sampling = StackSampling(
        until_unix_us=before_us + HOUR_US, trigger="tracepoint", cpu_hz=49, reason=""
    )
    sampled = target().model_copy(update={"stacks": sampling})
    theirs_us = before_us + 2 * HOUR_US
    hello = CollectorHello(
        protocol=1, host=host(), targets=[sampled], policies=[], unix_us=theirs_us
    )
    async with (
        running_backend(state_dir=tmp_path) as backend,
        backend.program() as client,
        backend.collector(silent=True) as collector,
    ):
        await collector.say(hello)
        await collector.command(CollectorWelcome)
        after_us = time.time_ns() // 1000
        answer = await client.get("/api/v1/hosts")
        (found,) = HostsResponse.model_validate_json(answer.content).hosts
        assert found.clock_ahead_us is not None
        assert before_us <= theirs_us - found.clock_ahead_us <= after_us
        path = f"/api/v1/targets/{TARGET_ID}/stacks"
        asking = asyncio.create_task(client.post(path, json={"seconds": 30}))
        command = await collector.command(SampleStacksCommand)
        reply = TargetReply(request_id=command.request_id, target=sampled, created=False)
        await collector.say(reply)
        assert (await asking).status_code == 200
    actions = [line.action for line in read_records(tmp_path / FILE)]
    assert actions.count("sample-stacks") == 1
