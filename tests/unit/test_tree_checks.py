"""The checks of the tree in tools/: imports, words, locks, escapes, coverage, tests of a room."""

import json
import subprocess
from pathlib import Path

import pytest
from tool_scripts import TOOLS, load_tool, run_tool, write_tree

GOOD = {
    "collector/tidscope_collector/procfs/files.py": "from tidscope_wire.frame import split\n",
    "collector/tidscope_collector/doctor/facts.py": (
        "from tidscope_collector.procfs.files import ProcFs\n"
    ),
    "shared/tidscope_policies/algorithms/fixed.py": (
        "from math import log\n"
        "import numpy as np\n"
        "from tidscope_policies.contract import Decision\n"
    ),
    "shared/tidscope_policies/simulation/simulated_pools.py": (
        "from math import log\nfrom tidscope_policies import contract\n"
    ),
    "backend/tidscope_backend/app.py": "import tidscope_wire\n",
    "shared/tidscope_wire/frame.py": "import json\n",
    "frontend/src/stream/rate.ts": 'import { a } from "../wire/frame";\n',
    "frontend/src/stream/decimate.test.ts": 'import { a } from "../testing/frames";\n',
    "frontend/src/wire/frame.ts": ' * import { x } from "../features/map/x";\nimport "echarts";\n',
}


def complaints(root: Path, files: dict[str, str]) -> str:
    write_tree(root, {**GOOD, **files})
    code, text = run_tool("check_imports.py", root)
    assert code == (1 if text else 0)
    return text


def test_right_directions_pass(tmp_path: Path) -> None:
    assert complaints(tmp_path, {}) == ""


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("collector/tidscope_collector/a.py", "import tidscope_backend.app", "tidscope_backend"),
        ("backend/tidscope_backend/b.py", "from tidscope_collector import x", "tidscope_collector"),
        ("shared/tidscope_wire/c.py", "from tidscope_backend.app import x", "tidscope_backend"),
        (
            "backend/tidscope_backend/d.py",
            "def late() -> None:\n    from tidscope_collector.sampling.plan import Plan\n",
            "d.py:2: tidscope_backend must not import tidscope_collector",
        ),
        (
            "backend/tidscope_backend/e.py",
            'import_module(f"tidscope_collector.{name}")',
            "tidscope_collector",
        ),
        (
            "shared/tidscope_policies/clock.py",
            "import time",
            "clock.py:1: tidscope_policies is pure and must not import time",
        ),
        (
            "shared/tidscope_policies/loop.py",
            "from tidscope_collector.procfs.files import ProcFs",
            "must not import tidscope_collector.procfs",
        ),
        (
            "shared/tidscope_policies/wire.py",
            "from tidscope_wire.frame import split",
            "must not import tidscope_wire",
        ),
        ("frontend/src/stream/f.ts", 'import { x } from "../chart/x";', "must not import chart"),
        ("frontend/src/wire/g.ts", 'export * from "../stream/x";', "wire must not import stream"),
        (
            "frontend/src/ui/h.tsx",
            'import {\n  x,\n} from "../features/map/x";',
            "h.tsx:3: ui must not import features/map",
        ),
        ("frontend/src/stream/i.ts", 'const x = import("../app/x");', "must not import app"),
        (
            "frontend/src/stream/j.ts",
            'import { x } from "../testing/x";',
            "must not import testing",
        ),
        ("frontend/src/api/k.ts", 'import x from "../../../shared/x";', "must not import .."),
        (
            "frontend/src/features/map/m.ts",
            'import { x } from "../scope/x";',
            "features/map must not import features/scope",
        ),
        (
            "frontend/src/features/newcomer/n.ts",
            'import { x } from "../../wire/x";',
            "features/newcomer is not in",
        ),
        ("frontend/src/newcomer/l.ts", 'import { x } from "../wire/x";', "newcomer is not in"),
    ],
)
def test_wrong_direction_is_named(tmp_path: Path, path: str, text: str, said: str) -> None:
    found = complaints(tmp_path, {path: text})
    assert found.startswith(path)
    assert said in found
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize("wanted", ["tidscope_collector.doctor.facts", "..doctor.facts"])
def test_cycle_of_folders_is_refused(tmp_path: Path, wanted: str) -> None:
    path = "collector/tidscope_collector/procfs/back.py"
    found = complaints(tmp_path, {path: f"from {wanted} import Facts\n"})
    assert found == ("tidscope_collector: folders import each other: doctor -> procfs -> doctor\n")


