"""tools/release.py, in a repository whose builds are short."""

import hashlib
import subprocess
import tarfile
import tomllib
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from tool_scripts import load_tool, write_tree

release = load_tool("release")
VERSION = "0.2.0"
MAKEFILE = """\
wheel:
\tmkdir -p dist && echo wheel > dist/tidscope-0.2.0-py3-none-any.whl
agent-packages:
\tmkdir -p dist/agents && echo header > dist/agents/tidscope-agent-c-0.2.0.tar.gz
site:
\tmkdir -p dist/site && echo page > dist/site/index.html
"""
NAMING = {name: (release.ROOT / name).read_text() for name in release.NAMED}
OTHERS = ("CITATION.cff", "agents/", "workloads/", "tests/")
TREE = {
    "pyproject.toml": '[project]\nname = "tidscope"\nversion = "0.1.0"\n',
    "package.json": '{\n  "name": "tidscope",\n  "version": "0.1.0"\n}\n',
    "package-lock.json": (
        '{\n  "name": "tidscope",\n  "version": "0.1.0",\n  "packages": {\n    "": {\n'
        '      "name": "tidscope",\n      "version": "0.1.0"\n    },\n'
        '    "node_modules/a": {\n      "version": "0.1.0"\n    }\n  }\n}\n'
    ),
    **{name: text for name, text in NAMING.items() if name.startswith(OTHERS)},
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n- New: a chart.\n\n## 0.1.0\n\n- Old.\n",
    "sbom.cdx.json": "{}\n",
    "Makefile": MAKEFILE,
    ".gitignore": "dist/\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, TREE)
    release.git(tmp_path, "init", "-q")
    for name, value in {"user.name": "A", "user.email": "a@example.org"}.items():
        release.git(tmp_path, "config", name, value)
    commit(tmp_path)
    return tmp_path


def commit(root: Path) -> None:
    release.git(root, "add", "-A")
    release.git(root, "commit", "-q", "-m", "all")


def run(root: Path, *words: str) -> int:
    status: int = release.main([VERSION, "--root", str(root), *words])
    return status


def test_a_release_is_prepared_tried_and_made(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, "--prepare") == 0
    assert {version for _, version in release.named_versions(root)} == {VERSION}
    assert {name for name, _ in release.named_versions(root)} == set(NAMING)
    assert (
        '"node_modules/a": {\n      "version": "0.1.0"' in (root / "package-lock.json").read_text()
    )
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    assert cited["version"] == VERSION
    assert date.fromisoformat(cited["date-released"]) >= date.today() - timedelta(days=1)
    commit(root)
    assert run(root, "--dry-run") == 0
    assert release.git(root, "tag") == ""
    (root / "extra.deb").write_text("package")
    (root / "extra.deb").rename(root / "dist" / "extra.deb")
    assert run(root, "--add", str(root / "dist" / "extra.deb")) == 0
    assert "tagged v0.2.0 agents/go/v0.2.0" in capsys.readouterr().out
    assert "- New: a chart." in release.git(root, "tag", "-n9", "v0.2.0")

    out = root / "dist" / "release"
    files = {file.name for file in out.iterdir()}
    assert files == {
        *("tidscope-0.2.0-py3-none-any.whl", "tidscope-0.2.0.tar.gz", "tidscope-0.2.0-site.tar.gz"),
        *("extra.deb", "sbom.cdx.json", "NOTES.md", "SHA256SUMS"),
        "tidscope-agent-c-0.2.0.tar.gz",
    }
    sums = dict(line.split()[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == files - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    with tarfile.open(out / "tidscope-0.2.0.tar.gz") as sources:
        assert "tidscope-0.2.0/pyproject.toml" in sources.getnames()
    assert (out / "NOTES.md").read_text() == "- New: a chart.\n"


def test_what_speaks_against_a_release_is_said(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for tag in release.tags_of(VERSION):
        release.git(root, "tag", tag)
    (root / "new.txt").write_text("")
    assert run(root) == 1
    said = capsys.readouterr().err
    assert "pyproject.toml says 0.1.0: run with --prepare, and commit" in said
    assert "CHANGELOG.md has no section 0.2.0" in said
    assert "files differ from the commit" in said
    for tag in release.tags_of(VERSION):
        assert f"the tag {tag} exists" in said
    assert not (root / "dist").exists()


def test_a_failed_build_is_no_release(root: Path) -> None:
    run(root, "--prepare")
    (root / "Makefile").write_text("wheel:\n\tfalse\nagent-packages site:\n\ttrue\n")
    commit(root)
    with pytest.raises(subprocess.CalledProcessError):
        run(root)
    assert release.git(root, "tag") == ""


def test_this_tree_names_one_version() -> None:
    assert len({version for _, version in release.named_versions(release.ROOT)}) == 1


def test_what_is_cited_has_what_the_format_demands() -> None:
    """Citation File Format 1.2.0: four members are required, and licences are of SPDX."""
    cited = yaml.safe_load((release.ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert all(author["name"] for author in cited["authors"])
    project = tomllib.loads((release.ROOT / "pyproject.toml").read_text())["project"]
    assert " AND ".join(cited["license"]) == project["license"]
