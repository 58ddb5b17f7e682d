"""A real Prometheus scrapes a real backend, whose collector watches a program with known work."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml
from programs.agent_program import AgentFolder
from programs.known_work import KnownWork
from programs.steered import Steered, planted_gain
from prometheus import Prometheus, promtool
from tidscope_backend.metrics.role_families import ROLE_FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
SHORT_THREADS = 300
WRITTEN = 8 << 20
OF_LIMITS = {
    "cpu_limit": "tidscope_target_cpu_limit_periods_total",
    'state="throttled"': 'tidscope_thread_state_seconds_total{state="throttled"}',
}
"""Series of programs with a CPU limit, by a part of the examples that ask for them."""
ROLES_NS = 1_000_000_000
"""Totals by role are reported this often (sampling/target.py)."""

SLACK_S = 0.05
"""CPU that a thread uses between its own account and its next sleep or its end: less than a
millisecond, but a machine that is busy may charge it with interrupts, and with steal."""

EXIT_S = 0.0001
"""CPU of a thread's end behind its exit record (do_exit sends it first), at most; 0.00002 or so."""


@dataclass(frozen=True)
class Installation:
    """A running tidscope, and one that may ask it."""

    address: str
    token: str

    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=120)


@pytest.fixture
def installation() -> Iterator[Installation]:
    """`tidscope up`: backend and collector as a person starts them."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}
    with subprocess.Popen(
        [sys.executable, "-m", "tidscope_backend", "up", "--port", "0", "--json", "--no-open"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=inherited,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate(timeout=120)
            reported = json.loads(line)
            yield Installation(reported["address"], reported["token"])
        finally:
            process.terminate()
            process.communicate(timeout=120)


@pytest.fixture
def prometheus(installation: Installation, tmp_path: Path) -> Iterator[Prometheus]:
    """The configuration of docs/metrics.md, with this backend's address and token."""
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    config = yaml.safe_load(block)
    (job,) = config["scrape_configs"]
    secret = tmp_path / "token"
    secret.write_text(installation.token)
    secret.chmod(0o600)
    job["authorization"]["credentials_file"] = str(secret)
    job["static_configs"][0]["targets"] = [installation.address.removeprefix("http://").rstrip("/")]
    job["scrape_interval"] = job["scrape_timeout"] = "1s"
    with Prometheus(tmp_path, config) as running:
        yield running


BOARD = Path(__file__).parents[2] / "packaging" / "monitoring" / "dashboard.json"


def check_board(prometheus: Prometheus, installation: Installation) -> None:
    """Each query of each panel of Grafana's board gives data, but for what the kernel lacks."""
    panels = [one for one in json.loads(BOARD.read_text())["panels"] if one["type"] != "row"]
    queries = [query["expr"] for panel in panels for query in panel["targets"]]
    assert len(queries) > len(panels) > 20
    with installation.client() as api:
        targets = api.get("/api/v1/targets").raise_for_status().json()["targets"]
    known = {field for target in targets for field in target["fields"]}
    absent = [f"{one.name}_total{{" for one in ROLE_FIELDS if one.field not in known]
    absent += [f"{series}{{" for series in OF_LIMITS.values() if not prometheus.query(series)]
    asked = [query for query in queries if not any(series in query for series in absent)]
    assert len(asked) > 20
    for query in asked:
        expression = query.replace("$target", ".*").replace("$__rate_interval", "1m")
        assert prometheus.eventually(expression), query


def of_role(name: str, role: str) -> str:
    return f'tidscope_{name}{{role="{role}"}}'


def check_all(prometheus: Prometheus, installation: Installation) -> None:
    """No counter has fallen from one scrape to another; the page's examples and promtool work."""
    every = 'group by (__name__) ({__name__=~"tidscope_.*(_total|_sum|_count)"})'
    names = [dict(labels)["__name__"] for labels in prometheus.eventually(every)]
    assert len(names) > 20
    assert not [name for name in names if prometheus.query(f"resets({name}[10m]) > 0")]
    for example in re.findall(r"```promql\n(.*?)```", PAGE, re.DOTALL):
        # A program without a CPU limit has no periods of one, and no throttled threads.
        asked = all(prometheus.query(one) for series, one in OF_LIMITS.items() if series in example)
        found = prometheus.eventually(example) if asked else prometheus.query(example)
        assert found or not asked, example
    with installation.client() as api:
        text = api.get("/metrics").raise_for_status().text
    assert promtool("check", "metrics", text=text) == ""