@pytest.mark.parametrize(
    ("files", "cycle"),
    [
        (
            {
                "collector/tidscope_collector/procfs/a.py": (
                    "from typing import TYPE_CHECKING\n"
                    "if TYPE_CHECKING:\n    from tidscope_collector.procfs.b import B\n"
                ),
                "collector/tidscope_collector/procfs/b.py": (
                    "def late() -> None:\n    from tidscope_collector.procfs import c\n"
                ),
                "collector/tidscope_collector/procfs/c.py": "from .a import A\n",
            },
            "collector/tidscope_collector/procfs/a.py -> collector/tidscope_collector/procfs/b.py"
            " -> collector/tidscope_collector/procfs/c.py -> "
            "collector/tidscope_collector/procfs/a.py",
        ),
        (
            {
                "frontend/src/ui/A.tsx": 'import { B } from "./B";\n',
                "frontend/src/ui/B.tsx": 'import type { A } from "./A";\n',
            },
            "frontend/src/ui/A.tsx -> frontend/src/ui/B.tsx -> frontend/src/ui/A.tsx",
        ),
        (
            {
                "frontend/src/ui/index.ts": 'export { A } from "./inner/A";\n',
                "frontend/src/ui/inner/A.tsx": 'import { B } from "..";\n',
            },
            "frontend/src/ui/index.ts -> frontend/src/ui/inner/A.tsx -> frontend/src/ui/index.ts",
        ),
    ],
)
def test_cycle_of_files_is_refused(tmp_path: Path, files: dict[str, str], cycle: str) -> None:
    assert complaints(tmp_path, files) == f"files import each other: {cycle}\n"


def test_tree_without_sources_is_not_called_good(tmp_path: Path) -> None:
    code, text = run_tool("check_imports.py", tmp_path)
    assert code == 1
    assert "no imports found" in text


LIST = """
[names]
helm = "SteeringService"
[phrases]
"in force" = "effective"
[identifiers]
'(.+_)?usual(_.+)?' = "default"
[sentences]
'a look(?![-\\w]| at )' = "sample"
[starts]
'Of|Its' = "a noun"
[exempt]
later = ["collector/old/"]
"""
HARMLESS = {
    "backend/overwhelming.py": 'OVERWHELMED = "he reinforces it"\n',
    "docs/glossary.md": "retired: helm, in force\n",
    "LICENSES/GPL.txt": "in force\n",
}


def word_complaints(root: Path, files: dict[str, str]) -> str:
    write_tree(root, {**HARMLESS, **files, "tools/retired_words.toml": LIST})
    subprocess.run(["git", "init", "-q", root], check=True)
    code, text = run_tool("check_words.py", root)
    assert code == (1 if text else 0)
    return text


def test_tree_without_retired_words_passes(tmp_path: Path) -> None:
    assert word_complaints(tmp_path, {}) == ""


@pytest.mark.parametrize(
    "name", ["class Helm:", "helm_seconds = 1", "def open_helm():", "HELM = 1"]
)
def test_retired_part_of_a_name_is_found_in_any_case(tmp_path: Path, name: str) -> None:
    assert word_complaints(tmp_path, {"backend/a.py": f"x = 1\n{name}\n"}) == (
        "backend/a.py:2: 'helm': SteeringService\n"
    )


def test_retired_part_of_a_file_name_is_found(tmp_path: Path) -> None:
    assert word_complaints(tmp_path, {"backend/helm.py": ""}) == (
        "backend/helm.py: the name has 'helm': SteeringService\n"
    )


@pytest.mark.parametrize("path", ["frontend/src/a.tsx", "docs/runs.md", "shared/schemas/a.json"])
def test_retired_phrase_is_found_in_any_text(tmp_path: Path, path: str) -> None:
    assert word_complaints(tmp_path, {path: '"4 Hz In force"\n'}) == (
        f"{path}:1: 'In force': effective\n"
    )


