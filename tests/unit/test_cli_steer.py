"""`tidscope steer`: what it asks of a backend, and the lines that it prints."""

import json
import signal
import time

import pytest
from backend_builders import TARGET_ID, process, steering, target
from fake_backend import Answer, FakeBackend
from pydantic import BaseModel
from tidscope_backend.cli import main
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError
from tidscope_wire.generated.models import (
    Group,
    KnobOption,
    PoliciesResponse,
    PolicyInfo,
    ProgramOptions,
    SignalOption,
    SteeredProgram,
    Steering,
    SteeringOptions,
    Target,
    TargetsResponse,
)

ONE = f"/targets/{TARGET_ID}"
STEERING = f"{ONE}/steering"
ATTACH, POLL = ("POST", "/targets"), ("GET", ONE)
STEER, RELEASE = ("PUT", STEERING), ("DELETE", STEERING)
UNIT = Group(
    kind="unit",
    value="shop.service",
    name="shop",
    cgroup="/system.slice/shop.service",
    discovery="polling",
    discovery_reason="test",
)
TREE = UNIT.model_copy(update={"kind": "tree", "value": None, "name": "work", "cgroup": None})
RESTORED = "tidscope steer: released work: its original size is restored\n"
POLICIES = PoliciesResponse(
    policies=[
        PolicyInfo(name=name, meaning="m", source="s", wait=False, parameters=[])
        for name in ("fixed", "linear")
    ]
)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    backend = FakeBackend()
    backend.serve(monkeypatch, "steer", "steering_client")
    backend.table |= {ATTACH: target(), STEER: target(), RELEASE: target()}
    return backend


def steered(now: Steering | None, **changes: object) -> Target:
    return target().model_copy(update={"steering": now, **changes})


def programs(*found: tuple[int, str, Steering], join: bool = False) -> Target:
    of = [
        SteeredProgram(pid=pid, start_ticks=1, name=name, steering=now) for pid, name, now in found
    ]
    return steered(None, programs=of, programs_join=join, group=UNIT)


def followed(backend: FakeBackend, *polls: BaseModel, arguments: tuple[str, ...] = ()) -> int:
    """Steer, and press Ctrl-C at the last poll; the exit code."""
    last = backend.after_signal(polls[-1])
    backend.table[POLL] = [*polls[:-1], last]
    return main(["steer", "--pid", "100", *arguments])


def knob(kind: str = "pool-agent", refusal: str = "") -> KnobOption:
    bounds = (None, None) if refusal else (1, 8)
    return KnobOption.model_validate(
        {"kind": kind, "refusal": refusal, "lower": bounds[0], "upper": bounds[1], "size": None}
    )


def signal_option(kind: str, *, refusal: str = "", note: str = "") -> SignalOption:
    return SignalOption.model_validate(
        {"kind": kind, "proxy": False, "refusal": refusal, "note": note}
    )


def possible(pid: int, knobs: list[KnobOption], signals: list[SignalOption]) -> ProgramOptions:
    return ProgramOptions(
        pid=pid,
        start_ticks=1,
        name="shop",
        refusal="It has no pool.",
        knobs=knobs,
        signals=signals,
        steering=None,
    )


