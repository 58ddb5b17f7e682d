"""Pages of docs name what there is: routes, tests, options, lists."""

import inspect
import re
import shlex
from pathlib import Path

import pytest
from programs.agent_program import AGENTS
from schema_check import members, schemas
from tidscope_backend.cli.locks import COMMAND, THRESHOLD_PERCENT
from tidscope_backend.cli.policy_bench import BEGIN, END
from tidscope_backend.cli.scenario_files import FAMILIES, shipped
from tidscope_backend.experiments.definition import read_definition
from tidscope_backend.experiments.variants import GO_BENCH
from tidscope_backend.experiments.workload import workloads_folder
from tidscope_backend.locks import findings
from tidscope_policies.registry import POLICIES
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.problems import PROBLEMS

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
CODES = {-32700, -32600, -32601, -32602, -32001, -32002, -32003, -32004, -32005}
SOURCES = {
    "go": ("go/protocol.go", (-32005,)),
    "python": ("python/tidscope_agent/protocol.py", ()),
    # Only the adapter in Python runs commands (-32005). Those of Rust, Java and C serve in one
    # thread, which ends when the agent is closed, so neither has the code for a closed agent.
    "rust": ("rust/tidscope_agent/src/failure.rs", (-32002, -32005)),
    "java": ("java/src/main/java/tidscope/agent/Failure.java", (-32002, -32005)),
    "c": ("c/tidscope_agent.h", (-32002, -32005)),
}


def test_every_member_is_reported() -> None:
    reported = set(re.findall(r"`([a-z_]+)`", TEXT))
    for title in ("AgentHello", "AgentReading", "AgentSize", "AgentSetParams"):
        assert set(schemas()[title]["properties"]) <= reported
    methods = {*schemas()["AgentCall"]["properties"]["method"]["enum"], "set", "restart_search"}
    assert methods <= reported
    for word in schemas()["AgentKnob"]["enum"]:
        assert word in TEXT


def test_the_table_of_errors() -> None:
    reported = [int(code.replace("−", "-")) for code in re.findall(r"^\| (−\d+) ", TEXT, re.M)]
    assert set(reported) == CODES
    assert len(reported) == len(CODES)


@pytest.mark.parametrize("language", SOURCES)
def test_agents_have_these_codes(language: str) -> None:
    path, missing = SOURCES[language]
    found = {int(code) for code in re.findall(r"-32\d{3}", (AGENTS / path).read_text())}
    assert found == CODES - set(missing)


def test_the_schema_of_errors_tells_our_own() -> None:
    said = schemas()["AgentError"]["properties"]["code"]["description"]
    own = {code for code in CODES if code > -32100}
    assert {int(code) for code in re.findall(r"-32\d{3}", said)} == own


ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
WAYS = (
    "A sample, from kernel to pixel",
    "A steering command",
    "A recorded frame",
    "A stack, from the switch to the flame graph",
)
MAX_STOPS = 15
STOP = re.compile(r"^(\d+)\. `([^`]+)`", re.MULTILINE)


def stops(way: str) -> list[tuple[str, str]]:
    """Number and file of each stop of a way."""
    section = ARCHITECTURE.split(f"### {way}\n")[1].split("\n#")[0]
    return STOP.findall(section)


