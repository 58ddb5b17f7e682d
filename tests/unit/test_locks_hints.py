"""Hints for locks, from constructed sections."""

from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.experiments.definition import Definition, read_definition
from tidscope_backend.experiments.matrix import baseline_of, cells_of
from tidscope_backend.experiments.variants import GO_BENCH, WALL
from tidscope_backend.experiments.workload import ExperimentError, workloads_folder
from tidscope_backend.locks.findings import (
    LockUse,
    Measured,
    MeasuredSection,
    hints_of,
    lock_uses,
    measured,
)
from tidscope_backend.locks.report import (
    Program,
    choose_program,
    experiment_text,
    file_name,
    write_experiment,
)

LOCK = "example.com/shop/cart.Cart.mu"


def section(wait_ns: int | None = None, **facts: Any) -> MeasuredSection:
    """A short section of two lines that writes one field; `facts` replaces what it is known for."""
    defaults: dict[str, Any] = {
        "function": "example.com/shop/cart.(*Cart).Add",
        "locks": [LOCK],
        "mode": "write",
        "locked_at": [{"file": "cart.go", "line": 10, "deferred": False}],
        "unlocked_at": [{"file": "cart.go", "line": 12, "deferred": False}],
        "instructions": 9,
        "calls": 0,
        "loops": 0,
        "allocations": 0,
        "map_accesses": 0,
        "only_counts": False,
        "reads_only": False,
        "reads": [],
        "writes": ["example.com/shop/cart.Cart.items"],
        "effects": [],
    }
    return MeasuredSection({**defaults, **facts}, wait_ns, None if wait_ns is None else 1)


READ: dict[str, Any] = {
    "reads_only": True,
    "writes": [],
    "reads": ["example.com/shop/cart.Cart.items"],
}


def lock(*sections: MeasuredSection, kind: str = "Mutex", **other: Any) -> LockUse:
    defaults: dict[str, Any] = {"holder": "field", "declared": None, "strays": []}
    return LockUse(name=LOCK, kind=kind, sections=sections, **{**defaults, **other})


def names(use: LockUse) -> list[str]:
    return [hint.name for hint in hints_of(use)]


def effect(what: str, **other: Any) -> dict[str, Any]:
    return {
        "what": what,
        "place": {"file": "cart.go", "line": 11},
        "chain": ["(*example.com/shop/disk.Disk).Save", "(*os.File).Write"],
        "sure": True,
        **other,
    }


def test_a_short_section_that_writes_gets_no_hint() -> None:
    assert names(lock(section())) == []


def test_what_waits_is_to_be_moved_out() -> None:
    (hint,) = hints_of(lock(section(effects=[effect("io"), effect("sleep", chain=[])])))
    assert hint.name == "move-out"
    assert hint.text.startswith("Move I/O and a sleep out of the section")
    assert hint.evidence[0].place == {"file": "cart.go", "line": 11}
    assert hint.evidence[0].text == (
        "I/O while the lock is held: (*disk.Disk).Save → (*os.File).Write"
    )


def test_what_an_interface_may_reach_is_said_to_be_unsure() -> None:
    (hint,) = hints_of(lock(section(effects=[effect("channel", sure=False)])))
    assert hint.evidence[0].text.endswith("if the call through an interface reaches it")


def test_another_lock_inside_is_nothing_to_wait_for() -> None:
    assert names(lock(section(effects=[effect("lock"), effect("goroutine")]))) == []


@pytest.mark.parametrize(
    ("others", "hints"),
    [
        ((), ["atomic"]),
        ((section(**READ),), ["atomic", "rwmutex"]),
        ((section(),), []),
        ((section(**READ, calls=1),), ["rwmutex"]),
        ((section(**READ, map_accesses=1),), ["rwmutex"]),
        ((section(**READ, instructions=200),), ["rwmutex", "shorten"]),
    ],
)
def test_a_counter_becomes_atomic_where_all_else_only_reads(
    others: tuple[MeasuredSection, ...], hints: list[str]
) -> None:
    assert names(lock(section(only_counts=True), *others)) == hints


def test_a_counter_with_a_stray_unlock_does_not() -> None:
    stray = {"wait_ns": None, "waits": None}
    assert names(lock(section(only_counts=True), strays=[stray])) == []


def test_counters_that_change_together_are_cautioned() -> None:
    (hint,) = hints_of(lock(section(only_counts=True, writes=["a.T.n", "a.T.m"])))
    assert hint.text.startswith("Make a.T.m and a.T.n atomic")
    assert "one changed and not the other" in hint.text


def test_readers_get_an_rwmutex_if_most_of_the_waiting_is_theirs() -> None:
    reads, writes = section(700, **READ, calls=2), section(300)
    (hint,) = hints_of(lock(reads, writes))
    assert hint.name == "rwmutex"
    assert "70% of the waiting is for sections that only read" in hint.text
    assert "little may be gained" not in hint.text
    assert hint.evidence[0].text == "only reads cart.Cart.items"
    assert names(lock(section(300, **READ), section(700))) == []


def test_an_rwmutex_needs_no_hint_to_become_one() -> None:
    assert names(lock(section(700, **{**READ, "mode": "read"}), kind="RWMutex")) == []


def test_short_readers_are_cautioned() -> None:
    (hint,) = hints_of(lock(section(**READ)))
    assert "1 of 1 sections only read" in hint.text
    assert hint.text.endswith("little may be gained.")


@pytest.mark.parametrize(
    ("facts", "holder", "hints"),
    [
        ({"map_accesses": 1}, "field", ["shard"]),
        ({"map_accesses": 1}, "element", []),
        ({"map_accesses": 1, "loops": 1}, "field", ["shorten"]),
    ],
)
def test_a_map_is_divided_unless_it_is_or_all_of_it_is_used(
    facts: dict[str, Any], holder: str, hints: list[str]
) -> None:
    assert names(lock(section(**facts), holder=holder)) == hints


