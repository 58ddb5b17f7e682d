"""Archives made to exhaust, to deceive or to come alive, against the real processes."""

import asyncio
import io
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backend_builders import frame_bytes, target
from backend_server import TOKEN
from run_archives import (
    DECEIVING,
    SAMPLES,
    Change,
    Files,
    archive_of,
    changed_manifest,
    files_of,
    read_table,
    table_bytes,
)
from run_harness import RunHarness
from scripted_run import FIELDS, script, time_ns, write_run
from tidscope_backend.cli import main
from tidscope_backend.exchange.confinement import DEFAULT_LIMITS
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.unpacking import BadArchiveError
from tidscope_backend.notebook import open_run
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import pack_frame
from tidscope_confinement import landlock
from tidscope_processes import free_port, served
from tidscope_wire.frame import LENGTH, split
from tidscope_wire.generated.models import Target

MIB = 2**20
CHILD_MIB = DEFAULT_LIMITS.memory_bytes // MIB
"""Resident memory of the limited process: less than its address space may have."""
BACKEND_MIB = 120
"""Maximum growth of the backend, whatever it receives."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    source = tmp_path_factory.mktemp("source")
    return files_of(source / write_run(source).id)


def long_name(files: Files) -> Files:
    """64 rows that share one name of 64 MiB: 4 GiB once the dictionary is resolved."""
    table = read_table(files["samples/000001.parquet"])
    indices = pa.array([0] * 64, pa.int32())
    name = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * (64 * MIB)]))
    many = table.take(pa.array([0] * 64))
    place = table.column_names.index("name")
    return {
        **files,
        "samples/000001.parquet": table_bytes(many.set_column(place, "name", name)),
    }


def many_short_rows(files: Files) -> Files:
    """A million rows whose name of 4 KiB stands once in the file."""
    table = read_table(files["samples/000001.parquet"])
    count = 1_000_000
    name = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["y" * 4096]))
    many = table.take(pa.array([0] * count))
    place = table.column_names.index("name")
    return {
        **files,
        "samples/000001.parquet": table_bytes(many.set_column(place, "name", name)),
    }


def promised_rows(files: Files) -> Files:
    """A footer that promises 2**40 rows (thrift's compact protocol, field 3 of FileMetaData)."""
    data = files["signals/000001.parquet"]
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    rows = len(read_table(data))
    old = b"\x16" + bytes([2 * rows]) + b"\x19"
    assert footer.count(old) == 1
    footer = footer.replace(old, b"\x16" + varint(2**41) + b"\x19")
    changed = data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    assert pq.read_metadata(io.BytesIO(changed)).num_rows == 2**40
    return {**files, "signals/000001.parquet": changed}


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def thrift_bomb(files: Files) -> Files:
    """A footer whose schema claims two thousand million elements."""
    footer = b"\x15\x02\x19\xfc" + varint(2**31 - 1) + b"\0" * 64
    data = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    return {**files, "samples/000001.parquet": data}


def thrift_string_bomb(files: Files) -> Files:
    """A footer whose first schema element has a name of two gigabytes."""
    footer = b"\x15\x02\x19\x1c\x48" + varint(2**31 - 1) + b"\0" * 64
    data = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    return {**files, "samples/000001.parquet": data}


def compressed_frame(files: Files) -> Files:
    """An open part with one frame of kilobytes that holds fifty million rows."""
    count = 50_000_000
    header, _ = split(script(1))
    fields = [("tid", pa.uint32()), ("start_ns", pa.int64()), ("name", pa.utf8())]
    schema = pa.schema([*fields, *((name, pa.uint64()) for name in FIELDS)])
    arrays = [
        pa.repeat("" if one.name == "name" else pa.scalar(0, one.type), count) for one in schema
    ]
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))
    text = header.model_copy(update={"rows": count}).model_dump_json().encode()
    padding = -(LENGTH.size + len(text)) % 8
    frame = LENGTH.pack(len(text) + padding) + text + b" " * padding + bytes(sink.getvalue())
    assert len(frame) < MIB
    return {**files, "open/000004.frames": pack_frame(frame)}


def deep(name: str) -> Change:
    return lambda files: {**files, name: b"[" * 500_000}


def deep_member(files: Files) -> Files:
    text = files["manifest.json"].replace(b'"notes": ""', b'"notes": ' + b'{"a":' * 100_000)
    return {**files, "manifest.json": text}


