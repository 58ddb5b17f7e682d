"""Runs are written again from what was decoded: in this process, as a limited one does it."""

from pathlib import Path

import pytest
from run_archives import (
    DECEIVING,
    NOT_A_RUN,
    Files,
    archive_of,
    changed_manifest,
    compressed,
    files_of,
    member,
    plain_tar,
    rewrite,
)
from scripted_run import write_run
from tidscope_backend.exchange.unpacking import BadArchiveError, Bounds


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a good run that has ended."""
    source = tmp_path_factory.mktemp("source")
    return files_of(source / write_run(source).id)


@pytest.fixture(scope="module", params=[True, False], ids=["sealed", "open"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a good run, whose parts are sealed or whose last one is still open."""
    source = tmp_path_factory.mktemp("source")
    files = files_of(source / write_run(source, ended=request.param).id)
    cut = changed_manifest(lambda m: m.update(state="interrupted", end="backend-lost"))
    return files if request.param else cut(files)


def test_a_good_run_is_what_it_was_with_its_parts_sealed(tmp_path: Path, files: Files) -> None:
    manifest, written = rewrite(tmp_path, archive_of(files))
    assert manifest.imported
    assert manifest.counts.frames == 25
    assert not [name for name in written if name.startswith("open/")]
    assert {"samples/000001.parquet", "signals/000001.parquet", "threads.parquet"} <= set(written)
    same = set(files) & set(written) - {"manifest.json"}
    assert {name: written[name] for name in same} == {name: files[name] for name in same}


@pytest.mark.parametrize("what", DECEIVING)
def test_what_contradicts_itself_is_refused(tmp_path: Path, sealed: Files, what: str) -> None:
    change, _ = DECEIVING[what]
    with pytest.raises(NOT_A_RUN):
        rewrite(tmp_path, archive_of(change(sealed)))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "points outside"),
        ("run/../../up", "points outside"),
        ("run/.bashrc", "not a file of a run"),
        ("other/open/000009.frames", "not in the folder"),
        ("run/manifest.json", "twice"),
    ],
)
def test_names_out_of_place_are_refused(tmp_path: Path, files: Files, name: str, why: str) -> None:
    with pytest.raises(BadArchiveError, match=why):
        rewrite(tmp_path, compressed(plain_tar(files, member(name))))


def test_more_than_the_bounds_allow_is_refused(tmp_path: Path, files: Files) -> None:
    data = archive_of(files)
    total = sum(map(len, files.values()))
    assert rewrite(tmp_path, data, Bounds(max_bytes=2 * total))[0].imported
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(BadArchiveError):
        rewrite(other, data, Bounds(max_bytes=total // 2))


def test_an_archive_that_ends_early_is_refused(tmp_path: Path, files: Files) -> None:
    with pytest.raises(BadArchiveError):
        rewrite(tmp_path, compressed(plain_tar(files)[:700]))