@pytest.mark.parametrize(
    ("path", "code"),
    [("backend/a.py", "{} = 1\n"), ("frontend/src/a.ts", "const {} = 1;\n"), ("a.c", "int {};\n")],
)
@pytest.mark.parametrize("name", ["usual", "USUAL_SIZE", "theUsualSize", "usual_size"])
def test_retired_identifier_is_found_in_code(
    tmp_path: Path, path: str, code: str, name: str
) -> None:
    assert word_complaints(tmp_path, {path: code.format(name)}) == (
        f"{path}:1: {name!r}: default\n"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("backend/a.py", '"""As usual."""\n# the usual one\nx = "usual"\nunusual = 1\n'),
        ("backend/b.py", "def test_an_usual_day() -> None: ...\n"),
        ("frontend/a.ts", "/* the\n usual */ x = 'usual'; // usual\ny = `as usual`;\n"),
        ("frontend/b.tsx", "<p>As usual</p>;\nexpect(x, /than usual/);\n"),
        ("collector/old/c.py", "usual = 1  # a look\n"),
        ("docs/runs.md", "Take a look at the usual runs; a look-up.\n"),
    ],
)
def test_ordinary_english_and_exempt_rooms_pass(tmp_path: Path, path: str, text: str) -> None:
    assert word_complaints(tmp_path, {path: text}) == ""


def test_retired_meaning_is_found_in_a_comment(tmp_path: Path) -> None:
    assert word_complaints(tmp_path, {"backend/a.py": "# The thread had a look.\n"}) == (
        "backend/a.py:1: 'a look': sample\n"
    )


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("backend/a.py", '"""Of a thread."""\n', 1),
        ("backend/a.py", "x = 1\n# Of a thread.\n# Of a process.\n", 2),
        ("a.rs", "/// Of a thread.\nx: u8,\n", 1),
        ("frontend/src/a.ts", "/**\n * Of a thread.\n * Of a process.\n */\n", 2),
        ("a.c", "/* Of a thread,\n * Of a process. */\n", 1),
    ],
)
def test_start_without_a_noun_is_found_once(
    tmp_path: Path, path: str, text: str, line: int
) -> None:
    assert word_complaints(tmp_path, {path: text}) == (
        f"{path}:{line}: a comment starts with 'Of': a noun\n"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.c", "/* The name\n * Of a thread. */\n"),
        ("a.rs", "// Often.\n\n// The name\n// Of a thread.\n"),
        ("docs/a.md", "# Of threads\n"),
    ],
)
def test_start_of_a_line_within_a_comment_passes(tmp_path: Path, path: str, text: str) -> None:
    assert word_complaints(tmp_path, {path: text}) == ""


KINDS = ("any", "biome-ignore", "noqa", "ts-expect-error", "type: ignore")
HATCHES = [
    ("type: ignore", "backend/a.py", "x = f()  # type: ignore[arg-type]\n"),
    ("noqa", "collector/a.py", "import x  # noqa: F401\n"),
    ("noqa", "tests/a.py", "# ruff: noqa\n"),
    ("any", "frontend/src/a.ts", "const a = b as any;\n"),
    ("any", "frontend/src/b.ts", "function f(a: any) {}\n"),
    ("any", "frontend/src/c.ts", "const a = new Map<any, string>();\n"),
    ("any", "frontend/src/d.ts", "const a = b as unknown as C;\n"),
    ("biome-ignore", "frontend/src/e.tsx", "// biome-ignore lint/a: b\n"),
    ("biome-ignore", "frontend/src/e.css", "/* biome-ignore lint/a: b */\n"),
    ("ts-expect-error", "tests/e2e/f.ts", "// @ts-expect-error\n"),
    ("ts-expect-error", "tests/e2e/g.ts", "// @ts-ignore\n"),
]
HARMLESS_ESCAPES = {
    "backend/words.py": 'TEXT = "# type: ignore, # noqa"\n"""# noqa"""\nAny = 1\n',
    "frontend/src/words.ts": 'const note = "any of these: any";\nconst company = 1;\n',
    "frontend/src/wire/generated/models.ts": "const a = b as any;\n",
    "node_modules/x/a.ts": "const a = b as any;\n",
}


