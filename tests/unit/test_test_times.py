"""The table of the dearest tests, from reports as pytest writes them."""

from pathlib import Path

from tool_scripts import load_tool

test_times = load_tool("test_times")
REPORT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.unit.test_a" name="test_slow" time="2.5" />
<testcase classname="tests.unit.test_a" name="test_slower" time="4.0"><failure /></testcase>
<testcase classname="tests.unit.test_b" name="test_middle" time="3.0" />
</testsuite></testsuites>"""


def test_the_dearest_come_first(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT)
    assert test_times.table(test_times.read_times([report]), tests=2, files=5) == [
        "3 tests took 10 s, on all workers together",
        "     4.0 s  tests/unit/test_a::test_slower",
        "     3.0 s  tests/unit/test_b::test_middle",
        "by file",
        "     6.5 s  tests/unit/test_a",
        "     3.0 s  tests/unit/test_b",
    ]