def test_options_of_a_process(backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    found = SteeringOptions(
        knobs=[knob(), knob("go-agent", "It is not a Go program.")],
        signals=[
            signal_option("queue-wait", note="of tasks"),
            signal_option("agent-ops", refusal="It counts nothing."),
        ],
        steering=None,
    )
    backend.table = {("GET", "/steering?pid=100"): found, ("GET", "/policies"): POLICIES}
    assert main(["steer", "--pid", "100", "--options"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "knob    pool-agent     1 to 8",
        "knob    go-agent       It is not a Go program.",
        "signal  queue-wait     of tasks",
        "signal  agent-ops      It counts nothing.",
        "policies: fixed, linear",
    ]


def test_options_of_a_group_are_those_of_its_programs(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = signal_option("agent-ops", refusal="It counts nothing.")
    both = [refused, signal_option("queue-wait")]
    found = SteeringOptions(
        knobs=[knob()],
        signals=[],
        steering=None,
        programs=[
            possible(7, [knob("go-agent", "no"), knob()], both),
            possible(8, [knob()], [refused]),
            possible(9, [], both),
        ],
        unexamined=3,
    )
    asked = "/steering?kind=unit&value=shop.service"
    backend.table = {("GET", asked): found, ("GET", "/policies"): POLICIES}
    assert main(["steer", "--unit", "shop.service", "--options"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "program 7        shop             pool-agent 1 to 8, by queue-wait",
        "program 8        shop             It has no pool.",
        "program 9        shop             It has no pool.",
        "3 more processes were not examined",
        "policies: fixed, linear",
    ]


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("--tree", "7"), "kind=tree&pid=7"),
        (("--match", "name:a* port:80"), "kind=match&value=name%3Aa%2A+port%3A80"),
    ],
)
def test_options_as_json_are_one_request(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    question: str,
) -> None:
    found = SteeringOptions(knobs=[knob()], signals=[], steering=None)
    backend.table = {("GET", f"/steering?{question}"): found}
    assert main(["steer", *arguments, "--options", "--json"]) == 0
    assert SteeringOptions.model_validate_json(capsys.readouterr().out) == found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_restores_the_size(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    backend.table[POLL] = backend.after_signal(steered(steering()), number)
    assert main(["steer", "--pid", "100"]) == 0
    assert backend.requests == [ATTACH, STEER, POLL, RELEASE]
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    assert said.err == RESTORED
    assert backend.sent[ATTACH] == {"pid": 100, "rate_hz": 10}
    assert backend.sent[STEER] == {
        "policy": "cooperative",
        "parameters": {},
        "shadow": False,
        "knob": None,
        "signal": None,
        "lower": None,
        "upper": None,
        "lease_s": 15.0,
    }


def test_what_is_asked_for_is_sent(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (
        *("--policy", "fixed", "--set", "size=2", "--set", "interval_s=0.5", "--shadow"),
        *("--knob", "go-agent", "--signal", "prometheus", "--lower", "2", "--upper", "9"),
        *("--counter", "9100:/metrics?a=b#c#requests_total"),
    )
    assert followed(backend, steered(steering()), arguments=arguments) == 0
    assert backend.sent[STEER] == {
        "policy": "fixed",
        "parameters": {"size": 2, "interval_s": 0.5},
        "shadow": True,
        "knob": "go-agent",
        "signal": "prometheus",
        "lower": 2,
        "upper": 9,
        "lease_s": 15.0,
        "prometheus": {"port": 9100, "path": "/metrics?a=b#c", "metric": "requests_total"},
    }
    assert capsys.readouterr().err == RESTORED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "interval_s"), "--set interval_s: use NAME=NUMBER"),
        (("--set", "interval_s=soon"), "--set interval_s=soon: use NAME=NUMBER"),
        (("--counter", "9100"), "--counter 9100: use PORT:PATH#NAME"),
        (("--counter", "9100:/metrics"), "use PORT:PATH#NAME"),
        (("--counter", "http:/metrics#a"), "use PORT:PATH#NAME"),
        (("--join",), "for the programs of a group"),
        (("--only", "7"), "for the programs of a group"),
        (("--only", "7", "--only", "8", "--restart"), "--only names one program"),
        (("--only", "7", "--only", "8", "--release"), "--only names one program"),
    ],
)
def test_what_makes_no_sense_is_not_asked_for(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert main(["steer", "--pid", "100", *arguments]) == 1
    assert words in capsys.readouterr().err
    assert backend.requests == []


@pytest.mark.parametrize("arguments", [(), ("--unit", "")])
def test_something_to_steer_has_to_be_named(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["steer", *arguments])
    assert exited.value.code == 2
    assert "--pid" in capsys.readouterr().err
    assert backend.opened == []


@pytest.mark.parametrize(
    ("arguments", "programs_sent", "join"),
    [
        ((), None, False),
        (("--only", "7", "--only", "8", "--join"), [{"pid": 7}, {"pid": 8}], True),
    ],
)
def test_which_programs_of_a_group_are_steered(
    backend: FakeBackend,
    arguments: tuple[str, ...],
    programs_sent: list[dict[str, int]] | None,
    join: bool,
) -> None:
    backend.table[POLL] = backend.after_signal(programs((7, "shop", steering())))
    assert main(["steer", "--unit", "shop.service", *arguments]) == 0
    sent = backend.sent[STEER]
    assert isinstance(sent, dict)
    assert (sent["programs"], sent["join"]) == (programs_sent, join)
    assert backend.sent[ATTACH] == {
        "group": {"kind": "unit", "value": "shop.service"},
        "rate_hz": 10,
    }


def test_kept_steering_is_not_released(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert followed(backend, steered(steering()), arguments=("--keep",)) == 0
    assert backend.requests == [ATTACH, STEER, POLL]
    assert "steering continues" in capsys.readouterr().err


def test_it_ends_when_its_time_is_over(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    early = backend.after_seconds(steered(steering()), 4.0)
    late = backend.after_seconds(steered(steering(decisions=2)), 7.0)
    backend.table[POLL] = [early, late]
    renew = ("POST", f"{STEERING}/renew")
    backend.table[renew] = steered(steering())
    assert main(["steer", "--pid", "100", "--duration", "10"]) == 0
    assert backend.requests == [ATTACH, STEER, POLL, renew, POLL, RELEASE]
    said = capsys.readouterr()
    assert said.out.count("\n") == 2
    assert said.err == RESTORED


def test_a_refusal_to_steer_releases_nothing(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table[STEER] = RefusedError("It has no pool; name another one")
    assert main(["steer", "--pid", "100"]) == 1
    assert capsys.readouterr().err == "tidscope steer: It has no pool; name another one\n"
    assert backend.requests == [ATTACH, STEER]


def test_a_backend_that_goes_is_asked_to_release(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table[POLL] = [steered(steering()), UnavailableError("here: reset")]
    assert main(["steer", "--pid", "100"]) == 1
    assert backend.requests[-1] == RELEASE
    assert "no tidscope answers: here: reset" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (steered(None), "released by someone else"),
        (steered(None, state="exited"), "the program has exited"),
        (
            steered(None, state="detached"),
            "detached by someone else: its original size is restored",
        ),
        (programs(), "released by someone else"),
    ],
)
def test_it_ends_when_nothing_is_steered_any_more(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], last: Target, why: str
) -> None:
    backend.table[POLL] = [steered(steering()), last]
    backend.table[RELEASE] = RefusedError("It is not steered; nothing to do")
    assert main(["steer", "--pid", "100"]) == 0
    assert capsys.readouterr().err == f"tidscope steer: {why}\n"


def test_kept_steering_that_has_ended_does_not_continue(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table[POLL] = [steered(steering()), steered(None, state="exited")]
    assert main(["steer", "--pid", "100", "--keep"]) == 0
    assert capsys.readouterr().err == "tidscope steer: the program has exited\n"
    assert RELEASE not in backend.requests


def test_a_group_that_programs_join_is_waited_for(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = programs(join=True)
    gone = nobody.model_copy(update={"state": "exited"})
    backend.table[POLL] = [nobody, programs((7, "shop", steering()), join=True), nobody, gone]
    backend.table[RELEASE] = programs()
    assert main(["steer", "--unit", "shop.service", "--join"]) == 0
    said = capsys.readouterr()
    assert "  shop (7)  size 1 of 1-2  " in said.out
    assert said.err.splitlines() == [
        "tidscope steer: shop (7) is no longer steered",
        "tidscope steer: the program has exited",
        "tidscope steer: released shop: original sizes are restored",
    ]


def test_problems_are_named_once_and_when_they_are_over(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    well, ill = steering(), steering(problem="The agent is slow.")
    polls = [
        programs((7, "a", well), (8, "b", well)),
        programs((7, "a", ill), (8, "b", well)),
        programs((7, "a", ill), (8, "b", ill)),
        programs((7, "a", well), (8, "b", ill)),
    ]
    backend.table[POLL] = [*polls[:-1], backend.after_signal(polls[-1])]
    assert main(["steer", "--unit", "shop.service"]) == 0
    assert capsys.readouterr().err.splitlines()[:-1] == [
        "tidscope steer: a (7): The agent is slow.",
        "tidscope steer: b (8): The agent is slow.",
        "tidscope steer: a (7): resolved",
    ]


def test_the_problem_of_a_process_needs_no_name(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    ill = steering(problem="The agent is slow.")
    assert followed(backend, steered(ill), steered(steering())) == 0
    assert capsys.readouterr().err.splitlines()[:-1] == [
        "tidscope steer: The agent is slow.",
        "tidscope steer: resolved",
    ]


def test_each_decision_is_printed_once_and_missed_ones_are_counted(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = (1, 1, 2, 6, 3)
    polls = [steered(steering(decisions=count, reason=f"It is {count}.")) for count in counts]
    assert followed(backend, *polls) == 0
    said = capsys.readouterr()
    # The last one is of another policy, which begins to count again.
    assert [line.split(". ")[-1] for line in said.out.splitlines()] == [
        "It is 1.",
        "It is 2.",
        "It is 6.",
        "It is 3.",
    ]
    missed = "tidscope steer: 3 decisions before the next line are in the page's log only\n"
    assert said.err == missed + RESTORED


def clock(unix_us: int) -> str:
    """A moment as a clock shows it where the test runs."""
    return time.strftime("%H:%M:%S", time.localtime(unix_us // 1_000_000))


def test_the_line_of_a_decision(backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    since, decided = 1_700_000_000_000_000, 1_700_000_065_000_000
    plain = steering(since_unix_us=since)
    full = steering(
        decisions=2,
        since_unix_us=since,
        decided_unix_us=decided,
        signal="network-bytes",
        proxy=True,
        shadow=True,
        ops_per_s=1234.56,
        interval_s=0.5,
    )
    assert followed(backend, steered(plain), steered(full)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{clock(since)}  size 1 of 1-2  - ops/s  interval - s  "
        "fixed by queue-wait: settled. It keeps its size.",
        f"{clock(decided)}  size 1 of 1-2  1,234.6 bytes/s  interval 0.50 s  "
        "fixed shadow by network-bytes (proxy signal): settled. It keeps its size.",
    ]


def test_decisions_as_json(backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    now = steering(decisions=4)
    assert followed(backend, steered(now), arguments=("--json",)) == 0
    assert json.loads(capsys.readouterr().out) == now.model_dump(mode="json")
    assert followed(backend, programs((7, "shop", now)), arguments=("--json",)) == 0
    named = {"pid": 7, "name": "shop", **now.model_dump(mode="json")}
    assert json.loads(capsys.readouterr().out) == named


def listed(number: int, *, pid: int = 100, group: Group | None = None) -> Target:
    of = target(f"t-{number}-deadbeef")
    return of.model_copy(update={"process": process(pid), "group": group})


@pytest.mark.parametrize(
    ("option", "method", "path"), [("--release", "DELETE", ""), ("--restart", "POST", "/restart")]
)
@pytest.mark.parametrize(
    ("only", "question"), [((), ""), (("--only", "7"), "?pid=7")], ids=["all", "one"]
)
def test_the_latest_attached_target_is_released_or_restarted(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    option: str,
    method: str,
    path: str,
    only: tuple[str, ...],
    question: str,
) -> None:
    detached = listed(3).model_copy(update={"state": "detached"})
    targets = [listed(1), listed(2), detached, listed(4, pid=200), listed(5, group=TREE)]
    asked = (method, f"/targets/t-2-deadbeef/steering{path}{question}")
    backend.table = {("GET", "/targets"): TargetsResponse(targets=targets), asked: target()}
    assert main(["steer", "--pid", "100", option, *only]) == 0
    assert backend.requests == [("GET", "/targets"), asked]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--unit", "shop.service"), True),
        (("--unit", "shop"), True),
        (("--unit", "/system.slice/shop.service"), True),
        (("--unit", "other.service"), False),
        (("--cgroup", "/system.slice/shop.service"), False),
        (("--tree", "100"), False),
        (("--pid", "100"), False),
    ],
)
def test_a_group_is_found_by_its_kind_and_any_of_its_names(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    found: bool,
) -> None:
    answer: Answer = TargetsResponse(targets=[listed(1, group=UNIT)])
    released = ("DELETE", "/targets/t-1-deadbeef/steering")
    backend.table = {("GET", "/targets"): answer, released: target()}
    assert main(["steer", *arguments, "--release"]) == (0 if found else 1)
    assert (released in backend.requests) == found
    said = "" if found else "tidscope steer: no policy steers this target: it is not attached\n"
    assert capsys.readouterr().err == said


def test_a_tree_is_found_by_its_root(backend: FakeBackend) -> None:
    targets = [listed(1), listed(2, group=TREE), listed(3, pid=200, group=TREE)]
    released = ("DELETE", "/targets/t-2-deadbeef/steering")
    answer: Answer = TargetsResponse(targets=targets)
    backend.table = {("GET", "/targets"): answer, released: target()}
    assert main(["steer", "--tree", "100", "--release"]) == 0
    assert backend.requests[-1] == released


def test_claims_go_with_the_programs_that_can_be_steered(backend: FakeBackend) -> None:
    able = [possible(pid, [], []).model_copy(update={"refusal": ""}) for pid in (7, 8)]
    able.append(possible(9, [], []))
    question = ("GET", "/steering?kind=tree&pid=4")
    backend.table[question] = SteeringOptions(
        knobs=[], signals=[], steering=None, programs=able, unexamined=0
    )
    backend.table[POLL] = steered(None)
    command = ["steer", "--tree", "4", "--policy", "arbiter"]
    claims = ["--share", "7=2.5", "--floor", "7=1", "--priority", "8=-1"]
    assert main([*command, *claims]) == 0
    request = backend.sent[STEER]
    assert isinstance(request, dict)
    assert request["programs"] == [
        {"pid": 7, "share": 2.5, "floor": 1},
        {"pid": 8, "priority": -1},
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pid", "4", "--share", "5=2"], "process 5 is not the one to steer"),
        (["--tree", "4", "--only", "6", "--floor", "5=2"], "process 5 is not among those"),
        (["--pid", "4", "--share", "2"], "use PID=NUMBER, such as --share 4242=2"),
        (["--pid", "4", "--floor", "4=1.5"], "use PID=NUMBER, such as --floor 4242=1"),
    ],
)
def test_claims_that_fit_nobody_are_refused(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    assert main(["steer", "--policy", "arbiter", *arguments]) != 0
    assert words in capsys.readouterr().err
    assert STEER not in backend.sent
