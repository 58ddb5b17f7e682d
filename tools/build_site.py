"""Build the docs site: `python tools/build_site.py [FOLDER]`.

Pages are README.md, docs/ and others of PAGES, staged as they lie in the repository, so that
their links hold. Reference pages are made from the code (tools/site_reference.py). Links to files
that are no pages lead to the repository. Sphinx builds with warnings as errors, without network;
the docs site searches without a server, and opens from files.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from command_line import ROOT
from links import links
from site_reference import reference_pages

REPOSITORY = "https://github.com/tidscope/tidscope"
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md")
"""Pages beside docs/."""
RENAMED = {"README.md": "index.md"}
"""Pages that have another name in the docs site."""
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Begin",
        ("docs/tutorials/first-ten-minutes", "docs/installing", "docs/gallery", "docs/comparison"),
    ),
    ("Tutorials", ("docs/tutorials/where-the-time-goes", "docs/tutorials/which-line-of-code")),
    (
        "How to",
        (
            "docs/runs",
            "docs/stacks",
            "docs/traces",
            "docs/experiments",
            "docs/steering",
            "docs/agents",
            "docs/locks",
            "docs/notebook",
            "docs/fleet",
            "docs/prediction",
        ),
    ),
    (
        "Understand",
        ("docs/measurement", "docs/findings", "docs/security", "docs/controllers", "docs/glossary"),
    ),
    (
        "Reference",
        (
            "reference/cli",
            "reference/http",
            "reference/messages",
            "reference/fields",
            "docs/fields",
            "docs/metrics",
            "docs/rights",
            "docs/protocol",
        ),
    ),
    (
        "Project",
        (
            "docs/architecture",
            "CONTRIBUTING",
            "CHANGELOG",
            "SECURITY",
            "CODE_OF_CONDUCT",
            "docs/decisions/index",
            "docs/results/index",
        ),
    ),
)
"""Headings of the navigation, and their pages; pages that none names are under `More`."""
DEMO = '<a href="demo/index.html">A recorded run in the page itself</a>, without installing.\n\n'
"""Line of the front page that leads to what tools/build_demo.py makes."""
LISTS = {"docs/decisions": "Decisions", "docs/results": "Results"}
"""Folders with a page that lists their pages, and its title."""


def stage(root: Path, folder: Path) -> None:
    """Write all pages of the docs site below a folder.

    Args:
        root: the repository.
        folder: an empty folder.
    """
    copied = [*PAGES, *(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md"))]
    names = {page: RENAMED.get(page, page) for page in copied if (root / page).is_file()}
    for page, name in names.items():
        text = with_links(page, (root / page).read_text(encoding="utf-8"), names)
        _write(folder / name, text)
    shutil.copytree(root / "docs" / "images", folder / "docs" / "images")
    listed = {f"{each}/index.md": _list(title) for each, title in LISTS.items()}
    for name, text in {**reference_pages(), **listed}.items():
        _write(folder / name, text)
    front = (folder / "index.md").read_text(encoding="utf-8")
    _write(folder / "index.md", front.replace("![", f"{DEMO}![", 1) + navigation(folder))


def with_links(page: str, text: str, names: dict[str, str]) -> str:
    """Return a page whose links to other files than pages lead to the repository.

    Args:
        page: path of the page in the repository.
        text: the page.
        names: path in the docs site of each page of the repository.
    """
    lines = text.splitlines(keepends=True)
    for link in links(page, text):
        if link.path in LISTS:
            path = f"{link.path}/index.md"
        elif link.path in names or link.path.startswith("docs/images/"):
            path = names.get(link.path, link.path)
        else:
            path = f"{REPOSITORY}/blob/main/{link.path}"
        if not path.startswith("https:"):
            path = os.path.relpath(path, Path(names[page]).parent)
        if link.path == page:
            continue
        target = f"{path}#{link.anchor}" if link.anchor else path
        line = lines[link.line - 1]
        lines[link.line - 1] = line.replace(f"]({link.target})", f"]({target})")
    return "".join(lines)


def navigation(folder: Path) -> str:
    """Return the tables of contents of the front page: each staged page is in one of them."""
    staged = {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md")}
    inner = {page for page in staged if page.startswith(tuple(f"{each}/" for each in LISTS))}
    named = {page for _, pages in SECTIONS for page in pages}
    more = sorted(staged - inner - named - {"index"})
    parts = [*SECTIONS, *([("More", more)] if more else [])]
    return "".join(
        _contents([page for page in pages if page in staged], title) for title, pages in parts
    )


def build(root: Path, out: Path) -> int:
    """Build the docs site into a folder; return the exit code of Sphinx."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory(prefix="tidscope-site-") as name:
        folder = Path(name)
        stage(root, folder / "pages")
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
        command += ["-c", str(root / "tools" / "site_conf"), "-d", str(folder / "trees")]
        environment = {**os.environ, "TIDSCOPE_SITE_VERSION": project["version"]}
        shutil.rmtree(out, ignore_errors=True)
        command += [str(folder / "pages"), str(out)]
        return subprocess.run(command, env=environment, check=False).returncode


def _contents(pages: Iterable[str], title: str) -> str:
    lines = "\n".join(f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n"


def _list(title: str) -> str:
    return f"# {title}\n\n```{{toctree}}\n:glob:\n:titlesonly:\n\n*\n```\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "dist" / "site")
    sys.exit(build(ROOT, parser.parse_args().out.resolve()))
