"""The audit of sizes in the terminal."""

from backend_builders import process
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
        gomaxprocs=8,
        chosen="runtime",
        verdict=verdict,
        why="Because.",
        change=None if limit is None else "GOMAXPROCS=2",
    )


def test_what_is_wrong_is_listed_with_its_evidence_and_its_change() -> None:
    audit = SizeAudit(programs=[program("too-large", limit=2.0), program("fits")], omitted=0)
    lines = list(table(audit, fitting=False))
    assert lines[0] == "1 of 2 Go programs set wrong"
    assert "    change: GOMAXPROCS=2" in lines
    (allowed,) = [line for line in lines if "affinity" in line]
    assert "limit 2 cores of /sys/fs/cgroup/a" in allowed
    assert "throttled in 37.5% of periods" in allowed
    assert "weight 39; request 1 cores" in allowed
    assert [is_wrong(one) for one in audit.programs] == [True, False]


def test_all_of_them_and_those_left_out() -> None:
    lines = list(table(SizeAudit(programs=[program("fits")], omitted=3), fitting=True))
    assert lines[0] == "0 of 1 Go program set wrong"
    assert any(line.startswith("fits") for line in lines)
    assert lines[-1] == "3 more were not looked at"