def escape_complaints(root: Path, files: dict[str, str], **allowed: int) -> str:
    numbers = {kind: allowed.get(kind, 0) for kind in KINDS}
    write_tree(root, {**HARMLESS_ESCAPES, **files, "tools/escapes.json": json.dumps(numbers)})
    code, text = run_tool("check_escapes.py", root)
    assert code == (1 if text else 0)
    return text


def test_tree_without_any_passes(tmp_path: Path) -> None:
    assert escape_complaints(tmp_path, {}) == ""


@pytest.mark.parametrize(("kind", "path", "text"), HATCHES)
def test_one_more_is_refused_and_placed(tmp_path: Path, kind: str, path: str, text: str) -> None:
    assert escape_complaints(tmp_path, {path: text}) == (
        f"{kind}: 1, and no more than 0 are allowed:\n  {path}:1\n"
    )


@pytest.mark.parametrize(("kind", "path", "text"), HATCHES)
def test_as_many_as_allowed_pass(tmp_path: Path, kind: str, path: str, text: str) -> None:
    assert escape_complaints(tmp_path, {path: text}, **{kind: 1}) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_than_allowed_asks_to_lower_the_number(tmp_path: Path, kind: str) -> None:
    assert escape_complaints(tmp_path, {}, **{kind: 2}) == (
        f"{kind}: 0 left; lower the 2 in tools/escapes.json\n"
    )


def test_list_without_a_kind_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"tools/escapes.json": "{}"})
    code, text = run_tool("check_escapes.py", tmp_path)
    assert code == 1
    assert "exactly these kinds" in text


@pytest.mark.parametrize(
    ("covered", "status", "said"),
    [
        (799, 1, "79.9 % of all branches are covered, and tools/coverage.json asks for 80 %"),
        (800, 0, "80.0 % of all branches are covered, 80 % at least"),
        (809, 0, "80.9 % of all branches are covered, 80 % at least"),
        (825, 0, "82.5 % of all branches are covered; raise the 80 % in tools/coverage.json to 82"),
    ],
)
def test_less_fails_and_more_asks_for_a_higher_floor(
    covered: int, status: int, said: str, tmp_path: Path
) -> None:
    report, floor = tmp_path / "report.json", tmp_path / "floor.json"
    report.write_text(json.dumps({"totals": {"covered_branches": covered, "num_branches": 1000}}))
    floor.write_text(json.dumps({"branches_percent": 80}))
    assert run_tool("check_coverage.py", report, floor) == (status, f"{said}\n")


def test_our_own_floor_is_a_share() -> None:
    floor = json.loads((TOOLS / "coverage.json").read_text())
    assert set(floor) == {"branches_percent"}
    assert 50 < floor["branches_percent"] <= 100


room_tests = load_tool("room_tests")
HERE = Path(__file__).parents[2]


def test_rooms_are_named_with_and_without_the_package() -> None:
    for room in ("collector/locks", "collector/locks/", "collector/tidscope_collector/locks"):
        assert room_tests.module_of(HERE, room) == "tidscope_collector.locks"
    assert room_tests.module_of(HERE, "shared/tidscope_wire") == "tidscope_wire"
    assert room_tests.module_of(HERE, "collector/nothing") is None
    assert room_tests.module_of(HERE, "nowhere") is None


def test_tests_are_those_that_import_the_room_or_what_is_below_it(tmp_path: Path) -> None:
    texts = {
        "tests/unit/test_direct.py": "import tidscope_collector.locks.registry",
        "tests/unit/test_from_package.py": "from tidscope_collector import locks",
        "tests/unit/test_inside.py": "if True:\n    from tidscope_collector.locks.a import b",
        "tests/unit/test_neighbour.py": "import tidscope_collector.locksmith",
        "tests/contract/test_contract.py": "from tidscope_collector.locks import registry",
        "tests/integration/test_dear.py": "import tidscope_collector.locks",
    }
    write_tree(tmp_path, texts)
    assert room_tests.tests_of(tmp_path, "tidscope_collector.locks") == [
        "tests/unit/test_direct.py",
        "tests/unit/test_from_package.py",
        "tests/unit/test_inside.py",
        "tests/contract/test_contract.py",
    ]
