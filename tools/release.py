"""Make a release: `python tools/release.py VERSION` builds, checks, tags, and fills dist/release.

The folder holds the wheel, the packages of the agents, the sources of the tag, the docs site, the
bill of materials, SHA256SUMS and NOTES.md, the changelog's section of the version. Go finds its
agent by a tag of its own. Nothing is published, and the tags are not pushed.
`--prepare` writes the version into the files that name it, for a commit of its own. `--dry-run`
does everything but the tags.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from command_line import ROOT

NAME = "tidscope"
BUILT = ("wheel", "agent-packages", "site")
"""Targets of the Makefile that make what is released."""
SUMS = "SHA256SUMS"
NOTES = "NOTES.md"
SBOM = "sbom.cdx.json"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_TOML = re.compile(r'(?m)^(version = ")[^"]+(?=")')
_RELEASED = re.compile(r"(?m)^(date-released: ).*$")
_CARGO_LOCK = re.compile(rf'("{NAME}-agent"\nversion = ")[^"]+(?=")')
NAMED = {
    "CITATION.cff": re.compile(r"(?m)^(version: )\d[\d.]+(?=$)"),
    "pyproject.toml": _TOML,
    "package.json": re.compile(r'(?m)^(  "version": ")[^"]+(?=")'),
    "package-lock.json": re.compile(rf'("name": "{NAME}",\s+"version": ")[^"]+(?=")'),
    "agents/python/pyproject.toml": _TOML,
    "agents/python/tidscope_agent/protocol.py": re.compile(r'(?m)^(VERSION = ")[^"]+(?=")'),
    "agents/go/tidscope.go": re.compile(r'(?m)^(const Version = ")[^"]+(?=")'),
    "agents/go/README.md": re.compile(r"(agents/go[/@]v)\d[\d.]+(?=$|`)", re.MULTILINE),
    "agents/java/pom.xml": re.compile(r"(?m)^(  <version>)[^<]+(?=<)"),
    "agents/java/README.md": re.compile(rf"({NAME}-agent-)\d[\d.]+(?=\.(?:jar|pom))"),
    "agents/java/src/main/java/tidscope/agent/Agent.java": re.compile(
        r'( String VERSION = ")[^"]+(?=")'
    ),
    "agents/rust/tidscope_agent/Cargo.toml": _TOML,
    "agents/rust/README.md": re.compile(rf"({NAME}-agent-)\d[\d.]+(?=\")"),
    "agents/rust/tidscope_agent/Cargo.lock": _CARGO_LOCK,
    "workloads/echo/Cargo.lock": _CARGO_LOCK,
    "workloads/find/Cargo.lock": _CARGO_LOCK,
    "tests/programs/pools_rust/Cargo.lock": _CARGO_LOCK,
    "agents/c/README.md": re.compile(r"(find_package\(tidscope-agent )\d[\d.]+(?= )"),
    "agents/c/tidscope_agent.h": re.compile(r'( TIDSCOPE_AGENT_VERSION ")\d[^"]+(?=")'),
}
"""Files that name the version, and what stands before it; each place is rewritten."""
UNRELEASED = "## [Unreleased]"


def named_versions(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each file that names a version, with the version; once for each place."""
    for name, pattern in NAMED.items():
        text = (root / name).read_text(encoding="utf-8")
        for found in pattern.finditer(text):
            yield name, text[found.end(1) : found.end()]


def notes_of(changelog: str, version: str) -> str:
    """Return the section of a version, without its heading; empty if there is none."""
    found = re.search(rf"(?m)^## \[?{re.escape(version)}\b.*\n", changelog)
    return changelog[found.end() :].split("\n## ", maxsplit=1)[0].strip() if found else ""


def problems(root: Path, version: str) -> Iterator[str]:
    """Yield what speaks against a release."""
    if not _VERSION.fullmatch(version):
        yield f"{version!r} is no version such as 1.2.3"
    for name, found in named_versions(root):
        if found != version:
            yield f"{name} says {found}: run with --prepare, and commit"
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not notes_of(changelog, version):
        yield f"CHANGELOG.md has no section {version}, or an empty one"
    if git(root, "status", "--porcelain"):
        yield "files differ from the commit"
    for tag in tags_of(version):
        if git(root, "tag", "--list", tag):
            yield f"the tag {tag} exists"


