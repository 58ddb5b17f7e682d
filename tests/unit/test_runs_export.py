"""A run leaves as an archive, a Parquet file or text, and comes back from the archive."""

import csv
import io
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_archives import import_without_process
from scripted_run import FIELDS, FRAMES, append, time_ns, write_run
from tidscope_backend.exchange.formats import KEYS, as_csv, as_parquet
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.recording.sealing import seal_part
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.part_files import write_table
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import RunManifest

NAMES = ("main", "worker-1", "worker-2")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    import_without_process(monkeypatch)


def archive_of(path: Path) -> Path:
    archive = path.with_suffix(".tar.zst")
    archive.write_bytes(b"".join(pack_run(path)))
    return archive


def members(archive: Path) -> dict[str, bytes]:
    with (
        pa.CompressedInputStream(pa.OSFile(str(archive)), "zstd") as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        found = {}
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
    return found


def same(one: Path, other: Path) -> None:
    """Two runs hold the same."""
    a, b = RunReader(one), RunReader(other)
    assert a.samples().equals(b.samples())
    assert a.signals().equals(b.signals())
    assert a.events() == b.events()
    assert a.threads().equals(b.threads())


def test_there_and_back(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    manifest = write_run(here)
    archive = archive_of(here / manifest.id)
    reported = members(archive)
    assert {name.partition("/")[0] for name in reported} == {manifest.id}
    assert len(reported) == 2 + 3 * 3
    back = import_run(archive, there, lambda _: False)
    same(here / manifest.id, there / manifest.id)
    bytes_now = RunFolder(here / manifest.id).bytes()
    assert back.imported
    assert back == manifest.model_copy(
        update={
            "imported": True,
            "host": manifest.host.model_copy(update={"connected": False}),
            # The content is counted; claims are ignored.
            "counts": manifest.counts.model_copy(
                update={"bytes": back.counts.bytes, "frames": FRAMES, "events": 3}
            ),
        }
    )
    assert abs(back.counts.bytes - bytes_now) < 100
    assert RunFolder(there / manifest.id).read_manifest() == back
    assert [path.name for path in there.iterdir()] == [manifest.id]


@pytest.mark.usefixtures("here")
def test_a_second_copy_gets_an_id_of_its_own(tmp_path: Path) -> None:
    manifest = write_run(tmp_path)
    archive = archive_of(tmp_path / manifest.id)
    taken = {manifest.id}
    second = import_run(archive, tmp_path, taken.__contains__)
    assert second.id != manifest.id
    assert RunReader(tmp_path / second.id).manifest.id == second.id
    same(tmp_path / manifest.id, tmp_path / second.id)


@pytest.mark.usefixtures("here")
def test_a_run_that_is_being_recorded_is_packed_up_to_here(tmp_path: Path) -> None:
    manifest = write_run(tmp_path / "here", ended=False)
    folder = RunFolder(tmp_path / "here" / manifest.id)
    with folder.open_part(3).open("ab") as file:
        file.write(b"\xff\0\0\0half a frame")
    archive = archive_of(folder.path)
    assert f"{manifest.id}/open/000003.frames" in members(archive)
    (tmp_path / "there").mkdir()
    back = import_run(archive, tmp_path / "there", lambda _: False)
    assert (back.state, back.end, back.to_ns) == ("interrupted", "stopped", time_ns(FRAMES))
    assert "while it was being recorded" in back.end_detail
    same(folder.path, tmp_path / "there" / manifest.id)


@pytest.mark.usefixtures("here")
def test_a_part_that_is_closed_while_it_is_packed(tmp_path: Path) -> None:
    manifest = write_run(tmp_path / "here", ended=False)
    folder = RunFolder(tmp_path / "here" / manifest.id)
    whole = RunReader(folder.path).samples()
    stream = pack_run(folder.path)
    chunks = [next(stream)]
    seal_part(folder, 3)
    append(folder, 4, range(31, 33))
    chunks += stream
    archive = tmp_path / "archive"
    archive.write_bytes(b"".join(chunks))
    (tmp_path / "there").mkdir()
    import_run(archive, tmp_path / "there", lambda _: False)
    back = RunReader(tmp_path / "there" / manifest.id)
    assert back.samples().num_rows == whole.num_rows
    assert back.events() == RunReader(folder.path).events()


def test_one_parquet_file(tmp_path: Path) -> None:
    manifest = write_run(tmp_path, ended=False)
    data = b"".join(as_parquet(tmp_path / manifest.id))
    file = pq.ParquetFile(io.BytesIO(data))
    table = file.read()
    assert table.column_names == [*KEYS, *FIELDS]
    assert table.num_rows == RunReader(tmp_path / manifest.id).samples().num_rows
    main = [row for row in table.to_pylist() if row["tid"] == 100]
    assert [row["cpu_run_ns"] for row in main] == [seq * 50_000_000 for seq in range(1, FRAMES + 1)]
    assert [row["time_ns"] for row in main] == [time_ns(seq) for seq in range(1, FRAMES + 1)]
    assert {row["role"] for row in table.to_pylist()} == {"main", "worker-#"}
    assert all(row["cpu_delay_ns"] is None for row in table.to_pylist() if row["tid"] == 101)
    reported = RunManifest.model_validate_json(file.schema_arrow.metadata[b"tidscope.manifest"])
    assert reported == manifest


def test_text(tmp_path: Path) -> None:
    manifest = write_run(tmp_path)
    rows = list(csv.reader(b"".join(as_csv(tmp_path / manifest.id)).decode().splitlines()))
    assert rows[0] == [*KEYS, *FIELDS]
    samples = RunReader(tmp_path / manifest.id).samples()
    assert len(rows) == 1 + samples.num_rows
    named = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [int(row["seq"]) for row in named] == sorted(int(row["seq"]) for row in named)
    once = [row for row in named if row["name"] == "worker-1" and row["seq"] == "16"]
    assert [(row["cpu_run_ns"], row["cpu_delay_ns"]) for row in once] == [("87000000", "")]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_in_csv_is_a_formula(tmp_path: Path, start: str) -> None:
    manifest = write_run(tmp_path)
    folder = RunFolder(tmp_path / manifest.id)
    threads = pq.read_table(folder.threads)
    for column in ("name", "role"):
        hostile = [f"{start}{name}" for name in threads[column].to_pylist()]
        place = threads.column_names.index(column)
        threads = threads.set_column(place, column, pa.array(hostile, pa.utf8()))
    write_table(folder.threads, threads)
    rows = list(csv.DictReader(io.StringIO(b"".join(as_csv(folder.path)).decode(), newline="")))
    assert {row["name"] for row in rows} == {f"'{start}{name}" for name in NAMES}
    assert {row["role"] for row in rows} == {f"'{start}main", f"'{start}worker-#"}
    # A negative number stays one.
    assert {row["start_ns"] for row in rows if row["tid"] == "100"} == {"-1000"}
