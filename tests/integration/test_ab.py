"""`tidscope ab` and experiments with variants on real programs."""

import json
import math
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from ab_command import LOOP, NO_SITE, TIDSCOPE, ab, alone, answer, command_of, looping
from capabilities import needs
from ports import free_port
from processes import wait_until
from tidscope_processes import IN_PUBLIC, public_path, python_for

pytestmark = pytest.mark.timeout(900)


DECIDED = "240"
"""Seconds that a comparison may take: on a busy machine several times what it needs."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return alone(tmp_path)


def test_a_slower_variant_is_worse_and_the_other_way_round_better(
    environment: dict[str, str],
) -> None:
    """CPU time tells ten times the work apart, even on a busy machine."""
    small, large = looping(1_000_000), looping(10_000_000)
    options = ("--metric", "cpu", "--recorded", "0", "--time", DECIDED)
    found = answer(environment, *options, "--", *small, "::", *large)
    assert found["verdict"] == "worse"
    low, high = found["interval"]
    assert 0 < low <= found["difference_percent"] <= high
    assert 100 < found["difference_percent"] < 2000
    assert (found["metric"], found["better"], found["seed"]) == ("cpu", "less", 1)
    assert found["pairs"] >= 4
    assert [one["name"] for one in found["variants"]] == ["old", "new"]
    assert found["variants"][0]["mean"] < found["variants"][1]["mean"]
    assert found["inside"] is None
    assert (Path(found["folder"]) / "report.html").stat().st_size > 0
    turned = answer(environment, *options, "--", *large, "::", *small)
    assert turned["verdict"] == "better"
    assert turned["interval"][1] < 0


def test_a_program_against_itself_is_neither_better_nor_worse(environment: dict[str, str]) -> None:
    """Peak memory does not depend on what else runs; wall time does, and may stay undecided.

    An interval excludes 0 in at most 5 % of experiments.
    """
    command = looping(1000)
    found = answer(environment, "--recorded", "0", "--metric", "rss", "--", *command)
    low, high = found["interval"]
    assert -2 <= low <= high <= 2
    assert (found["verdict"] == "same") == (low <= 0 <= high), found["text"]
    found = answer(environment, "--recorded", "0", "--time", "5", "--", *command)
    low, high = found["interval"] or (-math.inf, math.inf)
    assert (found["verdict"] in ("same", "undecided")) == (low <= 0 <= high), found["text"]
    assert (found["reason"] == "") == (found["verdict"] != "undecided")


def test_peak_memory_excludes_our_own(environment: dict[str, str]) -> None:
    """The kernel counts what a process had before execve(2), too: a Python has tens of MiB."""
    found = answer(environment, "--recorded", "0", "--metric", "rss", "--", "true")
    assert found["variants"][0]["mean"] < 6 * 2**20


def test_a_number_that_the_command_prints(environment: dict[str, str]) -> None:
    metric = ("--metric", "rate:more=/rate: ([0-9.]+)/", "--recorded", "0")
    found = answer(
        environment, *metric, "--", "echo", "rate: 100.5", "::", "echo", "a\nrate: 201\n"
    )
    assert found["verdict"] == "better"
    assert found["difference_percent"] == pytest.approx(100)
    assert [one["mean"] for one in found["variants"]] == [100.5, 201]
    done = ab(environment, *metric, "--", "echo", "none")
    assert done.returncode == 3
    assert "old: result rate: no line of the output matches" in done.stderr


SERVING = """
import http.server, os, sys, threading, time
port, marker, rate = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
if not os.path.exists(marker):
    open(marker, "w").close()
    sys.exit()
began, first = time.monotonic(), None
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global first
        now = time.monotonic()
        done = (now - began) * rate
        text = f'# TYPE jobs_total counter\\njobs_total{{kind="a"}} {done}\\njobs_total 5\\n'
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())
        first = first or now
        if now > first + 1:
            threading.Thread(target=self.server.shutdown).start()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", port), Page).serve_forever(0.01)
"""
"""Ends when it has been read for a second. The warm-up, which nobody reads, ends immediately."""


def test_the_rate_of_a_counter_that_the_command_serves(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Also: a port that another program has is refused."""
    port = free_port()
    metric = ("--metric", f"prometheus:{port}:/metrics#jobs_total", "--recorded", "0")
    with socket.create_server(("127.0.0.1", port)):
        done = ab(environment, *metric, "--", "true")
        assert "in use by another program" in done.stderr

    def serving(rate: int) -> list[str]:
        return [*NO_SITE, SERVING, str(port), str(tmp_path / f"warm-{rate}"), str(rate)]

    found = answer(environment, *metric, "--", *serving(1000), "::", *serving(2000))
    assert found["verdict"] == "better", found["text"]
    # On a busy machine answers are late by some hundredths of that second.
    assert 70 < found["difference_percent"] < 140
    assert [one["mean"] for one in found["variants"]] == pytest.approx([1000, 2000], rel=0.2)


