"""tools/check_imports.py lets our tree pass, and stops each kind of wrong import."""

from pathlib import Path

import pytest
from tool_scripts import run_tool, write_tree

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
    "frontend/src/stream/rate.test.ts": 'import { a } from "../testing/frames";\n',
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
            "def late() -> None:\n    from tidscope_collector.threads.reading import Reading\n",
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