BOMBS: dict[str, Change] = {
    "a long name in a dictionary": long_name,
    "many rows of one name": many_short_rows,
    "a footer that promises rows": promised_rows,
    "a footer that promises columns": thrift_bomb,
    "a footer that promises a string": thrift_string_bomb,
    "a frame that is compressed inside": compressed_frame,
    "a manifest of brackets": deep("manifest.json"),
    "a manifest with a deep member": deep_member,
    "an event of brackets": deep("events/000001.jsonl"),
}

MAX_SENT = 4
"""The most expensive of these archives, over HTTP."""

MEASURED = """
import json, resource, sys
from pathlib import Path
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.unpacking import BadArchiveError
found = []
for archive in sys.argv[2:]:
    try:
        import_run(Path(archive), Path(sys.argv[1]), lambda _: False)
    except BadArchiveError as error:
        found.append(str(error))
    else:
        found.append(None)
def kib(text):
    return int(text.split("VmHWM:")[1].split()[0])
print(json.dumps({
    "found": found,
    "own": kib(Path("/proc/self/status").read_text()) // 1024,
    "child": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
}))
"""


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory, files: Files) -> list[Path]:
    folder = tmp_path_factory.mktemp("bombs")
    made = []
    for number, change in enumerate(BOMBS.values()):
        path = folder / f"{number}.tar.zst"
        path.write_bytes(archive_of(change(files)))
        assert path.stat().st_size < MIB, list(BOMBS)[number]
        made.append(path)
    return made


def test_bombs_do_not_get_the_memory_that_they_want(tmp_path: Path, bombs: list[Path]) -> None:
    """None comes in, the process that unpacks stays within its limit, and the other one small."""
    runs = tmp_path / "runs"
    runs.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(runs), *map(str, bombs)],
        check=True,
        capture_output=True,
    )
    reported = json.loads(done.stdout)
    assert None not in reported["found"], dict(zip(BOMBS, reported["found"], strict=True))
    assert reported["child"] < CHILD_MIB, reported
    assert reported["own"] < BACKEND_MIB, reported
    assert list(runs.iterdir()) == []


async def test_the_backend_stays_small_and_answers_while_it_is_bombed(
    tmp_path: Path, bombs: list[Path]
) -> None:
    port = free_port()
    async with served(port, TIDSCOPE_RUNS=str(tmp_path / "runs")) as process:
        before = peak_mib(process.pid)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            asyncio.timeout(240),
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=240
            ) as client,
        ):
            for bomb in bombs[:MAX_SENT]:
                answer = await client.post("/api/v1/runs/import", content=bomb.read_bytes())
                assert answer.status_code == 422, answer.text
                assert (await client.get("/api/v1/health")).status_code == 200
        assert peak_mib(process.pid) - before < BACKEND_MIB
    assert list((tmp_path / "runs").iterdir()) == []


def peak_mib(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) // 1024


def test_an_import_ends_at_its_limits(tmp_path: Path, files: Files) -> None:
    """Whatever the archive makes it do: wall-clock time, CPU time, size of a file, memory."""
    archive = tmp_path / "archive"
    archive.write_bytes(archive_of(files))
    runs = tmp_path / "runs"
    runs.mkdir()
    for limit in ({"wall_s": 0.01}, {"cpu_s": 0}, {"memory_bytes": 128 * MIB}):
        limits = DEFAULT_LIMITS._replace(**limit)
        with pytest.raises(BadArchiveError, match="takes more"):
            import_run(archive, runs, lambda _: False, limits=limits)
    with pytest.raises(OSError, match="File too large"):
        limits = DEFAULT_LIMITS._replace(file_bytes=512)
        import_run(archive, runs, lambda _: False, limits=limits)
    assert list(runs.iterdir()) == []


PROBE = """
import os, socket, subprocess, sys
from pathlib import Path
from tidscope_backend.exchange.confinement import confine
mine, other = Path(sys.argv[1]), Path(sys.argv[2])
confine([Path("/usr/lib"), Path(sys.base_prefix)], mine)
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
print(attempt(lambda: (mine / "file").write_text("x")))
print(attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
print(attempt(lambda: socket.socket(socket.AF_UNIX)))
print(attempt(lambda: os.kill(os.getppid(), 0)))
print(attempt(lambda: os.execv("/bin/true", ["true"])))
print(attempt(os.fork))
print(attempt(lambda: (other / "secret").read_text()))
print(attempt(lambda: (other / "file").write_text("x")))
"""


