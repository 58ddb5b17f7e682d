"""Grafana's board and the alerts of Prometheus: their metrics exist, and each alert is raised."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus import promtool
from tool_scripts import load_tool

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "packaging" / "monitoring"
BOARD: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text())
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
RULES = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]


def test_the_board_is_what_the_tool_makes() -> None:
    assert (MONITORING / "dashboard.json").read_text() == load_tool("dashboard").dashboard(ROOT)


def members(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each number, text and switch within a value, with its path."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield from members(inner, f"{path}/{name}")
    else:
        yield path, value


def unknown_to_grafana(board: dict[str, Any]) -> set[str]:
    """Return paths of what the types of Grafana's own SDK lack, those of panels and queries too."""
    register_default_plugins()
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    return {path for path, _ in set(members(board)) - set(members(read))}


def test_grafanas_own_types_hold_all_of_the_board() -> None:
    found = unknown_to_grafana(BOARD)
    # Shown where variables are edited; written by Grafana itself, and not in its types.
    assert {
        path for path in found if not re.fullmatch(r"/templating/list/\d/definition", path)
    } == set()
    broken = json.loads(json.dumps(BOARD))
    chart = next(one for one in broken["panels"] if one["type"] == "timeseries")
    chart["fieldConfig"]["defaults"]["custom"]["lineWidths"] = 2
    chart["targets"][0]["expression"] = "up"
    wrong = unknown_to_grafana(broken) - found
    assert {path.rpartition("/")[2] for path in wrong} == {"lineWidths", "expression"}


def test_a_metric_that_is_not_listed_ends_the_tool() -> None:
    tool = load_tool("dashboard")
    panel = tool.Panel("Wrong", "none", {"": "tidscope_thread_typo_total"})
    with pytest.raises(SystemExit, match="no tidscope_thread_typo_total"):
        tool._panel(panel, 1, {}, tool.meanings(ROOT))


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        covered = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert not covered & taken, panel["title"]
        taken |= covered
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])


def test_alerts_ask_for_metrics_that_are_listed() -> None:
    listed = load_tool("dashboard").meanings(ROOT)
    for rule in RULES:
        for metric in re.findall(r"tidscope_\w+", rule["expr"]):
            assert metric in listed, metric


def test_each_alert_is_raised_by_what_it_is_about_and_by_nothing_else() -> None:
    said = promtool("test", "rules", MONITORING / "alerts_test.yml")
    assert "SUCCESS" in said
    tests = yaml.safe_load((MONITORING / "alerts_test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    raised = {case["alertname"] for case in cases if case.get("exp_alerts")}
    quiet = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    assert raised == quiet == {rule["alert"] for rule in RULES}


def test_the_configuration_of_prometheus_is_sound(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    shutil.copytree(MONITORING, tmp_path / "prometheus")
    config = tmp_path / "prometheus" / "prometheus.yml"
    config.write_text(config.read_text().replace("/run/secrets/metrics_token", str(token)))
    assert "SUCCESS" in promtool("check", "config", config)