def test_a_quantile_of_wall_times_is_of_a_hundred_runs(
    environment: dict[str, str], tmp_path: Path
) -> None:
    def command(name: str) -> list[str]:
        return ["sh", "-c", f"echo x >> {tmp_path / name}"]

    options = ("--metric", "wall-p99", "--recorded", "0", "--time", "1")
    found = answer(environment, *options, "--", *command("old"), "::", *command("new"))
    assert found["label"] == "Wall time, p99"
    runs = [len((tmp_path / name).read_text().split()) for name in ("old", "new")]
    assert runs == [1 + 100 * found["pairs"]] * 2


def test_variants_may_differ_by_environment_only(environment: dict[str, str]) -> None:
    """Also: no shell expands words, and tidscope's own variables are not passed on."""
    text = (
        "import os, sys; assert sys.argv[1] == '$HOME *'; assert 'TIDSCOPE_RUNS' not in os.environ;"
        "print('n =', os.environ['N'])"
    )
    program = [*NO_SITE, text, "$HOME *"]
    options = ("--metric", "n:less=/n = ([0-9]+)/", "--recorded", "0")
    found = answer(environment, *options, "--", "N=10", *program, "::", "N=9", *program)
    assert found["verdict"] == "better"
    assert found["difference_percent"] == pytest.approx(-10)


