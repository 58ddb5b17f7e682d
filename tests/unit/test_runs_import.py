"""Archives that somebody made to do harm, or that are broken or deceive: nothing of them stays."""

import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_archives import (
    DECEIVING,
    NOT_A_RUN,
    Files,
    archive_of,
    changed_manifest,
    compressed,
    files_of,
    import_without_process,
    member,
    plain_tar,
    rewrite,
)
from scripted_run import write_run
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.exchange.unpacking import BadArchiveError, Bounds


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a good run, by name within its folder."""
    source = tmp_path_factory.mktemp("source")
    path = source / write_run(source).id
    return files_of(path)


def bring(tmp_path: Path, data: bytes, bounds: Bounds | None = None) -> str:
    """Import bytes; returns the id, or raises and leaves nothing behind."""
    runs = tmp_path / "runs"
    runs.mkdir(exist_ok=True)
    archive = tmp_path / "archive"
    archive.write_bytes(data)
    before = set(tmp_path.rglob("*"))
    try:
        return import_run(archive, runs, lambda _: False, bounds or Bounds()).id
    except BadArchiveError:
        assert set(tmp_path.rglob("*")) == before
        raise


def test_the_good_one_comes_in_and_a_hostile_one_does_not(tmp_path: Path, files: Files) -> None:
    """Imports by the limited process; other tests import in their own process."""
    assert bring(tmp_path, compressed(plain_tar(files))).startswith("r-")
    with pytest.raises(BadArchiveError, match="points outside"):
        bring(tmp_path, compressed(plain_tar(files, member("/etc/passwd"))))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    import_without_process(monkeypatch)


@pytest.mark.usefixtures("here")
def test_so_does_what_other_programs_pack(tmp_path: Path, files: Files) -> None:
    """Archives with folders as members and time stamps in extended headers."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member("./run/", kind=tarfile.DIRTYPE))
        tar.addfile(member("./run/samples", kind=tarfile.DIRTYPE))
        for name, data in files.items():
            info = member(f"./run/{name}", len(data))
            info.mtime = 1_700_000_000.25
            tar.addfile(info, io.BytesIO(data))
    assert b"mtime=1700000000.25" in out.getvalue()
    assert bring(tmp_path, compressed(out.getvalue())).startswith("r-")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("/etc/passwd", tarfile.REGTYPE, "points outside"),
        ("run/../../up", tarfile.REGTYPE, "points outside"),
        ("..", tarfile.DIRTYPE, "points outside"),
        ("run/samples/../../../x", tarfile.REGTYPE, "points outside"),
        ("run/open/000009.frames", tarfile.SYMTYPE, "neither a regular file"),
        ("run/open/000009.frames", tarfile.LNKTYPE, "neither a regular file"),
        ("run/open/000009.frames", tarfile.CHRTYPE, "neither a regular file"),
        ("run/open/000009.frames", tarfile.FIFOTYPE, "neither a regular file"),
        ("run/open/000009.frames", tarfile.GNUTYPE_SPARSE, "neither a regular file"),
        ("run/open/000009.frames", tarfile.GNUTYPE_LONGNAME, "neither a regular file"),
        ("run/.bashrc", tarfile.REGTYPE, "not a file of a run"),
        ("run/open/9.frames", tarfile.REGTYPE, "not a file of a run"),
        ("run/open/000009.frames.new", tarfile.REGTYPE, "not a file of a run"),
        ("run/samples/000009.parquet\nx", tarfile.REGTYPE, "not a file of a run"),
        ("run/manifest.json/x", tarfile.REGTYPE, "not a file of a run"),
        ("other/open/000009.frames", tarfile.REGTYPE, "not in the folder"),
        ("run/manifest.json", tarfile.REGTYPE, "twice"),
        ("run/manifest.json\0.txt", tarfile.REGTYPE, "twice"),
        ("run/Manifest.json", tarfile.REGTYPE, "not a file of a run"),
        ("RUN/manifest.json", tarfile.REGTYPE, "not in the folder"),
        ("run/open/reserve", tarfile.REGTYPE, "not a file of a run"),
        ("run/lock", tarfile.REGTYPE, "not a file of a run"),
        ("run/samples/000001.parquet/000002.parquet", tarfile.REGTYPE, "not a file of a run"),
        ("run/open/000009.frames", tarfile.BLKTYPE, "neither a regular file"),
    ],
)
def test_hostile_members(tmp_path: Path, files: Files, name: str, kind: bytes, why: str) -> None:
    bad = member(name, kind=kind)
    bad.linkname = "/etc/passwd"
    with pytest.raises(BadArchiveError, match=why):
        bring(tmp_path, compressed(plain_tar(files, bad)))


