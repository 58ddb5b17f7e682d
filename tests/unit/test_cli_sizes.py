"""The audit of sizes in the terminal."""

import pytest
from backend_builders import process
from fake_backend import FakeBackend
from tidscope_backend.cli import main
from tidscope_backend.cli.sizes import is_wrong, table
from tidscope_wire.generated.models import CpuAllowance, SizeAudit, SizedProgram, SizeVerdict


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
