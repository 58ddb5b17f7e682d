"""Programs and load generators of experiments: what they say, and how they fail."""

import os
import sys

import pytest
from tidscope_backend.experiments.building import build, build_environment, check_needs
from tidscope_backend.experiments.conditions import (
    Conditions,
    figures_between,
    parse_stat,
    setup_of_machine,
    warnings_of,
)
from tidscope_backend.experiments.matrix import joined
from tidscope_backend.experiments.program import (
    Load,
    RunningProgram,
    check_generator,
    cpus_of,
    exit_text,
    on_cpus,
    parse_report,
)
from tidscope_backend.experiments.workload import (
    ExperimentError,
    RepeatError,
    read_workload,
    workloads_folder,
)

READY = 'print(\'{"ready": "here"}\', flush=True)\n'
ANSWERS = f"""
import json, sys
{READY}
for line in sys.stdin:
    print('{{}}' if line == 'begin\\n' else '{{"ops": 6, "elapsed_s": 2}}', flush=True)
"""


def running(
    text: str, cpus: frozenset[int] | None = None, patience_s: float = 60.0
) -> RunningProgram:
    command = [sys.executable, "-c", text]
    return RunningProgram("mine", command, dict(os.environ), cpus, patience_s)


def failure(text: str, patience_s: float = 60.0) -> str:
    program = running(text, patience_s=patience_s)
    try:
        with pytest.raises(RepeatError) as caught:
            program.wait_until_ready()
            program.begin()
            program.end()
    finally:
        program.stop()
    return str(caught.value)


def test_a_program_is_measured_and_ends_with_its_input() -> None:
    program = running(ANSWERS)
    program.wait_until_ready()
    assert program.address == "here"
    program.begin()
    assert program.end() == {"ops": 6.0, "elapsed_s": 2.0}
    program.check()
    pid = program.pid
    program.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_runs_on_its_cpus_and_we_on_ours() -> None:
    own = os.sched_getaffinity(0)
    first = frozenset(sorted(own)[:1])
    program = running(ANSWERS, first)
    try:
        assert os.sched_getaffinity(program.pid) == first
        assert os.sched_getaffinity(0) == own
    finally:
        program.stop()
    with on_cpus(first):
        assert os.sched_getaffinity(0) == first
    assert os.sched_getaffinity(0) == own


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('it does not work')", "ended with exit code 1: it does not work"),
        (READY + "import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("print('here')", "which is no object of JSON"),
        ("print('[1]')", "which is no object of JSON"),
        (ANSWERS.replace('"ops": 6', '"ops": "six"'), "which are no figures"),
        (ANSWERS.replace('"ops": 6', '"ops": null'), "which are no figures"),
    ],
)
def test_how_it_fails_is_said(text: str, said: str) -> None:
    assert said in failure(text)


def test_one_that_does_not_answer_is_given_up() -> None:
    text = "import sys; sys.stdin.read()"
    assert "did not answer within 0.2 s" in failure(text, patience_s=0.2)


def test_a_command_that_is_not_there() -> None:
    program = RunningProgram("mine", ["/does/not/exist"], dict(os.environ))
    try:
        with pytest.raises(RepeatError, match="ended with exit code"):
            program.wait_until_ready()
    finally:
        program.stop()


def test_exit_codes_as_text() -> None:
    assert exit_text(3) == "ended with exit code 3"
    assert exit_text(-15) == "was killed by SIGTERM"
    assert exit_text(-60) == "was killed by signal 60"