@pytest.mark.usefixtures("here")
def test_an_extended_header_without_end(tmp_path: Path, files: Files) -> None:
    huge = member("run/x", 1 << 32, tarfile.XHDTYPE)
    data = huge.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096
    with pytest.raises(BadArchiveError, match="extended header"):
        bring(tmp_path, compressed(data))


@pytest.mark.usefixtures("here")
def test_a_negative_size(tmp_path: Path) -> None:
    info = member("run/open/000001.frames", -5)
    with pytest.raises(BadArchiveError, match="-5 bytes"):
        bring(tmp_path, compressed(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 2048))


def broken(part: str, change: Callable[[bytes], bytes]) -> Callable[[Files], Files]:
    return lambda files: {**files, part: change(files[part])}


def without(*names: str) -> Callable[[Files], Files]:
    return lambda files: {name: data for name, data in files.items() if name not in names}


def other_columns(_: bytes) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"seq": [1]}), out)
    return out.getvalue()


def retyped(data: bytes, column: str, kind: pa.DataType) -> bytes:
    table = pq.read_table(io.BytesIO(data))
    place = table.column_names.index(column)
    out = io.BytesIO()
    pq.write_table(table.set_column(place, column, pa.nulls(len(table), kind)), out)
    return out.getvalue()


def many_rows(data: bytes) -> bytes:
    """Some kilobytes that are more rows than any part has."""
    table = pq.read_table(io.BytesIO(data))
    columns = {name: pa.nulls(5_000_000, table[name].type) for name in table.column_names}
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (without("manifest.json"), "no manifest.json"),
        (broken("manifest.json", lambda data: data[:50]), "cannot be read"),
        (
            broken("manifest.json", lambda data: data.replace(b'"format": 1', b'"format": 2')),
            "format",
        ),
        (broken("manifest.json", lambda data: data.replace(b"r-2026", b"../026")), "pattern"),
        (
            broken("manifest.json", lambda d: d.replace(b'"complete"', b'"recording"')),
            "recorded elsewhere",
        ),
        (without("samples/000002.parquet"), "cannot be read"),
        (without("events/000002.jsonl"), "cannot be read"),
        (broken("samples/000001.parquet", lambda data: data[:-9]), "cannot be read"),
        (broken("signals/000001.parquet", other_columns), "no column"),
        (broken("samples/000001.parquet", other_columns), "no column"),
        (broken("events/000001.jsonl", lambda _: b"{}\n"), "cannot be read"),
        (broken("events/000001.jsonl", lambda d: d + b" " * (1 << 21)), "more than"),
        (broken("samples/000001.parquet", lambda d: retyped(d, "seq", pa.int32())), "is int32"),
        (broken("signals/000001.parquet", lambda d: retyped(d, "roles", pa.utf8())), "is string"),
        (broken("samples/000001.parquet", many_rows), "rows"),
        (broken("manifest.json", lambda d: d.replace(b'"cpu_delay_ns"', b'"tid; drop"')), "fields"),
        (lambda f: {**f, "open/000004.frames": b"\x08\0\0\0notframe"}, "cannot be read"),
    ],
)
def test_broken_runs(
    tmp_path: Path, files: Files, change: Callable[[Files], Files], why: str
) -> None:
    changed = change(files)
    assert changed != files
    with pytest.raises(BadArchiveError, match=why):
        bring(tmp_path, compressed(plain_tar(changed)))