def test_counters_are_what_the_threads_did(
    installation: Installation, prometheus: Prometheus
) -> None:
    ask, known = prometheus.value, prometheus.known

    def sampled_after(unix_s: float) -> bool:
        newest = ask("tidscope_target_last_sample_timestamp_seconds")
        # Roles are reported at least so often.
        return newest is not None and newest > unix_s + ROLES_NS / 1e9 + 0.2

    with (
        KnownWork(short_threads=SHORT_THREADS, write_bytes=WRITTEN) as work,
        installation.client() as api,
    ):
        answer = api.post("/api/v1/targets", json={"pid": work.pid, "rate_hz": 20})
        target = answer.raise_for_status().json()
        burnt = work.command("b").thread
        work.command("w")
        work.command("r")
        shorts = work.command("s").threads
        before = work.command("p").process
        reported_s = time.time()
        prometheus.until(lambda: sampled_after(reported_s), "no sample is scraped")

        # Threads against their own accounts.
        cpu_s = burnt.cpu_ns / 1e9
        burner = known(of_role("thread_cpu_run_seconds_total", "burner"))
        assert cpu_s <= burner <= cpu_s + SLACK_S
        # One that was sampled before it gave itself its name began in another role.
        short_s = sum(account.cpu_ns for account in shorts) / 1e9
        short = known(of_role("thread_cpu_run_seconds_total", "short"))
        assert len(shorts) == SHORT_THREADS
        assert 0.95 * short_s <= short <= short_s + SHORT_THREADS * 0.001
        assert known(of_role("role_exited_threads_total", "short")) == SHORT_THREADS
        assert known(of_role("role_threads", "short")) == 0
        # taskstats rounds down to a multiple of 1024.
        assert known(of_role("thread_write_char_bytes_total", "writer")) == WRITTEN
        assert known(of_role("role_threads", "renamed-#")) == 1
        assert known(of_role("thread_voluntary_switches_total", "renamer")) >= 1

        # All roles against the process' own accounts, before and after what was scraped.
        cpu = known("sum(tidscope_thread_cpu_run_seconds_total)")
        switches = known("sum(tidscope_thread_voluntary_switches_total)")
        after = work.command("p").process
        ends_s = SHORT_THREADS * EXIT_S
        assert before.cpu_ns / 1e9 - ends_s - SLACK_S <= cpu <= after.cpu_ns / 1e9 + SLACK_S
        # A thread's record is written before it is quite gone: a short one may wait once more then,
        # which the process has and no thread.
        assert 0.9 * before.voluntary_switches - 2 <= switches <= after.voluntary_switches + 2
        assert known("tidscope_process_rss_bytes") > 1 << 20

        # A field that this kernel does not give has no series.
        absent = {field["field"] for field in target["absent"]}
        assert "net_read_bytes" not in absent or not prometheus.query(
            "tidscope_thread_net_read_bytes_total"
        )

        # The end: nothing of what was reported is lost, and the rest is added.
        ended = work.command("q").process
        work.wait()
        prometheus.until(lambda: ask("tidscope_target_up") == 0, "the end is not scraped")
        cpu = known("sum(tidscope_thread_cpu_run_seconds_total)")
        assert ended.cpu_ns / 1e9 - ends_s - SLACK_S <= cpu <= ended.cpu_ns / 1e9 + SLACK_S
        assert known("tidscope_target_threads") == 0
        threads = known("tidscope_target_exited_threads_total")
        assert threads == known("sum(tidscope_role_exited_threads_total)")
        assert threads > SHORT_THREADS

    # The page's examples need a group and a pool, too.
    with (
        KnownWork() as work,
        AgentFolder() as folder,
        Steered(planted_gain(1.0), folder) as pooled,
        installation.client() as api,
    ):
        for asked in ({"group": {"kind": "tree", "pid": work.pid}}, {"pid": pooled.pid}):
            api.post("/api/v1/targets", json={**asked, "rate_hz": 20}).raise_for_status()
        check_all(prometheus, installation)
        check_board(prometheus, installation)


def test_prometheus_says_that_the_token_is_wrong(
    installation: Installation, tmp_path: Path
) -> None:
    secret = tmp_path / "token"
    secret.write_text("another-token")
    job = {
        "job_name": "tidscope",
        "scrape_interval": "1s",
        "authorization": {"credentials_file": str(secret)},
        "static_configs": [{"targets": [installation.address.removeprefix("http://").rstrip("/")]}],
    }
    with Prometheus(tmp_path, {"scrape_configs": [job]}) as running:
        running.until(lambda: running.value('up{job="tidscope"}') == 0, "it is not scraped")
        assert running.query("tidscope_collectors") == {}