def test_placements(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpus_of("shared") == (None, None)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    assert cpus_of("apart") == (frozenset({0, 1}), frozenset({2}))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    with pytest.raises(RepeatError, match="on one CPU"):
        cpus_of("apart")


def test_the_report_of_wrk() -> None:
    said = 'Running 1s test\n  1 threads\n\n{"requests": 10, "duration_us": 1000000, "errors": 0}\n'
    assert parse_report(said, "wrk") == {"requests": 10.0, "duration_us": 1e6, "errors": 0.0}
    for wrong in ("", "unable to connect", '{"requests": 1}', "[]"):
        with pytest.raises(RepeatError, match="wrote no report"):
            parse_report(wrong, "wrk")
    with pytest.raises(RepeatError, match="no request of wrk was answered"):
        parse_report('{"requests": 0, "duration_us": 1000}', "wrk")


def test_a_missing_load_generator_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    web = read_workload(workloads_folder() / "web")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ExperimentError, match=r"generator wrk is missing.*apt-get install wrk"):
        check_generator(web)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("go", "package golang-go"),
        ("java", "package default-jdk-headless"),
        ("c++", r"package g\+\+"),
    ],
)
def test_a_missing_toolchain_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, language: str, said: str
) -> None:
    pools = read_workload(workloads_folder() / "pool-trace")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ExperimentError, match=said):
        build(pools, pools.programs[language], build_environment())


def test_a_missing_rust_compiler_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    echo = read_workload(workloads_folder() / "echo")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ExperimentError, match="package cargo"):
        build(echo, echo.programs["tokio"], build_environment())


@pytest.mark.parametrize(
    ("name", "package"),
    [("disk", "fio"), ("net", "iperf3"), ("postgres", "postgresql"), ("get", "curl")],
)
def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    workload = read_workload(workloads_folder() / name)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ExperimentError, match=rf"install the package {package} \(apt-get"):
        check_needs(workload)


COUNTING_LOAD = """
import sys
print('warming')
print('{"requests": 5, "duration_us": %d}' % (int(sys.argv[1]) * 1e6))
"""


def test_a_load_of_its_own_runs_for_whole_seconds() -> None:
    load = Load(
        "the load of mine",
        lambda seconds: [sys.executable, "-c", COUNTING_LOAD, str(seconds)],
        dict(os.environ),
        None,
    )
    load.start(1.2)
    assert load.wait() == {"requests": 5.0, "duration_us": 2e6}
    load = Load(
        "the load of mine",
        lambda _: [sys.executable, "-c", "raise SystemExit('refused')"],
        dict(os.environ),
        None,
    )
    load.start(1)
    with pytest.raises(RepeatError, match="the load of mine ended with exit code 1: refused"):
        load.wait()


def test_programs_get_nothing_that_is_meant_for_tidscope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDSCOPE_TOKEN", "secret")
    monkeypatch.setenv("TIDSCOPE_AGENT_DIR", "/run/agents")
    found = build_environment()
    assert "TIDSCOPE_TOKEN" not in found
    assert found["TIDSCOPE_AGENT_DIR"] == "/run/agents"


def test_conditions_between_two_readings() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    line = "cpu " + " ".join(str(value * ticks) for value in (10, 1, 4, 80, 3, 1, 1, 5, 2, 2))
    busy, steal, total = parse_stat(f"{line}\ncpu0 1 2\n")
    assert (busy, steal, total) == (17, 5, 105)
    before = Conditions(0.0, 0.0, 0.0, 100.0)
    found = figures_between(before, Conditions(busy, steal, total, 106.5))
    assert found == {"steal_share": 5 / 105, "other_share": 10.5 / 105}
    assert warnings_of(found) == ["The hypervisor took 5% of the CPU time (steal)."]
    assert figures_between(before, before) == {}
    assert figures_between(before, Conditions(None, None, None, 0.0)) == {}
    assert "CPU time" in warnings_of({"other_share": 0.5})[0]
    with pytest.raises(ValueError, match="no line"):
        parse_stat("intr 1 2")


def test_the_set_up_of_this_machine() -> None:
    found = setup_of_machine()
    assert int(found["CPUs"]) == len(os.sched_getaffinity(0))
    assert found["kernel"].startswith("Linux ")
    assert Conditions.now().own_s >= 0


def test_figures_of_several_programs() -> None:
    one = {"mean_cores": 1.0, "share_running": 0.5, "power_w": 10.0, "switches": 2.0}
    other = {"mean_cores": 0.5, "share_running": 0.1, "power_w": 10.0}
    assert joined([one]) == one
    assert joined([one, other]) == {"mean_cores": 1.5, "power_w": 10.0}
    assert joined([one, {}]) == {}
