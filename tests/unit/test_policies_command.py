"""`policies list` and `policies bench` as they are called."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from tidscope_backend.cli import main, policy_bench
from tidscope_backend.cli.policies import chosen
from tidscope_backend.cli.scenario_files import ScenarioError
from tidscope_policies.registry import POLICIES
from tidscope_policies.simulation.simulated_pools import usl

MINE = 'name = "mine"\ntitle = "short"\nseconds = 30\n[[processes]]\n'


def call(*arguments: str) -> tuple[int, str, str]:
    """Status, standard output and errors of `tidscope policies`, in this process."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            status = main(["policies", *arguments])
        except SystemExit as ended:
            assert isinstance(ended.code, int)
            status = ended.code
    return status, out.getvalue(), errors.getvalue()


def called(*arguments: str) -> tuple[int, str, str]:
    """Run `tidscope policies` as a process: status, output, errors."""
    command = [sys.executable, "-m", "tidscope_backend", "policies", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    return path


def test_families_of_other_programs() -> None:
    options = ("--families", "--only", "waits", "--policy", "fixed", "--seeds", "1", "--json")
    code, out, err = call("bench", *options)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found["scenarios"]) == ["waits"]
    # The own size is the largest one, and best; nobody changes it.
    row = found["policies"]["fixed"]
    assert (row["waits"], row["first_minute_loss_percent"]) == (0, {"waits": 0})
    code, _, err = call("bench", "--families", "--only", "S1")
    assert code == 2
    assert "no scenario 'S1'" in err


def test_json_of_a_scenario_of_ones_own(mine: Path) -> None:
    options = ("--policy", "fixed", "--policy", "linear", "--seeds", "2", "--json")
    code, out, err = call("bench", "--scenario", str(mine), "--only", "mine", *options)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found["policies"]) == ["fixed", "linear"]
    for row in found["policies"].values():
        assert set(row) == {
            *("mine", "mean", "worst", "worst_run_by_scenario", "switches_per_min"),
            *("first_minute_loss_percent", "half_minute_loss_percent"),
            "loss_against_leaving_alone_percent",
            *("dip_changed_decisions", "one_dip_changed_decisions"),
            "one_dip_worse_decisions",
            *("one_dip_regret_percent", "switches_per_min_by_scenario", "seconds_to_97_percent"),
        }
        assert row["mine"] == row["mean"] == row["worst"]
        assert row["worst_run_by_scenario"]["mine"] >= row["mine"]
        assert row["dip_changed_decisions"] is None
    assert found["policies"]["fixed"]["switches_per_min"] == 0
    assert found["policies"]["fixed"]["one_dip_changed_decisions"] == 0
    assert found["policies"]["fixed"]["one_dip_regret_percent"] == 0
    assert found["policies"]["linear"]["switches_per_min"] > 0
    assert found["scenarios"] == {"mine": "short"}
    assert found["seeds"] == 2
    assert {"machine", "date", "commit"} <= set(found)


