"""`tidscope prove`, and its picture."""

import signal
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, steering, target
from fake_backend import FakeBackend
from run_builders import RUN_ID, manifest
from tidscope_backend.cli import main
from tidscope_backend.cli.backend_client import RefusedError
from tidscope_backend.cli.prove import RESULT_SECONDS
from tidscope_backend.proving.picture import (
    MeasuredInterval,
    ProofResult,
    draw_proof,
    read_proof,
    ticks,
)
from tidscope_wire.generated.models import (
    ProofState,
    ProofVerdict,
    RunEvent,
    RunEventsResponse,
    SteeringDecided,
    SteeringProven,
    Target,
)

STEERING = f"/targets/{TARGET_ID}/steering"
ATTACH, POLL = ("POST", "/targets"), ("GET", f"/targets/{TARGET_ID}")
STEER, RELEASE = ("PUT", STEERING), ("DELETE", STEERING)
RECORD, STOP = ("POST", "/runs"), ("POST", f"/runs/{RUN_ID}/stop")
EVENTS = ("GET", f"/runs/{RUN_ID}/events")
PICTURE = "proof-fixed-100.svg"
NO_RESULT = f"tidscope prove: no result: the proof was ended before there was one; run {RUN_ID}\n"
RESTORED = "tidscope prove: released work: its original size is restored"
WHERE = f"tidscope prove: run {RUN_ID}, picture {PICTURE}"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeBackend:
    monkeypatch.chdir(tmp_path)
    backend = FakeBackend()
    backend.serve(monkeypatch, "prove", "recording_client")
    backend.table = {
        ATTACH: target(),
        RECORD: manifest(state="recording"),
        STEER: target(),
        POLL: proving(proof("better")),
        RELEASE: target(),
        EVENTS: ended(proof("better")),
        STOP: manifest(),
    }
    return backend


def prove(*arguments: str) -> int:
    return main(["prove", "--pid", "100", "--policy", "fixed", *arguments])


def proof(verdict: ProofVerdict = "open", pairs: int = 4, text: str = "It is so.") -> ProofState:
    return ProofState(
        verdict=verdict,
        pairs=pairs,
        discarded=0,
        gain_percent=10.0,
        low_percent=4.0,
        high_percent=17.0,
        lost_s=-2.0,
        elapsed_s=100.0,
        steers=True,
        text=text,
    )


def proving(now: ProofState | None, **changes: object) -> Target:
    return target().model_copy(update={"steering": steering(proof=now), **changes})


def ended(*states: ProofState) -> RunEventsResponse:
    proven = [SteeringProven(policy="fixed", proof=state) for state in states]
    events = [RunEvent(seq=1, time_ns=1, unix_us=1, event=one) for one in proven]
    return RunEventsResponse(events=events, omitted=0)