def tags_of(version: str) -> tuple[str, ...]:
    """Return the tags of a release: its own, and that by which Go finds the agent."""
    return f"v{version}", f"agents/go/v{version}"


def prepare(root: Path, version: str, day: str) -> None:
    """Write version and day into the files that name them, and head the unreleased changes so."""
    for name, pattern in NAMED.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        path.write_text(pattern.sub(rf"\g<1>{version}", text), encoding="utf-8")
    path = root / "CITATION.cff"
    text = path.read_text(encoding="utf-8")
    path.write_text(_RELEASED.sub(rf'\g<1>"{day}"', text), encoding="utf-8")
    path = root / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    if not notes_of(text, version):
        heading = f"{UNRELEASED}\n\n## [{version}] - {day}"
        path.write_text(text.replace(UNRELEASED, heading, 1), encoding="utf-8")


def fill(root: Path, out: Path, version: str, more: Sequence[Path]) -> list[Path]:
    """Build all artefacts, and copy them into an emptied folder; return them, the sums last.

    Raises:
        CalledProcessError: a build failed.
        FileNotFoundError: a build left nothing.
    """
    for old in (root / "dist").glob(f"{NAME}-*.whl"):
        old.unlink()
    shutil.rmtree(root / "dist" / "agents", ignore_errors=True)
    for target in BUILT:
        subprocess.run(["make", target], cwd=root, check=True)
    wheels = sorted((root / "dist").glob(f"{NAME}-{version}-*.whl"))
    if not wheels:
        raise FileNotFoundError(f"dist/{NAME}-{version}-*.whl")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    agents = sorted((root / "dist" / "agents").iterdir())
    made = [Path(shutil.copy2(each, out)) for each in (*wheels, *agents, root / SBOM, *more)]
    sources = out / f"{NAME}-{version}.tar.gz"
    prefix = f"--prefix={NAME}-{version}/"
    git(root, "archive", "--format=tar.gz", prefix, "-o", str(sources), "HEAD")
    docs = shutil.make_archive(str(out / f"{NAME}-{version}-site"), "gztar", root / "dist" / "site")
    notes = out / NOTES
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    notes.write_text(notes_of(changelog, version) + "\n", encoding="utf-8")
    made += [sources, Path(docs), notes]
    sums = out / SUMS
    lines = [f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in made]
    sums.write_text("".join(sorted(lines, key=lambda line: line.split()[1])), encoding="utf-8")
    return [*made, sums]


def git(root: Path, *words: str) -> str:
    """Run git, and return what it says."""
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare or make the release; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--prepare", action="store_true", help="write the version into the files")
    parser.add_argument("--dry-run", action="store_true", help="everything but the tags")
    parser.add_argument("--add", type=Path, nargs="*", default=[], help="further artefacts")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    given = parser.parse_args(arguments)
    root: Path = given.root.resolve()
    if given.prepare:
        prepare(root, given.version, time.strftime("%Y-%m-%d"))
        print("written; run `make notice`, read the changelog, and commit")
        return 0
    against = list(problems(root, given.version))
    for line in against:
        print(line, file=sys.stderr)
    if against and not given.dry_run:
        return 1
    out = root / "dist" / "release"
    added = [each.resolve() for each in given.add]
    for file in fill(root, out, given.version, added):
        print(f"{file.stat().st_size:>12,}  {file.relative_to(root)}")
    if given.dry_run:
        print(f"not tagged (dry run); problems: {len(against)}")
        return 1 if against else 0
    for tag in tags_of(given.version):
        git(root, "tag", "-a", tag, "-F", str(out / NOTES))
    tags = " ".join(tags_of(given.version))
    print(f"tagged {tags}; publish with: git push origin {tags}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
