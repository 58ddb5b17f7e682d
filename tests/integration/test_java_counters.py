"""What a real Java virtual machine without an agent counts of its own workers."""

import os
import subprocess

import pytest
from followed_target import FollowedTarget
from programs.named_java import NamedJava

pytestmark = pytest.mark.timeout(120)
PATIENCE_FRAMES = 2_000


def test_its_threads_and_collections_are_in_frames() -> None:
    with NamedJava(["worker-1", "worker-2"]) as java, FollowedTarget(java.pid) as followed:
        for _ in range(PATIENCE_FRAMES):
            followed.next()
            table = followed.seen.tables.get("pools", ())
            pools = {row["name"]: row for row in table}
            if pools:
                break
        names = set(os.listdir(f"/proc/{java.pid}/task"))
        assert {row["source"] for row in pools.values()} == {"hsperfdata"}
        # The machine has further threads of its own, which Java does not count.
        assert 2 <= pools["Java threads"]["size"] < len(names)
        assert pools["Java threads"]["size"] > pools["Java daemon threads"]["size"] > 0
        assert pools["JIT compiler"]["size"] > 0
        assert any(row["kind"] == "gc" for row in pools.values())
        # As the machine's own tool reads it.
        counted = subprocess.run(
            ["jcmd", str(java.pid), "PerfCounter.print"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert f"java.threads.daemon={pools['Java daemon threads']['size']}" in counted