def test_what_is_better_goes_on(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert prove() == 0
    assert backend.requests == [ATTACH, RECORD, STEER, POLL, EVENTS, STOP]
    said = capsys.readouterr()
    assert said.out == "It is so.\n"
    assert said.err.splitlines() == [
        "tidscope prove: fixed on queue-wait: It is so.",
        "tidscope prove: fixed goes on; `tidscope steer --release` ends it",
        WHERE,
    ]
    drawn = (tmp_path / PICTURE).read_text()
    assert "<title>fixed against the default of work (pid 100)</title>" in drawn
    assert "It is so." in drawn


def test_what_is_better_is_released_if_asked(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove("--release") == 0
    assert backend.requests == [ATTACH, RECORD, STEER, POLL, RELEASE, EVENTS, STOP]
    assert capsys.readouterr().err.splitlines()[1:] == [RESTORED, WHERE]


def test_what_a_signal_released_does_not_go_on(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    """The signal arrives while the last poll is being answered."""
    backend.table[POLL] = [backend.after_signal(proving(proof("better")))]
    assert prove() == 0
    assert RELEASE in backend.requests
    assert capsys.readouterr().err.splitlines()[1:] == [RESTORED, WHERE]


@pytest.mark.parametrize(
    ("verdict", "code"), [("same", 1), ("worse", 1), ("unsettled", 1), ("harmful", 2), ("open", 3)]
)
def test_other_results_have_their_exit_codes(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    verdict: ProofVerdict,
    code: int,
) -> None:
    """The collector has released the program already."""
    backend.table[POLL] = target()
    backend.table[EVENTS] = ended(proof(verdict))
    assert prove() == code
    said = capsys.readouterr()
    assert said.out == "It is so.\n"
    assert said.err.splitlines() == [RESTORED, WHERE]
    assert RELEASE not in backend.requests


def test_each_pair_of_blocks_is_printed_once(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    polls = [(0, "none"), (0, "none still"), (1, "one"), (1, "one still"), (2, "two")]
    open_ones = [proving(proof("open", pairs, text)) for pairs, text in polls]
    backend.table[POLL] = [*open_ones, proving(proof("better", 2, "two, and better"))]
    assert prove() == 0
    said = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[2] for line in said[:-2]] == ["none", "one", "two"]


def test_as_json_the_result_is_all_of_the_output(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove("--json") == 0
    said = capsys.readouterr()
    assert ProofState.model_validate_json(said.out) == proof("better")
    assert "It is so." not in said.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("refusal", [None, RefusedError("It is not steered; nothing to do")])
def test_a_signal_ends_it_without_a_result(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    number: int,
    refusal: Exception | None,
) -> None:
    backend.table[POLL] = [backend.after_signal(proving(proof()), number)]
    backend.table[EVENTS] = [ended()]
    backend.table[RELEASE] = refusal or target()
    assert prove() == 3
    # A result is not waited for.
    assert backend.requests == [ATTACH, RECORD, STEER, POLL, RELEASE, EVENTS, STOP]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith(NO_RESULT)
    assert "The proof did not end." in (tmp_path / PICTURE).read_text()


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (target().model_copy(update={"state": "exited"}), "the program has exited"),
        # Last report of a disconnected collector.
        (proving(proof(), state="detached"), "the collector is gone"),
    ],
    ids=["exited", "detached"],
)
def test_a_program_that_is_gone_leaves_no_result(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], last: Target, why: str
) -> None:
    backend.table[POLL] = [proving(proof()), last]
    backend.table[EVENTS] = [ended()]
    # The run ended with the program.
    backend.table[STOP] = RefusedError("It is not being recorded; it has ended already")
    backend.table["GET", f"/runs/{RUN_ID}"] = manifest()
    assert prove() == 3
    assert backend.requests[-4:] == [POLL, EVENTS, STOP, ("GET", f"/runs/{RUN_ID}")]
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"tidscope prove: no result: {why}")
    assert said.endswith(f"; run {RUN_ID}")


@pytest.mark.parametrize("last", [target(), proving(None)], ids=["released", "steered otherwise"])
def test_the_frame_with_the_result_is_waited_for(backend: FakeBackend, last: Target) -> None:
    backend.table[POLL] = [proving(proof()), last]
    backend.table[EVENTS] = [ended(), ended(), ended(proof("same"))]
    assert prove() == 1
    assert backend.requests.count(EVENTS) == 3