def test_hints_are_about_sections_that_were_waited_for() -> None:
    quiet = section(0, effects=[effect("io")])
    assert names(lock(section(500), quiet)) == []
    assert names(lock(section(0), quiet)) == ["move-out"]


def answer(contention: dict[str, Any] | None) -> dict[str, Any]:
    stray = {"locks": [LOCK], "for_caller": False, "does": "lock"}
    return {
        "directory": "/work/shop",
        "packages": ["example.com/shop", "example.com/shop/cart"],
        "benchmarks": ["example.com/shop/cart.BenchmarkAdd"],
        "locks": [
            {"name": LOCK, "kind": "Mutex", "holder": "field", "declared": None},
            {"name": "a.b", "kind": "Mutex", "holder": "global", "declared": None},
        ],
        "sections": [section().facts, {**section().facts, "locks": ["a.b"]}],
        "unpaired": [{**stray, "for_caller": True}, stray],
        "contention": contention,
    }


CONTENTION = {
    "seconds": 0,
    "wait_ns": 4_000_000_000,
    "waits": 40,
    "sections": [{"index": 0, "wait_ns": 1_000_000_000, "waits": 10}],
    "unpaired": [{"index": 1, "wait_ns": 500_000_000, "waits": 5}],
    "elsewhere": [],
}


def test_waits_are_those_of_sections_and_of_operations_without_a_counterpart() -> None:
    first, second = lock_uses(answer(CONTENTION))
    assert (first.name, first.wait_ns, first.waits) == (LOCK, 1_500_000_000, 15)
    assert len(first.strays) == 1
    assert (second.name, second.wait_ns) == ("a.b", 0)


def test_without_a_profile_nothing_is_known_of_waits() -> None:
    assert [use.wait_ns for use in lock_uses(answer(None))] == [None, None]
    assert measured(answer(None), 5.0) is None


def test_shares_are_of_time_where_it_is_known() -> None:
    assert measured(answer(CONTENTION), None) == Measured(0.0, 4_000_000_000, 40)
    unknown, known = Measured(0.0, 4_000_000_000, 40), measured(answer(CONTENTION), 10.0)
    assert known is not None
    assert (unknown.basis, unknown.share(1_000_000_000)) == ("waits", 0.25)
    assert (known.basis, known.share(1_000_000_000)) == ("time", 0.1)
    assert Measured(0.0, 0, 0).share(0) == 0.0


def as_read(text: str, folder: Path) -> Definition:
    """Parse a file as `tidscope experiment` does."""
    path = folder / "made.toml"
    path.write_text(text)
    return read_definition(path, workloads_folder())


def test_an_experiment_runs_the_benchmarks_of_the_package(tmp_path: Path) -> None:
    use = lock(section(only_counts=True))
    (hint,) = hints_of(use)
    program = choose_program(answer(None), use, None)
    text = experiment_text(use, hint, program)
    for said in (f"# Lock: {LOCK}\n", f"# Change (atomic): {hint.text}\n", "# At: cart.go:10\n"):
        assert said in text
    made = as_read(text, tmp_path)
    assert made.name == "cart-cart-mu-atomic"
    assert made.title == f"cart.Cart.mu: {hint.text}"
    assert made.variants is not None
    assert made.variants.figure == GO_BENCH
    first, second = made.variants.variants
    assert first.command[-2:] == second.command[-2:]
    assert first.command[-2:] == ["-benchtime=200ms", "example.com/shop/cart"]
    assert [first.directory, second.directory] == [Path("/work/shop"), Path("/work/shop-atomic")]
    before, after = cells_of(made)
    assert baseline_of(after, [before, after]) == before
    assert baseline_of(before, [before, after]) is None


def test_without_benchmarks_it_runs_what_is_given(tmp_path: Path) -> None:
    use = lock(section(only_counts=True))
    (hint,) = hints_of(use)
    given = "./load --text 'two words' {size}"
    program = choose_program({**answer(None), "benchmarks": []}, use, given)
    path = write_experiment(tmp_path / "new", use, hint, program)
    variants = as_read(path.read_text(), tmp_path).variants
    assert variants is not None
    assert variants.variants[0].command == ["./load", "--text", "two words", "{size}"]
    assert variants.figure == WALL


def test_without_anything_to_run_the_file_says_what_is_missing(tmp_path: Path) -> None:
    use = lock(section(only_counts=True))
    (hint,) = hints_of(use)
    text = experiment_text(use, hint, Program("/work/shop", "", "wall"))
    assert "# No benchmark was found" in text
    with pytest.raises(ExperimentError, match=r"variant\.0\.command: "):
        as_read(text, tmp_path)


def test_a_long_lock_and_odd_text_are_an_experiment(tmp_path: Path) -> None:
    (hint,) = hints_of(lock(section(only_counts=True)))
    odd = LockUse(f"a.org/{'very' * 30}.(*T).m\x7f\n[]", "Mutex", "element", None, [], [])
    made = as_read(experiment_text(odd, hint, Program('/a "b"', "x 'y z'", "wall")), tmp_path)
    assert made.variants is not None
    assert made.variants.variants[0].directory == Path('/a "b"')
    assert made.variants.variants[0].command == ["x", "y z"]


def test_names_of_experiment_files_are_plain() -> None:
    (hint,) = hints_of(lock(section(effects=[effect("io")])))
    odd = LockUse("a.org/b.(*T).m.locks[]", "Mutex", "element", None, [], [])
    assert file_name(odd, hint) == "b.-T-.m.locks-move-out.toml"