def test_a_command_that_fails_is_shown_with_the_end_of_its_output(
    environment: dict[str, str],
) -> None:
    script = "echo one; echo 'two: password=hunter2' >&2; exit 7"
    done = ab(environment, "--json", "--", "true", "::", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (1, "")
    assert "new: ended with exit code 7; its output ends:" in done.stderr
    assert "one" in done.stderr
    assert "hunter2" not in done.stderr
    done = ab(environment, "--", "true", "::", "./none")
    assert done.returncode == 1
    assert "new: ./none cannot be started: No such file or directory" in done.stderr
    done = ab(environment, "--timeout", "0.2", "--", "sleep", "60", "::", "true")
    assert done.returncode == 1
    assert "old: did not end within 0.2 s" in done.stderr


def test_a_command_that_fails_now_and_then_ends_with_its_reason(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The warm-up succeeds; later runs fail, which is an exit code of its own."""
    script = f"echo x >> {tmp_path}/runs.txt; test $(wc -l < {tmp_path}/runs.txt) -lt 3"
    done = ab(environment, "--recorded", "0", "--", "true", "::", "sh", "-c", script)
    assert done.returncode == 3, done.stderr
    assert (
        "variant=new: a repeat failed: new: ended with exit code 1; it wrote nothing" in done.stderr
    )
    assert "It is undecided whether new differs from old. variant=new failed" in done.stdout


def test_processes_that_outlive_a_run_are_ended(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = f"sleep 1000 & echo $! >> {tmp_path}/pids; exit 0"
    answer(environment, "--recorded", "0", "--time", "1", "--", "sh", "-c", script)
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) >= 4

    def none_is_left() -> bool:
        return not any(command_of(pid) == b"sleep\x001000\x00" for pid in pids)

    wait_until(none_is_left)


LOCKS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static int hold_us;
static void *work(void *unused)
{
    for (int turn = 0; turn < 10; turn++) {
        pthread_mutex_lock(&counter_mutex);
        usleep(hold_us);
        pthread_mutex_unlock(&counter_mutex);
        usleep(10);
    }
    return unused;
}
int main(int count, char **arguments)
{
    pthread_t threads[4];
    hold_us = atoi(arguments[1]);
    for (int at = 0; at < 4; at++) pthread_create(threads + at, 0, work, 0);
    for (int at = 0; at < 4; at++) pthread_join(threads[at], 0);
    /* The lock is looked up while the program lives. */
    sleep(2);
    return count - 2;
}
"""


@pytest.fixture
def locking(tmp_path: Path) -> str:
    """A program whose four threads hold a lock in turn, for so many microseconds each time."""
    (tmp_path / "locking.c").write_text(LOCKS)
    program = tmp_path / "locking"
    subprocess.run(
        ["gcc", "-g", "-O1", "-o", program, tmp_path / "locking.c", "-lpthread"], check=True
    )
    return str(program)


@needs("root")
@needs("btf")
def test_recorded_runs_say_what_changed_inside(environment: dict[str, str], locking: str) -> None:
    options = ("--recorded", "2", "--margin", "20")
    commands = ("--", locking, "20000", "::", locking, "60000")
    found = answer(environment, *options, "--time", DECIDED, *commands)
    assert found["verdict"] == "worse"
    inside = found["inside"]
    assert [len(inside[f"{side}_runs"]) for side in ("baseline", "variant")] == [2, 2]
    assert [one["runs"] for one in found["variants"]] == [
        inside["baseline_runs"],
        inside["variant_runs"],
    ]
    metrics = {one["metric"]: one for one in inside["metrics"]}
    assert metrics["cpu_run_ns"]["variant"] > 0
    (lock,) = (one for one in inside["locks"] if one["name"].startswith("counter_mutex"))
    assert lock["variant_wait_s"] > lock["baseline_wait_s"] > 0
    assert lock["variant_wait_s"] > 1
    runs = [*inside["baseline_runs"], *inside["variant_runs"]]
    for run in runs:
        folder = Path(environment["TIDSCOPE_RUNS"]) / run
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["outcome"]["exit_code"] == 0
        assert manifest["group"].startswith("ab ")
    text = ab(environment, *options, "--time", "3", *commands)
    assert "What changed inside, by 2 and 2 recorded runs:" in text.stdout
    assert "waited for lock counter_mutex" in text.stdout
    assert "tidscope compare --totals r-" in text.stdout


@needs("root")
@needs("btf")
def test_waits_for_a_lock_decide(environment: dict[str, str], locking: str) -> None:
    options = ("--metric", "lock:counter_mutex", "--time", DECIDED)
    found = answer(environment, *options, "--", locking, "60000", "::", locking, "20000")
    assert (found["verdict"], found["better"]) == ("better", "less")
    assert found["difference_percent"] < -50


@needs("root")
@needs("btf")
def test_a_figure_of_recorded_runs_decides(environment: dict[str, str]) -> None:
    program = [*NO_SITE, "import sys, time; [time.sleep(0.001) for _ in range(int(sys.argv[1]))]"]
    options = ("--metric", "voluntary_switches", "--time", DECIDED, "--margin", "20")
    found = answer(environment, *options, "--", *program, "50", "::", *program, "200")
    assert (found["verdict"], found["better"]) == ("worse", "less")
    assert found["difference_percent"] > 50
    assert all(len(one["runs"]) >= 4 for one in found["variants"])


def test_a_file_with_three_variants(environment: dict[str, str], tmp_path: Path) -> None:
    text = """
version = 1
name = "three"
title = "Three sizes"
[[variant]]
name = "ten"
command = ["echo", "value 10"]
[[variant]]
name = "again"
[[variant]]
name = "twenty"
command = ["echo", "value 20"]
[difference]
metric = "value:less=/value ([0-9]+)/"
recorded = 0
"""
    (tmp_path / "three.toml").write_text(text)
    done = subprocess.run(
        [*TIDSCOPE, "experiment", str(tmp_path / "three.toml"), "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdicts = {one["variant"]: one for one in json.loads(done.stdout)["verdicts"]}
    assert {name: one["verdict"] for name, one in verdicts.items()} == {
        "again": "same",
        "twenty": "worse",
    }
    assert all(one["baseline"] == "ten" for one in verdicts.values())


@needs("root")
def test_without_rights_the_kernels_own_figures_are_compared() -> None:
    """A user who sees no counters of other users' processes gets CPU time, memory and a verdict."""
    python = python_for("nobody")
    small, large = ([python, "-I", "-S", "-c", LOOP.format(count=n)] for n in (10**5, 10**7))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        done = subprocess.run(
            [
                *(*IN_PUBLIC, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"),
                *(python, "-m", "tidscope_backend", "ab", "--json", "--metric", "cpu"),
                *("--time", DECIDED, "--recorded", "1", "--", *small, "::", *large),
            ],
            cwd="/",
            env={
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "TMPDIR": folder,
                "PYTHONPATH": public_path(),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
    assert found["verdict"] == "worse"
    assert found["variants"][1]["mean"] > found["variants"][0]["mean"]
    assert "recording without rights" in done.stderr
    # Duration, threads and CPU time of a recording come from /proc.
    assert [len(one["runs"]) for one in found["variants"]] == [1, 1]
    assert found["inside"] is not None