@pytest.mark.usefixtures("here")
def test_what_is_no_archive(tmp_path: Path, files: Files) -> None:
    good = compressed(plain_tar(files))
    for data, why in (
        (b"", "ends too early"),
        (b"hello, this is no archive" * 100, "not compressed by zstd"),
        (compressed(b"x" * 4096), "not a tar"),
        (good[: len(good) // 2], "too early|damaged"),
        (compressed(plain_tar(files)[:5000]), "too early"),
    ):
        with pytest.raises(BadArchiveError, match=why):
            bring(tmp_path, data)


@pytest.mark.usefixtures("here")
def test_bounds(tmp_path: Path, files: Files) -> None:
    good = compressed(plain_tar(files))
    for bounds, why in (
        (Bounds(max_bytes=2000), "at most"),
        (Bounds(max_files=3), "more than 3 files"),
        (Bounds(max_manifest_bytes=100), "manifest.json has"),
    ):
        with pytest.raises(BadArchiveError, match=why):
            bring(tmp_path, good, bounds)
    bomb = compressed(plain_tar({**files, "open/000009.frames": b"\0" * (1 << 24)}))
    assert len(bomb) < 1 << 16
    with pytest.raises(BadArchiveError, match="far more"):
        bring(tmp_path, bomb, Bounds(free_ratio=1 << 20, max_ratio=100))


def test_packing_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(pack_run(tmp_path / "nowhere"))


@pytest.mark.usefixtures("here")
def test_what_a_killed_import_left_is_removed_later(tmp_path: Path, files: Files) -> None:
    runs = tmp_path / "runs"
    for name in (".import-old", ".import-young"):
        (runs / name / "samples").mkdir(parents=True)
    (runs / ".import-old.tar.zst").write_bytes(b"x")
    day_ago = time.time() - 90_000
    for path in (runs / ".import-old", runs / ".import-old.tar.zst"):
        os.utime(path, (day_ago, day_ago))
    made = bring(tmp_path, compressed(plain_tar(files)))
    assert {path.name for path in runs.iterdir()} == {made, ".import-young"}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a good run that has ended."""
    source = tmp_path_factory.mktemp("source")
    return files_of(source / write_run(source).id)


@pytest.fixture(scope="module", params=[True, False], ids=["sealed", "open"])
def sealed_or_open_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Files:
    """The files of a good run, whose parts are sealed or whose last one is still open."""
    source = tmp_path_factory.mktemp("source")
    files = files_of(source / write_run(source, ended=request.param).id)
    cut = changed_manifest(lambda m: m.update(state="interrupted", end="backend-lost"))
    return files if request.param else cut(files)


def test_a_good_run_is_what_it_was_with_its_parts_sealed(
    tmp_path: Path, sealed_or_open_files: Files
) -> None:
    manifest, written = rewrite(tmp_path, archive_of(sealed_or_open_files))
    assert manifest.imported
    assert manifest.counts.frames == 25
    assert not [name for name in written if name.startswith("open/")]
    assert {"samples/000001.parquet", "signals/000001.parquet", "threads.parquet"} <= set(written)
    same = set(sealed_or_open_files) & set(written) - {"manifest.json"}
    assert {name: written[name] for name in same} == {
        name: sealed_or_open_files[name] for name in same
    }


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
def test_names_out_of_place_are_refused(
    tmp_path: Path, sealed_or_open_files: Files, name: str, why: str
) -> None:
    with pytest.raises(BadArchiveError, match=why):
        rewrite(tmp_path, compressed(plain_tar(sealed_or_open_files, member(name))))


def test_more_than_the_bounds_allow_is_refused(tmp_path: Path, sealed_or_open_files: Files) -> None:
    data = archive_of(sealed_or_open_files)
    total = sum(map(len, sealed_or_open_files.values()))
    assert rewrite(tmp_path, data, Bounds(max_bytes=2 * total))[0].imported
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(BadArchiveError):
        rewrite(other, data, Bounds(max_bytes=total // 2))


def test_an_archive_that_ends_early_is_refused(tmp_path: Path, sealed_or_open_files: Files) -> None:
    with pytest.raises(BadArchiveError):
        rewrite(tmp_path, compressed(plain_tar(sealed_or_open_files)[:700]))
