"""`tidscope sizes` and `tidscope sweep`."""

import signal
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, process, steering, target
from fake_backend import FakeBackend
from run_builders import RUN_ID, manifest
from tidscope_backend.cli import main
from tidscope_backend.cli.backend_client import RefusedError
from tidscope_backend.cli.sizes import is_wrong, table
from tidscope_wire.generated.models import (
    CpuAllowance,
    MeasuredChange,
    RunEvent,
    RunEventsResponse,
    SizeAudit,
    SizedProgram,
    SizeVerdict,
    SteeringSwept,
    SweepPoint,
    SweepState,
    SweepVerdict,
    Target,
)


def program(verdict: SizeVerdict, *, limit: float | None = None) -> SizedProgram:
    return SizedProgram(
        process=process(7),
        allowance=CpuAllowance(
            cpus=8,
            limit_cores=limit,
            limit_group=None if limit is None else "/sys/fs/cgroup/a",
            weight=39,
            request_cores=None if limit is None else 1.0,
            periods=None if limit is None else 200,
            throttled=None if limit is None else 75,
        ),
        pool="GOMAXPROCS",
        kind="gomaxprocs",
        size=8,
        source="memory",
        chosen="runtime",
        verdict=verdict,
        why="Because.",
        change=None if limit is None else "GOMAXPROCS=2",
    )


def test_what_is_wrong_is_listed_with_its_evidence_and_its_change() -> None:
    audit = SizeAudit(programs=[program("too-large", limit=2.0), program("fits")], omitted=0)
    lines = list(table(audit, fitting=False))
    assert lines[0] == "1 of 2 pools set wrong"
    assert "    change: GOMAXPROCS=2" in lines
    (allowed,) = [line for line in lines if "affinity" in line]
    assert "limit 2 cores of /sys/fs/cgroup/a" in allowed
    assert "throttled in 37.5% of periods" in allowed
    assert "weight 39; request 1 cores" in allowed
    assert [is_wrong(one) for one in audit.programs] == [True, False]


def test_all_of_them_and_those_left_out() -> None:
    lines = list(table(SizeAudit(programs=[program("fits")], omitted=3), fitting=True))
    assert lines[0] == "0 of 1 pool set wrong"
    assert any(line.startswith("fits") for line in lines)
    assert lines[-1] == "3 more were not looked at"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    backend = FakeBackend()
    backend.serve(monkeypatch, "sizes")
    return backend


@pytest.mark.parametrize(
    ("verdict", "code"), [("too-large", 1), ("too-small", 1), ("fits", 0), ("unknown", 0)]
)
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_the_exit_code_says_whether_one_is_wrong(
    backend: FakeBackend, verdict: SizeVerdict, code: int, arguments: list[str]
) -> None:
    audit = SizeAudit(programs=[program("fits"), program(verdict)], omitted=0)
    backend.table["GET", "/sizes"] = audit
    assert main(["sizes", *arguments]) == code