def test_the_table_and_a_page(mine: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n\n{policy_bench.BEGIN}\nold\n{policy_bench.END}\n\nAfter.\n")
    code, out, _ = call(
        *("bench", "--scenario", str(mine), "--only", "mine", "--policy", "fixed"),
        *("--seeds", "1", "--first-seed", "7", "--write", str(page)),
    )
    assert code == 0
    head, row = out.splitlines()
    assert head.split()[:3] == ["policy", "mine", "mean"]
    assert row.split()[0] == "fixed"
    text = page.read_text()
    assert text.startswith("# Before\n\n")
    assert text.endswith(f"{policy_bench.END}\n\nAfter.\n")
    assert "old" not in text
    assert "| fixed " in text
    assert "\nSeeds: 7 to 7. Machine: " in text


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Result of a sweep of a program that follows the universal scalability law."""
    rates = {size: usl(size, 250.0, 0.05, 0.004) for size in (1, 2, 4, 8, 16)}
    points = [
        {"size": size, "ops_per_s": rate, "low": 0.99 * rate, "high": 1.01 * rate, "rounds": 4}
        for size, rate in rates.items()
    ]
    state = {
        **{"verdict": "decided", "start": 16, "rounds": 4, "discarded": 0, "points": points},
        **{"best": 16, "knee": 16, "knee_from": 8, "knee_to": 16, "gain": None, "refused": []},
        **{"line": None, "lost_s": 0.0, "elapsed_s": 60.0, "text": "The knee is 16."},
    }
    path = tmp_path / "pool.json"
    path.write_text(json.dumps(state))
    return path


def test_a_measured_program_on_simulated_hosts(sweep: Path) -> None:
    options = ("--policy", "fixed", "--set", "size=16", "--seeds", "1", "--json")
    code, out, err = call("bench", "--sweep", str(sweep), "--cpus", "32", "--cpus", "8", *options)
    assert code == 0, err
    assert err == (
        "policies bench: X(n) = 250 n / (1 + 0.05 (n - 1) + 0.004 n (n - 1)), from sizes 1 to 16; "
        "best size 15 [15, 16]\n"
    )
    found = json.loads(out)
    assert list(found["scenarios"]) == ["cpus-8", "cpus-32"]
    # 16 threads are nearly the best where each has a CPU, and too many elsewhere.
    row = found["policies"]["fixed"]
    assert row["cpus-32"] < 1
    assert row["cpus-8"] > 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cpus", "8"], "--sweep and --cpus need each other"),
        (["--sweep", "pool.json"], "--sweep and --cpus need each other"),
        (["--sweep", "pool.json", "--cpus", "8", "--families"], "exclude each other"),
        (["--sweep", "pool.json", "--cpus", "0"], "'0' is not a whole number"),
        (["--sweep", "pool.json", "--cpus", "5000"], "pool.json: cores: 5000 is not"),
        (["--sweep", "nowhere.json", "--cpus", "8"], "nowhere.json: cannot be read"),
        (["--sweep", __file__, "--cpus", "8"], "no result of `tidscope sweep --json`"),
    ],
)
def test_a_curve_that_cannot_be_used_is_named(
    sweep: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(sweep.parent)
    code, out, err = call("bench", *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scenario", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--only", "S7"], "no scenario 'S7'; there are: S1, S2, S3, S4, S5, S6, load-steps"),
        (["--policy", "best"], "invalid choice: 'best'"),
        (["--seeds", "0"], "'0' is not a whole number from 1 to 10000"),
        (["--write", "nowhere.md"], "nowhere.md"),
    ],
)
def test_what_cannot_be_used_is_named(arguments: list[str], said: str) -> None:
    code, out, err = call("bench", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_each_combination_of_parameters_is_a_row(mine: Path) -> None:
    options = ("--scenario", str(mine), "--only", "mine", "--policy", "fixed", "--seeds", "1")
    varied = ("--set", "size=4,16", "--set", "interval_s=1")
    code, out, _ = call("bench", *options, *varied, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["given"] == {
        "fixed size=4": {"size": 4, "interval_s": 1},
        "fixed size=16": {"size": 16, "interval_s": 1},
    }
    small, large = (found["policies"][name]["mine"] for name in found["given"])
    assert small > large + 10
    # A parameter with one value is in no name.
    code, out, _ = call("bench", *options, "--set", "size=16")
    assert code == 0
    name, regret, *_ = out.splitlines()[1].split()
    assert name == "fixed"
    assert float(regret) == pytest.approx(large, abs=0.005)
    code, out, err = call("bench", *options, "--policy", "linear", "--set", "size=4")
    assert (code, out) == (2, "")
    assert "policies bench: linear: no parameter 'size'; there are: interval_s, warm_up_s" in err
    for wrong in ("size", "size=", "size=4,"):
        code, _, err = call("bench", *options, "--set", wrong)
        assert code == 2
        assert f"--set {wrong}: use NAME=NUMBER" in err


def test_an_error_in_a_scenario_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(MINE + "sigma = 7\n")
    code, out, err = call("bench", "--scenario", str(path))
    assert (code, out) == (2, "")
    assert f"{path}: processes.0.sigma: 7 is not at least 0 and below 1" in err


def test_a_name_twice_is_refused(mine: Path) -> None:
    with pytest.raises(ScenarioError, match="name: there is another scenario 'mine'"):
        chosen([mine, mine], [])
    assert [scenario.name for scenario in chosen([mine], [])][5:6] == ["S6"]
    assert [scenario.name for scenario in chosen([mine], [])][-1] == "mine"
    assert [scenario.name for scenario in chosen([mine], ["S2", "mine"])] == ["S2", "mine"]


def test_a_page_without_marks_is_refused_before_anything_runs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing to replace")
    code, out, err = call("bench", "--write", str(page))
    assert (code, out) == (2, "")
    assert "the marks" in err
    assert page.read_text() == "nothing to replace"


def test_list() -> None:
    code, out, _ = called("list", "--json")
    assert code == 0
    listed = json.loads(out)["policies"]
    assert list(listed) == list(POLICIES)
    assert listed["ait"]["signal"] == "wait"
    assert listed["linear"]["parameters"][2] == {
        "name": "lowest",
        "unit": "threads",
        "integer": True,
        "default": 0,
        "low": 0,
        "high": 65536,
        "meaning": "lowest size that is tried; 0: a quarter of the highest",
    }
    code, out, _ = call("list")
    assert code == 0
    assert "\n    warm_up_s = 10 s (0 to 600): time before the first search begins\n" in out