def test_who_imports_has_no_network_no_programs_and_one_folder(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    (other / "secret").write_text("s")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(mine), str(other)],
        check=True,
        capture_output=True,
        text=True,
    )
    wrote, *refused, read, write = done.stdout.split()
    assert (wrote, refused) == ("done", ["PermissionError"] * 5)
    if landlock.abi():
        assert (read, write) == ("PermissionError", "PermissionError")


async def test_an_imported_run_is_never_resumed(tmp_path: Path) -> None:
    """The archive claims that its backend ended while it recorded a target that is live here."""
    source = tmp_path / "source"
    manifest = write_run(source, ended=False, target=live_target())
    open_run_of = files_of(source / manifest.id)
    crafted = json.loads(open_run_of["manifest.json"])
    crafted |= {"state": "interrupted", "end": "backend-lost", "imported": False}
    open_run_of["manifest.json"] = json.dumps(crafted).encode()
    archive = tmp_path / "archive"
    archive.write_bytes(archive_of(open_run_of))
    runs = tmp_path / "runs"
    runs.mkdir()
    back = import_run(archive, runs, lambda _: False)
    assert back.imported
    assert back.counts.frames == 25
    folder = RunFolder(runs / back.id)
    assert folder.open_parts() == []
    before = files_of(folder.path)
    harness = RunHarness(runs, targets=(live_target(),))
    await harness.start()
    try:
        await harness.written(frame_bytes(26, time_ns=time_ns(26)))
        await harness.advance()
        assert harness.recorder.recordings == []
    finally:
        await harness.stop()
    assert files_of(folder.path) == before


def live_target() -> Target:
    return target().model_copy(update={"fields": list(FIELDS)})


@pytest.mark.parametrize("what", DECEIVING)
def test_what_readers_could_not_bear_does_not_come_in(
    tmp_path: Path, files: Files, what: str
) -> None:
    change, why = DECEIVING[what]
    changed = change(files)
    assert changed != files
    archive = tmp_path / "archive"
    archive.write_bytes(archive_of(changed))
    runs = tmp_path / "runs"
    runs.mkdir()
    with pytest.raises(BadArchiveError, match=why):
        import_run(archive, runs, lambda _: False)
    assert list(runs.iterdir()) == []


def test_no_byte_of_the_archive_is_read_by_anybody_else(
    tmp_path: Path, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Foreign columns, schemas, metadata and a false thread table stay outside."""
    samples = read_table(files[SAMPLES])
    extended = samples.append_column("evil", pa.array([b"p4yl04d"] * len(samples)))
    extended = extended.replace_schema_metadata({"evil": "p4yl04d"})
    threads = read_table(files["threads.parquet"])
    threads = threads.set_column(2, "name", pa.array(["p4yl04d"] * len(threads)))
    changed = {
        **files,
        SAMPLES: table_bytes(extended, store_schema=True),
        "threads.parquet": table_bytes(threads),
    }
    archive = tmp_path / "archive"
    archive.write_bytes(archive_of(changed))
    runs = tmp_path / "runs"
    runs.mkdir()
    back = import_run(archive, runs, lambda _: False)
    assert b"p4yl04d" in archive_of(changed, packed=False)
    written = files_of(runs / back.id)
    assert [name for name, data in written.items() if b"p4yl04d" in data] == []
    # The run equals the original: written by the import from the decoded content.
    ours = {name for name in written if name != "manifest.json"}
    assert {name: written[name] for name in ours} == {name: files[name] for name in ours}
    run = open_run(runs / back.id)
    assert run.sql("SELECT count(*) AS n FROM samples")["n"].to_pylist() == [len(run.samples())]
    assert main(["runs", "--runs-dir", str(runs), "list"]) == 0
    assert back.id in capsys.readouterr().out


def test_what_is_missing_is_said_whatever_the_archive_claims(tmp_path: Path, files: Files) -> None:
    lossy = changed_manifest(lambda m: m["losses"].update(frames=7, gaps=1))(files)
    archive = tmp_path / "archive"
    archive.write_bytes(archive_of(lossy))
    runs = tmp_path / "runs"
    runs.mkdir()
    assert import_run(archive, runs, lambda _: False).state == "incomplete"