def test_programs_that_fit_are_printed_if_asked(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table["GET", "/sizes"] = SizeAudit(programs=[program("fits")], omitted=0)
    assert main(["sizes"]) == 0
    assert capsys.readouterr().out == "0 of 1 pool set wrong\n"
    assert main(["sizes", "--all"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 of 1 pool set wrong",
        "",
        "fits      GOMAXPROCS of work (pid 7, version not known)",
        "    Because.",
        "    affinity 8; weight 39",
    ]


def test_the_audit_as_json(backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    audit = SizeAudit(programs=[program("too-large", limit=2.0), program("fits")], omitted=3)
    backend.table["GET", "/sizes"] = audit
    assert main(["sizes", "--json"]) == 1
    assert SizeAudit.model_validate_json(capsys.readouterr().out) == audit


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({"weight": None}, "affinity 8"),
        ({"weight": None, "periods": 0, "throttled": 0}, "affinity 8"),
        (
            {"weight": None, "periods": 9, "throttled": 0},
            "affinity 8; throttled in 0.0% of periods",
        ),
    ],
)
def test_only_what_is_known_is_evidence(changes: dict[str, int | None], evidence: str) -> None:
    known = program("unknown")
    of = known.process.model_copy(update={"runtime_version": "go1.24"})
    allowance = known.allowance.model_copy(update=changes)
    one = known.model_copy(update={"process": of, "allowance": allowance})
    lines = list(table(SizeAudit(programs=[one], omitted=0), fitting=False))
    assert lines[2] == "unknown   GOMAXPROCS of work (pid 7, go1.24)"
    assert lines[-1] == f"    {evidence}"


STEERING = f"/targets/{TARGET_ID}/steering"
ATTACH, POLL = ("POST", "/targets"), ("GET", f"/targets/{TARGET_ID}")
SWEEP, RELEASE = ("PUT", STEERING), ("DELETE", STEERING)
RECORD, STOP = ("POST", "/runs"), ("POST", f"/runs/{RUN_ID}/stop")
EVENTS = ("GET", f"/runs/{RUN_ID}/events")


@pytest.fixture
def sweeping_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeBackend:
    monkeypatch.chdir(tmp_path)
    backend = FakeBackend()
    backend.serve(monkeypatch, "prove", "recording_client")
    backend.table = {
        ATTACH: target(),
        RECORD: manifest(state="recording"),
        SWEEP: target(),
        POLL: [sweeping(state("open", 0)), sweeping(state("open", 1)), target()],
        RELEASE: target(),
        EVENTS: ended(state("decided")),
        STOP: manifest(),
    }
    return backend


def state(verdict: SweepVerdict, rounds: int = 4) -> SweepState:
    points = [
        SweepPoint(size=1, ops_per_s=500.0, low=None, high=None, rounds=2),
        SweepPoint(size=2, ops_per_s=1000.0, low=990.0, high=1010.0, rounds=4),
        SweepPoint(size=4, ops_per_s=1001.0, low=991.0, high=1011.0, rounds=4),
    ]
    return SweepState(
        verdict=verdict,
        start=4,
        rounds=rounds,
        discarded=0,
        points=points,
        best=4,
        knee=2,
        knee_from=2,
        knee_to=2,
        gain=MeasuredChange(percent=-0.1, low_percent=-1.0, high_percent=0.9),
        refused=[],
        line="GOMAXPROCS=2",
        lost_s=1.0,
        elapsed_s=60.0,
        text=f"{rounds} rounds.",
    )


def sweeping(now: SweepState) -> Target:
    return target().model_copy(update={"steering": steering(policy="sweep", sweep=now)})


def ended(*states: SweepState) -> RunEventsResponse:
    events = [
        RunEvent(seq=1, time_ns=1, unix_us=1, event=SteeringSwept(policy="sweep", sweep=one))
        for one in states
    ]
    return RunEventsResponse(events=events, omitted=0)


def sweep(*arguments: str) -> int:
    return main(["sweep", "--pid", "100", *arguments])


def test_the_curve_its_knee_and_the_line_are_printed(
    sweeping_backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert sweep() == 0
    assert sweeping_backend.requests == [ATTACH, RECORD, SWEEP, POLL, POLL, POLL, EVENTS, STOP]
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "  size         ops/s             95 % interval  rounds",
        "     1         500.0                         -       2",
        "     2       1,000.0          990.0 to 1,010.0       4  knee",
        "     4       1,001.0          991.0 to 1,011.0       4  before",
        "4 rounds.",
        "GOMAXPROCS=2",
    ]
    assert said.err.splitlines() == [
        "tidscope sweep: pool-agent by queue-wait: 0 rounds.",
        "tidscope sweep: pool-agent by queue-wait: 1 rounds.",
        "tidscope sweep: released work: its original size is restored",
        f"tidscope sweep: run {RUN_ID}",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("verdict", "code"), [("unsettled", 1), ("harmful", 2), ("open", 3)])
def test_other_results_have_their_exit_codes_and_no_line(
    sweeping_backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    verdict: SweepVerdict,
    code: int,
) -> None:
    sweeping_backend.table[EVENTS] = ended(state(verdict))
    assert sweep() == code
    assert "GOMAXPROCS" not in capsys.readouterr().out


def test_as_json_the_result_is_all_of_the_output(
    sweeping_backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("--json") == 0
    said = capsys.readouterr()
    assert SweepState.model_validate_json(said.out) == state("decided")
    assert "by queue-wait" not in said.err


def test_the_picture_has_every_size_and_the_knee(
    sweeping_backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert sweep("--svg", "a.svg") == 0
    assert sweeping_backend.requests[-1] == STOP
    drawn = (tmp_path / "a.svg").read_text()
    assert "<title>Size curve of work (pid 100)</title>" in drawn
    assert "knee 2" in drawn
    assert "4 (before)" in drawn
    assert "size 2: 1,000 operations a second, 990 to 1,010" in drawn
    assert capsys.readouterr().err.endswith(f"run {RUN_ID}, picture a.svg\n")
    sweeping_backend.table[POLL] = target()
    assert sweep("--svg", "none/a.svg") == 1
    assert "cannot write none/a.svg" in capsys.readouterr().err


def test_a_signal_ends_it_without_a_result(
    sweeping_backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sweeping_backend.table[POLL] = [
        sweeping_backend.after_signal(sweeping(state("open", 0)), signal.SIGTERM)
    ]
    sweeping_backend.table[EVENTS] = ended()
    assert sweep("--svg", "a.svg") == 3
    assert sweeping_backend.requests == [ATTACH, RECORD, SWEEP, POLL, RELEASE, EVENTS, STOP]
    assert "no result" in capsys.readouterr().err
    assert "The sweep did not end." in (tmp_path / "a.svg").read_text()


def test_a_refused_sweep_ends_its_run(
    sweeping_backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    sweeping_backend.table[SWEEP] = RefusedError("It has no pool; name another one")
    assert sweep() == 1
    assert sweeping_backend.requests == [ATTACH, RECORD, SWEEP, STOP]
    assert capsys.readouterr().err == "tidscope sweep: It has no pool; name another one\n"


def test_the_plan_is_sent(sweeping_backend: FakeBackend) -> None:
    limits = ("--lower", "1", "--upper", "8", "--max-seconds", "60", "--loss", "4")
    assert sweep(*limits, "--block", "1", "--sizes", "5", "--seed", "7") == 0
    sent = sweeping_backend.sent[SWEEP]
    assert isinstance(sent, dict)
    assert sent["sweep"] == {
        "block_s": 1,
        "most_s": 60,
        "loss_percent": 4,
        "sizes": 5,
        "seed": 7,
    }
    assert (sent["policy"], sent["parameters"], sent["lower"], sent["upper"]) == ("sweep", {}, 1, 8)
    assert sweeping_backend.sent[RECORD] == {
        "target": TARGET_ID,
        "tags": ["sweep"],
        "name": "size curve",
    }
