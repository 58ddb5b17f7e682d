"""Totals by role of a real program, kept by a real backend and asked for in SQL."""

import json
import signal
from pathlib import Path

from processes import wait_until
from prometheus_client.parser import text_string_to_metric_families
from tidscope_processes import run, up


def test_what_threads_did_can_be_asked_after_all_have_ended(tmp_path: Path) -> None:
    runs = str(tmp_path / "runs")
    folder = ("--runs-dir", runs)
    store = f"file://{tmp_path}/store"
    refused = run("query", "select 1", *folder)
    assert refused.returncode == 1
    assert "--keep-roles-days" in refused.stderr
    with up("--demo", "--roles-store", store, verb="fleet", TIDSCOPE_RUNS=runs) as tidscope:
        with tidscope.client() as client:
            (target,) = client.get("/api/v1/targets").json()["targets"]

            def seen() -> dict[str, float]:
                families = text_string_to_metric_families(client.get("/metrics").text)
                samples = {one.name: one.samples for one in families}
                return {
                    one.labels["role"]: one.value
                    for one in samples.get("tidscope_thread_cpu_run_seconds", [])
                    if one.labels["target"] == target["id"]
                }

            wait_until(lambda: bool(seen()))
            before = seen()
            wait_until((tmp_path / "store" / "tidscope" / "roles" / "metadata").is_dir, 120)
        assert tidscope.end(signal.SIGINT)[0] == 0
    asked = run(
        *("query", "--json", *folder),
        "select role, host_name, max(live) as live, max(cpu_run_ns) as cpu_ns from roles "
        f"where target = '{target['id']}' group by all order by role",
    )
    assert asked.returncode == 0, asked.stderr
    rows = {row["role"]: row for row in map(json.loads, asked.stdout.splitlines())}
    assert set(rows) >= set(before)
    for role, seconds in before.items():
        assert rows[role]["cpu_ns"] / 1e9 >= seconds
    assert any(row["live"] for row in rows.values())
    shown = run("query", *folder, "select distinct program from roles").stdout.splitlines()
    assert any(target["process"]["name"] in line for line in shown)
    assert len(shown) > 3
