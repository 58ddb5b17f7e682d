"""`tidscope locks` on real Go programs."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from capabilities import needs
from programs.build import build_go_module, go_command, go_environment
from tidscope_backend.experiments.definition import read_definition
from tidscope_backend.experiments.workload import workloads_folder
from tidscope_wire.generated.models import Experiment

ROOT = Path(__file__).parents[2]
ADVISOR = ROOT / "advisor"
CONTENDED = ROOT / "tests" / "programs" / "contended_go"
TABLE = "./table"
"""The package with the locks. Without it `main` is read as well, and net/http: 4 s of CPU more."""
WATCH_S = 2

LOCKED = "\tt.slow.Lock()\n\tdefer t.slow.Unlock()\n"
SLEEP = "\ttime.Sleep(Hold)\n"
BENCHMARK = """package table

import "testing"

func BenchmarkPut(b *testing.B) {
	table := New()
	b.SetParallelism(8)
	b.RunParallel(func(of *testing.PB) {
		for of.Next() {
			table.Put("key")
		}
	})
}
"""

pytestmark = needs("go")


def locks(
    *arguments: str | Path, folder: Path = CONTENDED, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it as a user would."""
    env = go_environment()
    env["PATH"] = f"{env['PATH']}:{Path(go_command()).parent}"
    return subprocess.run(
        [ROOT / ".venv/bin/tidscope", "locks", *arguments],
        cwd=folder,
        env={**env, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def carried_out(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`tidscope experiment`, with a tidscope and runs of its own."""
    env = go_environment()
    return subprocess.run(
        [ROOT / ".venv/bin/tidscope", "experiment", *arguments],
        env={
            **env,
            "PATH": f"{env['PATH']}:{Path(go_command()).parent}",
            "TIDSCOPE_RUNS": str(folder / "runs"),
            "TIDSCOPE_TOKEN": "",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def report(*arguments: str | Path, folder: Path = CONTENDED) -> dict[str, Any]:
    done = locks("--json", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_contended(*arguments: str) -> Iterator[str]:
    program = build_go_module(CONTENDED, CONTENDED / "table")
    with subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/debug/pprof/mutex"
        process.communicate(timeout=120)


@pytest.fixture
def contended() -> Iterator[str]:
    """The address of its mutex profile."""
    yield from run_contended()


@pytest.fixture
def unsampled() -> Iterator[str]:
    yield from run_contended("quietly")


def test_go_tests_pass() -> None:
    done = subprocess.run(
        [go_command(), "test", "./..."],
        cwd=ADVISOR,
        env=go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_waits_of_known_measure_are_found(contended: str, tmp_path: Path) -> None:
    found = report(
        TABLE, "--profile", contended, "--seconds", str(WATCH_S), "--experiments", tmp_path
    )
    assert found["measured"]["basis"] == "time"
    # A busy machine asks for the second profile later: shares are of the time in between.
    assert found["measured"]["seconds"] >= 0.9 * WATCH_S
    slow, plain = found["findings"]
    assert slow["lock"] == "example.com/contended/table.Table.slow"
    assert slow["declared"] == {"file": "table/table.go", "line": 14}
    # Three goroutines do nothing else: two wait at any time. Go counts from the first parking.
    assert slow["share"] == pytest.approx(2.0, rel=0.15)
    assert [hint["name"] for hint in slow["hints"]] == ["move-out", "shard"]
    assert slow["hints"][0]["evidence"][0]["place"] == {"file": "table/table.go", "line": 28}
    # Locked and unlocked by functions that do it for their callers.
    assert plain["lock"] == "example.com/contended/table.Table.plain"
    assert 0.3 < plain["share"] < 1.1
    assert plain["sections"][0]["function"].endswith("(*Table).Look")
    assert found["below_threshold"] == 1
    for path in slow["experiments"]:
        variants = read_definition(Path(path), workloads_folder()).variants
        assert variants is not None
        assert variants.variants[0].command[:2] == ["go", "test"]
        assert variants.variants[0].directory == CONTENDED


@needs("root")
@pytest.mark.timeout(400)
def test_an_experiment_is_carried_out(tmp_path: Path) -> None:
    """Follow a hint: copy the module, change it, and run `tidscope experiment` with the file."""
    module = tmp_path / "contended"
    shutil.copytree(CONTENDED, module)
    (module / "table" / "table_test.go").write_text(BENCHMARK)
    found = report(TABLE, "--experiments", tmp_path / "files", folder=module)
    (path,) = (tmp_path / "files").glob("table.Table.slow-move-out.toml")
    assert str(path) in [one for lock in found["findings"] for one in lock["experiments"]]
    arguments = (str(path), "--json")
    missing = carried_out(tmp_path, *arguments)
    assert missing.returncode == 1
    assert f"after: there is no folder {module}-move-out; make it" in missing.stderr
    changed = Path(f"{module}-move-out")
    shutil.copytree(module, changed)
    table = changed / "table" / "table.go"
    text = table.read_text()
    table.write_text(text.replace(f"{LOCKED}{SLEEP}", f"{SLEEP}{LOCKED}"))
    assert table.read_text() != text
    path.write_text(f"{path.read_text()}most_s = 60\nrecorded = 1\n")
    done = carried_out(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    result = Experiment.model_validate_json(done.stdout)
    before, after = result.cells
    assert after.baseline == before.key == "variant=before"
    (verdict,) = result.verdicts
    assert (verdict.figure, verdict.better) == ("go_bench_ns", "less")
    # Sleeps beside each other instead of one after the other: shown even on a busy machine.
    assert verdict.verdict == "better", verdict.text
    assert (verdict.difference_percent or 0) < 0
    assert len(after.runs) == 1


def test_a_program_that_does_not_sample_is_said(unsampled: str) -> None:
    done = locks(TABLE, "--profile", unsampled, "--seconds", "1")
    assert done.returncode == 0, done.stderr
    assert "0 ns waited" in done.stdout
    assert "runtime.SetMutexProfileFraction" in done.stdout
    assert "3 more locks below 1 % of the time: --all" in done.stdout


def test_a_table_names_lock_share_lines_and_hint(contended: str) -> None:
    text = locks(TABLE, "--profile", contended, "--seconds", "1", "--threshold", "10").stdout
    assert "table.Table.slow  (Mutex, field, table/table.go:14)" in text
    assert "26-end" in text
    assert "move-out: Move a sleep out of the section" in text
    assert "table.Table.quiet" not in text
    assert "table.Table.quiet" in locks(TABLE).stdout


def test_a_real_module_is_read() -> None:
    """A library that is there for the advisor's sake, at the version of its go.sum."""
    found = report("golang.org/x/tools/go/packages", folder=ADVISOR)
    known = {finding["lock"].rpartition("/")[2]: finding for finding in found["findings"]}
    assert known["packages.loader.parseCacheMu"]["sections"]
    assert known["packages.loader.exportMu"]["kind"] == "Mutex"
    assert [one for one in found["unpaired"] if not one["for_caller"]] == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("./nowhere", "nowhere"), ("fmt/none", "fmt/none")],
)
def test_packages_that_are_not_there_are_named(pattern: str, words: str) -> None:
    done = locks(pattern)
    assert done.returncode == 1
    assert done.stderr.startswith("tidscope locks: the packages were not read:")
    assert words in done.stderr


def test_source_that_does_not_compile_is_shown(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module broken\n\ngo 1.24\n")
    (tmp_path / "broken.go").write_text("package broken\n\nfunc F() int { return missing }\n")
    done = locks(folder=tmp_path)
    assert done.returncode == 1
    assert "broken.go:3" in done.stderr
    assert "missing" in done.stderr


def test_what_is_no_mutex_profile_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.pprof"
    text.write_text("hello\n")
    done = locks(TABLE, "--profile", text)
    assert done.returncode == 1
    assert "text.pprof" in done.stderr
    subprocess.run(
        [go_command(), "test", "-run=^$", "-bench=.", "-benchtime=10x", "-cpuprofile=cpu.pprof"],
        cwd=CONTENDED / "table",
        env=go_environment(),
        capture_output=True,
        check=True,
    )
    cpu = CONTENDED / "table" / "cpu.pprof"
    try:
        assert "neither a mutex nor a block profile" in locks(TABLE, "--profile", cpu).stderr
    finally:
        cpu.unlink()
        (CONTENDED / "table" / "table.test").unlink(missing_ok=True)


def test_the_program_is_built_once_a_version(tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    assert locks(TABLE, environment=cache).returncode == 0
    (built,) = (tmp_path / "tidscope" / "advisor").iterdir()
    before = (built / "advisor").stat().st_mtime_ns
    assert locks(TABLE, environment=cache).returncode == 0
    assert [(path.name, path.stat().st_mtime_ns) for path in built.iterdir()] == [
        ("advisor", before)
    ]


def test_settings_for_the_analysed_program_are_not_for_ours(tmp_path: Path) -> None:
    settings = {"XDG_CACHE_HOME": str(tmp_path), "GOFLAGS": "-mod=vendor", "GOWORK": os.devnull}
    done = locks(TABLE, environment=settings)
    # Ours has no vendor folder and would not build with it.
    assert "does not build" not in done.stderr
    assert list(tmp_path.rglob("advisor/*/advisor"))