def test_it_is_not_waited_for_in_vain(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table[EVENTS] = ended()
    begin = backend.now
    assert prove() == 3
    assert backend.now - begin == RESULT_SECONDS
    assert backend.requests[-1] == STOP
    assert capsys.readouterr().err.endswith(NO_RESULT)


def test_a_refused_proof_ends_its_run(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    backend.table[STEER] = RefusedError("It has no pool; name another one")
    assert prove() == 1
    assert backend.requests == [ATTACH, RECORD, STEER, STOP]
    assert capsys.readouterr().err == "tidscope prove: It has no pool; name another one\n"
    assert list(tmp_path.iterdir()) == []


def test_a_refused_poll_ends_the_run_and_the_release_asked_for(backend: FakeBackend) -> None:
    backend.table[POLL] = RefusedError("There is no such target; attach again")
    assert prove("--release") == 1
    assert backend.requests[-2:] == [RELEASE, STOP]


def test_a_picture_that_cannot_be_written_is_named(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove("--picture", "none/a.svg") == 1
    said = capsys.readouterr().err
    assert said.endswith("tidscope prove: cannot write none/a.svg: No such file or directory\n")
    assert backend.requests[-1] == STOP


def test_the_picture_is_where_it_is_asked_for(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert prove("--picture", "a.svg") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
    assert capsys.readouterr().err.endswith(f"tidscope prove: run {RUN_ID}, picture a.svg\n")


@pytest.mark.parametrize(
    ("arguments", "name"), [((), "proof of fixed"), (("--name", "first"), "first")]
)
def test_the_run_is_named(backend: FakeBackend, arguments: Sequence[str], name: str) -> None:
    assert prove(*arguments) == 0
    assert backend.sent[RECORD] == {"target": TARGET_ID, "tags": ["proof"], "name": name}


@pytest.mark.parametrize(
    ("arguments", "plan"),
    [
        ((), (None, None, None, None, None)),
        (
            ("--block", "2", "--most", "60", "--smallest", "3", "--loss", "4", "--seed", "7"),
            (2, 60, 3, 4, 7),
        ),
    ],
)
def test_the_plan_is_sent(
    backend: FakeBackend, arguments: Sequence[str], plan: tuple[float | None, ...]
) -> None:
    assert prove("--set", "size=2", *arguments) == 0
    names = ("block_s", "most_s", "smallest_percent", "loss_percent", "seed")
    sent = backend.sent[STEER]
    assert isinstance(sent, dict)
    assert sent["proof"] == dict(zip(names, plan, strict=True))
    assert (sent["policy"], sent["parameters"], sent["shadow"]) == ("fixed", {"size": 2}, False)
    assert backend.sent[ATTACH] == {"pid": 100}


def test_what_is_no_process_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("0", "-1", "name"):
        with pytest.raises(SystemExit):
            main(["prove", f"--pid={text}"])
        assert f"{text} is no process id" in capsys.readouterr().err


SVG = "{http://www.w3.org/2000/svg}"


def decided(
    number: int, *, with_policy: bool | None, ops: float = 100, counted: bool = True
) -> SteeringDecided:
    return SteeringDecided(
        type="steering_decided",
        policy="fixed",
        number=number,
        at_ns=10**9 * (100 + number),
        elapsed_s=1.0,
        ops=ops,
        mean_wait_s=None,
        size=2,
        next_size=2,
        proposed=None,
        state="s",
        reason="r",
        counted=counted,
        probing=False,
        with_policy=with_policy,
    )


def state(**changes: object) -> ProofState:
    defaults = ProofState(
        verdict="better",
        pairs=4,
        discarded=0,
        gain_percent=10.0,
        low_percent=4.0,
        high_percent=17.0,
        lost_s=-2.0,
        elapsed_s=100.0,
        steers=True,
        text="The policy is better: <+10%>.",
    )
    return defaults.model_copy(update=changes)


def events(*found: SteeringDecided | SteeringProven) -> list[RunEvent]:
    return [RunEvent(seq=1, time_ns=1, unix_us=1, event=one) for one in found]


def test_the_last_proof_of_a_run_is_read() -> None:
    proven = SteeringProven(type="steering_proven", policy="fixed", proof=state())
    found = read_proof(
        events(
            decided(1, with_policy=True, ops=999),
            decided(1, with_policy=False),
            decided(2, with_policy=True, ops=0, counted=False),
            decided(3, with_policy=True, ops=120),
            proven,
        )
    )
    assert found.intervals == [
        MeasuredInterval(1.0, 100.0, 2, with_policy=False),
        MeasuredInterval(3.0, 120.0, 2, with_policy=True),
    ]
    assert found.state == state()


def test_a_run_without_one_has_none() -> None:
    assert read_proof([]) == ProofResult([], None)
    assert read_proof(events(decided(1, with_policy=None))) == ProofResult([], None)


def test_the_picture_has_every_interval_and_the_gain() -> None:
    intervals = [MeasuredInterval(at, 90.0 + at, 2, with_policy=at % 4 > 1) for at in range(1, 13)]
    drawn = ET.fromstring(draw_proof(ProofResult(intervals, state()), "fixed & friends"))
    assert len(drawn.findall(f"{SVG}circle[{SVG}title]")) == 12
    texts = "".join(drawn.itertext())
    for text in ("fixed & friends", "The policy is better: <+10%>.", "+10.0 %", "+4.0", "+17.0"):
        assert text in texts


def test_what_is_not_known_is_not_drawn() -> None:
    drawn = "".join(ET.fromstring(draw_proof(ProofResult([], None), "t")).itertext())
    assert "The proof did not end." in drawn
    unknown = state(low_percent=None, high_percent=None)
    drawn = "".join(ET.fromstring(draw_proof(ProofResult([], unknown), "t")).itertext())
    assert "+10.0 %" in drawn
    assert "+17.0" not in drawn


def test_axes_have_few_round_values() -> None:
    assert ticks(8) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert ticks(1100) == [0, 200, 400, 600, 800, 1000]
    for highest in (0.3, 1, 7, 19, 55, 130, 999, 12345, 3e6):
        assert 4 <= len(ticks(highest)) <= 9
        assert ticks(highest)[-1] <= highest
