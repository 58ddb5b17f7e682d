"""Scenarios as files: what comes with tidscope, and what is wrong with others."""

from pathlib import Path

import pytest
from tidscope_backend.cli.policy_bench import (
    Family,
    ScenarioError,
    load,
    parse,
    shipped,
)
from tidscope_policies.simulation.scenario import Scenario

GOOD = """
name = "mine"
title = "one program"
[[processes]]
"""


def test_the_shipped_ones() -> None:
    scenarios = {found.name: found for found in shipped() if isinstance(found, Scenario)}
    assert list(scenarios) == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert {name for name, found in scenarios.items() if found.dips} == {"S2", "S4", "S6"}
    for scenario in scenarios.values():
        assert (scenario.seconds, scenario.cores, scenario.low, scenario.high) == (1200, 16, 4, 16)
        assert (scenario.change_delay_s, scenario.change_cost_s) == (0.3, 0.02)
    noise = {
        name: (found.noise.white_percent, found.noise.slow_percent)
        for name, found in scenarios.items()
    }
    assert noise == {
        **dict.fromkeys(("S1", "S3", "S5"), (2.5, 1.5)),
        **dict.fromkeys(("S2", "S4", "S6"), (4.0, 3.0)),
    }


def test_a_small_one_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD + "sigma = 0.1\n[dips]\nto_percent = 20\n")
    scenario = load(path).draw(0)
    assert (scenario.name, scenario.processes[0].sigma) == ("mine", 0.1)
    assert scenario.dips is not None
    assert (scenario.dips.to_percent, scenario.dips.longest_s) == (20, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "mine.toml: no TOML: "),
        ('name = "x"\ntitle = "y"', "mine.toml: processes: missing"),
        (GOOD + "sigm = 0.1", "processes.0.sigm: no such key"),
        (GOOD + 'sigma = "much"', "processes.0.sigma: 'much' is not a number"),
        (GOOD + "sigma = 1.5", "processes.0.sigma: 1.5 is not at least 0 and below 1"),
        (GOOD + "kappa = inf", "processes.0.kappa: inf is not at least 0"),
        (GOOD + "phases = [{seconds = 0}]", "processes.0.phases.0.seconds: 0 is not above 0"),
        (GOOD + "phases = 5", "processes.0.phases: not a list"),
        ("dips = 5" + GOOD, "dips: not a table"),
        (GOOD + "knee = 4.5", "processes.0.knee: 4.5 is not a whole number"),
        ("cores = true" + GOOD, "cores: True is not a whole number"),
        ('name = "x"\ntitle = "y"\nprocesses = []', "mine.toml: processes: 0, not 1 to 16"),
        (GOOD + "kappa = nan", "processes.0.kappa: nan is not at least 0"),
        (GOOD + "until_s = 5\nfrom_s = 7", "processes.0.until_s is not after from_s"),
        (GOOD + "from_s = 7", "mine.toml: no program runs at second 0"),
        ("low = 9\nhigh = 8" + GOOD, "mine.toml: low is above high"),
        ("seconds = 5" + GOOD, "mine.toml: scored_from_s is not before the end"),
        ("seconds = 1e9" + GOOD, "mine.toml: seconds: 1e+09 is not above 0 and at most 86400"),
        (
            GOOD + "phases = [{seconds = 5}]\n"
            "random_phases = {shortest_s = 9, further_s = 1, best_low = 4, best_high = 6}",
            "phases and random_phases exclude each other",
        ),
        (GOOD + "sigma = {from = 2, to = 1}", "{'from': 2, 'to': 1}: not a range of numbers"),
        (GOOD + "sigma = {one_of = []}", "one_of: not a list of values"),
        (GOOD + "sigma = {from = 1.5, to = 2.5}", "is not at least 0 and below 1"),
        (GOOD + "phases = [{seconds = 5, unseen = 1}]", "unseen: 1 is not true or false"),
        (GOOD + "ceiling_ops = 5\n[processes.swing]\npercent = 5\nseconds = 9", "exclude each"),
        ("start = 20" + GOOD, "mine.toml: start is not from low to high"),
        (GOOD + "[dips]\nshortest_s = 9", "dips.shortest_s is above longest_s"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: cannot be read: .*No such file"):
        load(Path("nowhere.toml"))


def test_names_are_fit_for_a_column() -> None:
    with pytest.raises(ScenarioError, match=r"here: name: 'a \| b' is not 1 to 32 letters"):
        parse(GOOD.replace("mine", "a | b"), "here")


def test_the_shipped_families() -> None:
    families = {found.name: found for found in shipped() if isinstance(found, Family)}
    assert list(families) == ["load-steps", "one", "rare", "swings", "two-peaks", "unseen"]
    for family in families.values():
        one, again, other = (family.draw(seed) for seed in (0, 0, 1))
        assert one == again
        assert one != other
        assert one.name == family.name
        assert one.seconds == 1200


def test_values_of_a_family() -> None:
    found = parse(
        'name = "f"\ntitle = "t"\nlow = { from = 1, to = 3 }\n[[processes]]\n'
        "sigma = { from = 0.1, to = 0.2 }\nknee = { one_of = [5, 9] }",
        "here",
    )
    drawn = [found.draw(seed) for seed in range(50)]
    assert {scenario.low for scenario in drawn} == {1, 2, 3}
    assert {scenario.processes[0].knee for scenario in drawn} == {5, 9}
    sigmas = [scenario.processes[0].sigma for scenario in drawn]
    assert 0.1 <= min(sigmas) < 0.12
    assert 0.18 < max(sigmas) <= 0.2
