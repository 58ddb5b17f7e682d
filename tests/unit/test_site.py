"""Links of pages, and the pages that tools/build_site.py stages for the docs site."""

import subprocess
from pathlib import Path

import pytest
from tool_scripts import load_tool, run_tool, write_tree

links = load_tool("links")
build_site = load_tool("build_site")

PAGES = {
    "README.md": "# Title\n\n[guide](docs/guide.md#the-end), [code](`x`) and [tool](tools/x.py)\n",
    "docs/guide.md": "# Guide `one`\n\n[back](../README.md)\n\n## The end!\n\n[up](#guide-one)\n",
    "docs/decisions/0001-a.md": "# A\n",
    "docs/results/2026-01-01-b.md": "# B\n",
    "docs/images/a.webp": "",
    "tools/x.py": "",
}


def tree(root: Path, **changed: str) -> Path:
    write_tree(
        root, PAGES | {name.replace("__", "/") + ".md": text for name, text in changed.items()}
    )
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a](nowhere.md)", "docs/guide.md:1: nowhere.md: no such file"),
        ("\n[a](../README.md#none)", "docs/guide.md:2: ../README.md#none: no such heading"),
        ("[a](#none)", "docs/guide.md:1: #none: no such heading"),
        ("![a](images/none.webp)", "docs/guide.md:1: images/none.webp: no such file"),
        ("[a](../../outside.md)", "docs/guide.md:1: ../../outside.md: no such file"),
    ],
)
def test_a_broken_link_is_named(tmp_path: Path, text: str, said: str) -> None:
    root = tree(tmp_path, docs__guide=f"{text}\n", README="# Title\n")
    assert run_tool("check_links.py", root) == (1, f"{said}\n")


@pytest.mark.parametrize(
    "text",
    ["`[a](nowhere.md)`", "```\n[a](nowhere.md)\n```", "[a](https://host/none)", "[a](mailto:a@b)"],
)
def test_code_and_addresses_are_no_links_of_the_tree(tmp_path: Path, text: str) -> None:
    assert run_tool("check_links.py", tree(tmp_path, docs__other=f"{text}\n")) == (0, "")


def test_anchors_are_those_of_github() -> None:
    text = "# A `b`, c!\n\n## A b c\n\n## Same\n\n```\n# code\n```\n\n## Same\n\n## [x](y.md) _z_\n"
    assert links.anchors(text) == {"a-b-c", "a-b-c-1", "same", "same-1", "x-z"}


def test_staged_links_lead_to_pages_or_to_the_repository(tmp_path: Path) -> None:
    build_site.stage(tree(tmp_path / "root"), tmp_path / "out")
    front = (tmp_path / "out/index.md").read_text()
    assert "[guide](docs/guide.md#the-end)" in front
    assert f"[tool]({build_site.REPOSITORY}/blob/main/tools/x.py)" in front
    assert "[back](../index.md)" in (tmp_path / "out/docs/guide.md").read_text()


def test_each_staged_page_is_in_the_navigation(tmp_path: Path) -> None:
    build_site.stage(build_site.ROOT, tmp_path)
    pages = {str(path.relative_to(tmp_path).with_suffix("")) for path in tmp_path.rglob("*.md")}
    front = (tmp_path / "index.md").read_text()
    named = {line[1:] for line in front.splitlines() if line.startswith("/")}
    missing = {page for page in pages - named if not page.startswith(tuple(build_site.LISTS))}
    assert missing == {"index"}
    assert {page for _, pages in build_site.SECTIONS for page in pages} <= pages


def test_reference_pages_name_what_the_code_has() -> None:
    from tidscope_backend.cli import VERBS
    from tidscope_wire.generated.catalogue import CATALOGUE

    reference = load_tool("site_reference")
    pages = reference.reference_pages()
    assert all(f"\n## {verb}\n" in pages["reference/cli.md"] for verb in VERBS)
    assert "usage: tidscope hosts rotate" in pages["reference/cli.md"]
    assert "\n## GET /api/v1/runs/{run_id}\n" in pages["reference/http.md"]
    assert all(f"| `{field.name}` |" in pages["reference/fields.md"] for field in CATALOGUE.fields)
    messages = pages["reference/messages.md"]
    assert all(f"\n## {name}\n" in messages for name in reference.load_schemas())
