"""tools/check_words.py: a retired word does not come back."""

import subprocess
from pathlib import Path

import pytest
from tool_scripts import run_tool, write_tree

LIST = '[names]\nhelm = "SteeringService"\n[phrases]\n"in force" = "effective"\n'
HARMLESS = {
    "backend/overwhelming.py": 'OVERWHELMED = "he reinforces it"\n',
    "docs/glossary.md": "retired: helm, in force\n",
    "LICENSES/GPL.txt": "in force\n",
}


def complaints(root: Path, files: dict[str, str]) -> str:
    write_tree(root, {**HARMLESS, **files, "tools/retired_words.toml": LIST})
    subprocess.run(["git", "init", "-q", root], check=True)
    code, text = run_tool("check_words.py", root)
    assert code == (1 if text else 0)
    return text


def test_tree_without_retired_words_passes(tmp_path: Path) -> None:
    assert complaints(tmp_path, {}) == ""


@pytest.mark.parametrize(
    "name", ["class Helm:", "helm_seconds = 1", "def open_helm():", "HELM = 1"]
)
def test_retired_part_of_a_name_is_found_in_any_case(tmp_path: Path, name: str) -> None:
    assert complaints(tmp_path, {"backend/a.py": f"x = 1\n{name}\n"}) == (
        "backend/a.py:2: 'helm': SteeringService\n"
    )


def test_retired_part_of_a_file_name_is_found(tmp_path: Path) -> None:
    assert complaints(tmp_path, {"backend/helm.py": ""}) == (
        "backend/helm.py: the name has 'helm': SteeringService\n"
    )


@pytest.mark.parametrize("path", ["frontend/src/a.tsx", "docs/runs.md", "shared/schemas/a.json"])
def test_retired_phrase_is_found_in_any_text(tmp_path: Path, path: str) -> None:
    assert complaints(tmp_path, {path: '"4 Hz In force"\n'}) == (
        f"{path}:1: 'In force': effective\n"
    )