@pytest.mark.parametrize("way", WAYS)
def test_way_is_a_numbered_list_of_at_most_fifteen_stops(way: str) -> None:
    numbers = [int(number) for number, _ in stops(way)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert 2 < len(numbers) <= MAX_STOPS


@pytest.mark.parametrize("way", WAYS)
def test_each_stop_names_a_file_that_exists(way: str) -> None:
    missing = [path for _, path in stops(way) if not (ROOT / path).is_file()]
    assert missing == []


def test_folders_drawn_exist() -> None:
    """The tree of folders: two columns, indented by two blanks a level."""
    tree = ARCHITECTURE.split("## Rooms\n")[1].split("```")[1]
    above: list[str] = []
    missing = []
    for line in filter(str.strip, tree.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        for name in re.split(r"\s{2,}", line.strip())[0].split():
            path = "".join([*above[:depth], name])
            if not (ROOT / path).exists():
                missing.append(path)
        above = [*above[:depth], line.split()[0]]
    assert missing == []


PAGE = (Path(__file__).parents[2] / "docs" / "controllers.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """Return the text under a heading, up to the next heading."""
    found = PAGE.partition(f"\n{heading}\n")[2]
    assert found, f"{heading} is missing"
    return found.split("\n#")[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines][2:]


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_policy_and_its_parameters(name: str) -> None:
    text = section(f"### {name}")
    assert POLICIES[name].meaning in text
    parameters = list(POLICIES[name].parameters)
    if "the parameters of [kalman-kg](#kalman-kg), and:" in text:
        shared = POLICIES["kalman-kg"].parameters
        assert all(info in parameters for info in shared)
        parameters = [info for info in parameters if info not in shared]
    assert rows(text) == [
        [
            f"`{info.name}`",
            *(f"{info.default:g}", info.unit, f"{info.low:g}", f"{info.high:g}"),
            info.meaning,
        ]
        for info in parameters
    ]


def test_no_policy_that_there_is_not() -> None:
    policies = PAGE.partition("\n## Policies\n")[2].partition("\n## ")[0]
    headings = [line[4:] for line in policies.splitlines() if line.startswith("### ")]
    assert headings == list(POLICIES)


def test_scenarios() -> None:
    found = {plant.name: plant.title for plant in (*shipped(), *shipped(FAMILIES))}
    listed = [row for row in rows(section("## The bench")) if row[0] in found]
    assert listed == [list(each) for each in found.items()]


def test_results_of_every_policy_on_every_scenario() -> None:
    results = PAGE.partition(BEGIN)[2].partition(END)[0]
    assert "Machine: " in results
    assert "Commit: " in results
    head = next(line for line in results.splitlines() if line.startswith("| policy"))
    names = [scenario.name for scenario in shipped()]
    assert [cell.strip() for cell in head.split("|")[2 : 2 + len(names)]] == names
    alone = [name for name, entry in POLICIES.items() if not entry.arbitrated]
    assert [row[0] for row in rows(results)] == alone


LOCKS = (ROOT / "docs" / "locks.md").read_text()
COMMANDS = [line for line in LOCKS.splitlines() if line.startswith("tidscope locks")]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_understood(line: str) -> None:
    options = COMMAND.parser().parse_args(shlex.split(line)[2:])
    assert options.packages == ["./..."]


def test_all_hints_are_listed() -> None:
    listed = re.findall(r"^\| `([a-z-]+)`", LOCKS, re.MULTILINE)
    source = "".join(inspect.getsource(rule) for rule in findings.RULES)
    assert listed == re.findall(r'Hint\(\s+"([a-z-]+)"', source)


def test_numbers_are_those_of_the_code() -> None:
    assert f"below {THRESHOLD_PERCENT:g} %" in LOCKS
    assert f"{findings.LONG_INSTRUCTIONS} instructions or more" in LOCKS
    assert findings.READ_SHARE == 0.5


def test_the_example_is_an_experiment(tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(LOCKS.split("```toml\n")[1].split("```")[0])
    example = read_definition(path, workloads_folder())
    assert example.variants is not None
    before, after = example.variants.variants
    assert before.command[:2] == after.command[:2] == ["go", "test"]
    assert example.variants.figure == GO_BENCH


def test_rules_of_pairing_are_those_of_the_program() -> None:
    pairing = (ROOT / "advisor" / "analysis" / "pairing.go").read_text()
    for rule in ("dominance", "defer", "paths"):
        assert f"- `{rule}`:" in LOCKS
        assert f'return "{rule}"' in pairing


def test_the_oldest_toolchain_is_that_of_the_module() -> None:
    found = re.search(r"^go (\d+\.\d+)", (ROOT / "advisor" / "go.mod").read_text(), re.MULTILINE)
    assert found is not None
    assert f"Go {found[1]} or newer" in LOCKS


FIELDS_PAGE = Path(__file__).parent.parent.parent / "docs" / "fields.md"


def test_table_of_fields_is_the_catalogue() -> None:
    reported = [
        [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        for line in FIELDS_PAGE.read_text().splitlines()
        if line.startswith("| `")
    ]
    assert reported == [
        [field.name, field.unit, field.provenance, field.taskstats or "", field.procfs or ""]
        for field in CATALOGUE.fields
    ]


PROTOCOL_PAGE = Path(__file__).parent.parent.parent / "docs" / "protocol.md"
PROTOCOL = PROTOCOL_PAGE.read_text()
CODE = re.compile(r"`([^`\n]+)`")
SCHEMA = re.compile(r"(?:[A-Z][a-z0-9]+)+")
UNIONS = ("CollectorMessage", "CollectorCommand", "LiveCommand", "LiveMessage", "TargetEvent")


def protocol_section(word: str) -> str:
    """The part of the page whose heading has this word in backticks."""
    (found,) = [
        part for part in re.split(r"^## ", PROTOCOL, flags=re.M) if f"`{word}`" in _head(part)
    ]
    return found


def _head(part: str) -> str:
    return part.split("\n", 1)[0]


def protocol_rows(part: str) -> list[list[str]]:
    """Cells of its table without the head, backticks taken off."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_each_schema_is_named_and_no_other() -> None:
    named = {word for word in CODE.findall(PROTOCOL) if SCHEMA.fullmatch(word)}
    assert named == set(schemas())


@pytest.mark.parametrize("union", UNIONS)
def test_tables_of_messages_are_the_unions(union: str) -> None:
    reported = protocol_rows(protocol_section(union))
    assert {title: tag for title, tag, _ in reported} == members(union)
    assert len(reported) == len(members(union))


def test_these_are_all_unions() -> None:
    tagged = {title for title, schema in schemas().items() if "discriminator" in schema}
    assert tagged == set(UNIONS)


def test_close_codes() -> None:
    reported = {int(code): name for code, name, _ in protocol_rows(protocol_section("CloseCode"))}
    assert reported == {code.value: code.name.lower() for code in CloseCode}
    assert {int(code) for code in re.findall(r"\b4[0-9]{3}\b", PROTOCOL)} == set(reported)


def test_problems() -> None:
    reported = {
        kind: (int(status), title)
        for kind, status, title, _ in protocol_rows(protocol_section("ProblemType"))
    }
    assert reported == {kind: (row.status, row.title) for kind, row in PROBLEMS.items()}
    assert set(reported) == set(schemas()["ProblemType"]["enum"])


def test_fields_of_messages_that_are_named_exist() -> None:
    known = {"tid", "name"}
    for schema in schemas().values():
        known |= {*schema.get("properties", {}), *schema.get("required", [])}
        known |= {schema.get("properties", {}).get("type", {}).get("const", "type")}
    known |= {field.name for field in CATALOGUE.fields} | set(COLUMNS)
    known |= {column for columns in COLUMNS.values() for column in columns}
    known |= {"start_ns", *(code.name.lower() for code in CloseCode)}
    named = {word for word in CODE.findall(PROTOCOL) if re.fullmatch(r"[a-z]+(_[a-z]+)*", word)}
    assert named <= known | set(PROBLEMS)


def test_tables_of_frames() -> None:
    part = PROTOCOL.partition("**Tables** are facts")[2].partition("\n- ")[0]
    reported = [(name, tuple(re.findall(r"\w+", keys))) for name, keys, _ in protocol_rows(part)]
    assert reported == list(KEYS.items())


def test_version() -> None:
    assert f"The version is {PROTOCOL_VERSION}," in PROTOCOL


REPOSITORY = Path(__file__).parents[2]
DOC = REPOSITORY / "docs" / "security.md"
NAMED = re.compile(r"`((?:tests|frontend|sampler)/[\w./-]+)(?:::([\w\[\]-]+))?`")


def promises() -> list[str]:
    text = DOC.read_text().partition("\n## Promises\n")[2].partition("\n## Not promised\n")[0]
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("promise", promises())
def test_a_test_stands_behind_each_promise(promise: str) -> None:
    named = NAMED.findall(promise)
    assert named, "name the test behind it: `tests/…/test_x.py::test_name`"
    for path, name in named:
        file = REPOSITORY / path
        assert file.is_file(), path
        if name:
            written = rf"(?:def|fn) {re.escape(name)}\("
            assert re.search(written, file.read_text()), f"{path}::{name}"
