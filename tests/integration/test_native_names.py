"""Native frames of running programs get the names, lines and inlined functions of their sources."""

import io
import lzma
import mmap
import os
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from capabilities import missing, needs
from elftools.elf.elffile import ELFFile
from processes import start_ticks, wait_until
from programs.hanging import HangingDisk
from programs.placed import (
    OPTIMIZED,
    Placed,
    build_generic,
    build_placed,
    build_template,
    by_build_id,
    debug_copy,
    frame_at,
    mapped,
    own_frames,
    read_file,
    run,
    stripped_copy,
)
from tidscope_collector.confinement.children import LimitedChildren
from tidscope_collector.confinement.fork_server import OPENING
from tidscope_collector.inspection import asking, native_name_answers
from tidscope_collector.inspection.answering import Places
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.confined_reading import read_confined
from tidscope_collector.inspection.native_name_answers import (
    Named,
    NamesAnswer,
    Place,
    ask_native_names,
)
from tidscope_collector.symbols.frames import NativeFrame
from tidscope_collector.symbols.symbols import Symbols
from tidscope_confinement import capabilities

PLACED_C = str(Path(__file__).parents[1] / "programs" / "placed.c")
PLAIN = Place("plain", PLACED_C, 28)
INLINED = Named(
    Place("outer", PLACED_C, 23),
    (Place("middle", PLACED_C, 18), Place("inner", PLACED_C, 12)),
)


@pytest.fixture
def debug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The host's folder of debug files, for children of this test."""
    folder = tmp_path / "debug"
    folder.mkdir()
    made = asking.make_children(Places(debug=str(folder)))
    monkeypatch.setattr(asking, "children", lambda: made)
    yield folder
    made.close()


def answer(frame: NativeFrame, *more: int) -> NamesAnswer:
    asked = [frame.address, *more]
    return ask_native_names(frame.pid, frame.start_ticks, frame.module, frame.build_id, asked)


def name(frame: NativeFrame) -> Named:
    return answer(frame).names[frame.address]


def function(frame: NativeFrame) -> str:
    return name(frame).outer.function


@pytest.mark.parametrize(
    "flags", [("-pie", "-fPIE"), ("-no-pie",), ("-static",), ("-static-pie", "-fPIE")]
)
def test_lines_and_inlined_functions_are_those_of_the_source(flags: tuple[str, ...]) -> None:
    with Placed(build_placed(*OPTIMIZED, *flags)) as program:
        frames = {one: frame_at(program.pid, at) for one, at in program.places.items()}
        assert name(frames["inlined"]) == INLINED
        assert name(frames["plain"]) == Named(PLAIN)


@pytest.mark.parametrize("form", ["-gdwarf-4", "-gdwarf-5", "-gz"])
def test_forms_of_dwarf(form: str) -> None:
    with Placed(build_placed("-O2", "-g", form)) as program:
        assert name(frame_at(program.pid, program.places["inlined"])) == INLINED


def test_split_dwarf_leaves_function_and_line(tmp_path: Path) -> None:
    with Placed(build_placed("-O2", "-g", "-gsplit-dwarf")) as program:
        found = name(frame_at(program.pid, program.places["plain"]))
    assert found.outer.function == "plain"
    assert found.outer.line == 28


def test_names_of_templates_and_lambdas_are_readable() -> None:
    with Placed(build_template(*OPTIMIZED)) as program:
        found = name(frame_at(program.pid, program.places["template"]))
    assert found.outer.function.startswith("bank::Pool<std::")
    assert "7>::take(" in found.outer.function
    assert found.outer.line == 18
    assert [one.line for one in found.inlined] == [16]


def test_names_of_rust_have_no_hash() -> None:
    with Placed(build_generic()) as program:
        found = name(frame_at(program.pid, program.places["generic"]))
    assert found.outer.function.startswith("main::bank::transfer")
    assert found.outer.function.rstrip(">") in (
        *("main::bank::transfer", "main::bank::transfer::<u32"),
        "main::bank::transfer<u32",
    )
    assert found.outer.file.endswith("placed_rust/main.rs")


def test_without_dwarf_there_are_names(tmp_path: Path) -> None:
    copy = stripped_copy(build_placed(*OPTIMIZED), tmp_path, "--strip-debug")
    with Placed(copy) as program:
        found = name(frame_at(program.pid, program.places["inlined"]))
    assert found == Named(Place("outer", "", 0))


def test_a_stripped_program_keeps_its_frames_and_says_why(tmp_path: Path) -> None:
    with Placed(stripped_copy(build_placed(*OPTIMIZED), tmp_path)) as program:
        frame = frame_at(program.pid, program.places["plain"])
        symbols = Symbols()
        symbols.ask({5: frame})
        assert symbols.join(60)
        (found,) = symbols.take().values()
    assert found.place == Place("", "", 0)
    assert found.reason == "placed is stripped. Install its debug symbols, or do not strip it."
    assert symbols.reasons() == {"placed": found.reason}
    symbols.close()


def test_a_debug_file_is_found_by_its_build_id(tmp_path: Path, debug: Path) -> None:
    program = build_placed(*OPTIMIZED)
    debug_copy(program, debug / by_build_id(read_file(program).build_id))
    with Placed(stripped_copy(program, tmp_path)) as running:
        frame = frame_at(running.pid, running.places["inlined"])
        assert name(frame) == INLINED
        # The debug file of another program is not believed.
        other = build_placed("-O1", "-g")
        debug_copy(other, debug / by_build_id(frame.build_id))
        assert answer(frame).names == {}


@pytest.mark.parametrize("place", ["{}", ".debug/{}"])
@pytest.mark.parametrize("flags", [(), ("-Wl,--build-id=none",)])
def test_a_debug_file_is_found_by_its_link(
    tmp_path: Path, place: str, flags: tuple[str, ...]
) -> None:
    program = build_placed(*OPTIMIZED, *flags)
    copy = stripped_copy(program, tmp_path)
    other = debug_copy(program, tmp_path / place.format("linked.debug"))
    run("objcopy", f"--add-gnu-debuglink={other}", copy)
    with Placed(copy) as running:
        frame = frame_at(running.pid, running.places["inlined"])
        assert name(frame) == INLINED
        # Neither build ID nor checksum are those of the link.
        debug_copy(build_placed("-O1", "-g", *flags), other)
        assert answer(frame).names == {}


def test_a_debug_file_may_refer_to_a_shared_one(tmp_path: Path, debug: Path) -> None:
    if shutil.which("dwz") is None:
        raise missing("dwz")
    # dwz shares what two files have in common, and is worth a file only if that is much.
    programs = [build_template(*OPTIMIZED), build_template("-O1", "-g")]
    files = [debug_copy(one, tmp_path / f"{at}.debug") for at, one in enumerate(programs)]
    shared = debug / ".dwz" / "shared.debug"
    shared.parent.mkdir()
    run("dwz", "-m", shared, "-M", "/usr/lib/debug/.dwz/shared.debug", *files)
    with files[0].open("rb") as opened:
        assert ELFFile(opened).get_section_by_name(".gnu_debugaltlink") is not None
    build_id = read_file(programs[0]).build_id
    (debug / by_build_id(build_id)).parent.mkdir(parents=True)
    shutil.copy(files[0], debug / by_build_id(build_id))
    with Placed(stripped_copy(programs[0], tmp_path)) as running:
        frame = frame_at(running.pid, running.places["template"])
        found = name(frame)
        assert found.outer.function.startswith("bank::Pool<std::")
        assert [one.line for one in (found.outer, *found.inlined)] == [18, 16]


def test_a_compressed_symbol_table_is_read(tmp_path: Path) -> None:
    program = build_placed(*OPTIMIZED)
    table = tmp_path / "table"
    run("objcopy", "--strip-debug", "--only-keep-debug", program, table)
    packed = tmp_path / "packed"
    packed.write_bytes(lzma.compress(table.read_bytes()))
    copy = stripped_copy(program, tmp_path)
    run("objcopy", "--add-section", f".gnu_debugdata={packed}", copy)
    with Placed(copy) as running:
        frame = frame_at(running.pid, running.places["inlined"])
        assert name(frame) == Named(Place("outer", "", 0))


def test_a_prelinked_program_has_other_addresses_than_its_debug_file(
    tmp_path: Path, debug: Path
) -> None:
    program = build_placed(*OPTIMIZED, "-pie", "-fPIE")
    build_id = read_file(program).build_id
    debug_copy(program, debug / by_build_id(build_id))
    copy = stripped_copy(program, tmp_path)
    with Placed(program) as running:
        address = frame_at(running.pid, running.places["inlined"]).address
    moved = 0x41_0000_0000
    with copy.open("r+b") as opened:
        elf = ELFFile(opened)
        head, size = elf["e_phoff"], elf["e_phentsize"]
        for at, segment in enumerate(elf.iter_segments()):
            if segment["p_type"] == "PT_LOAD":
                opened.seek(head + at * size + 16)
                opened.write((segment["p_vaddr"] + moved).to_bytes(8, "little"))
    with mapped(copy):
        (frame,) = own_frames(copy, [address + moved])
        assert name(frame) == INLINED


@needs("root")
@pytest.mark.parametrize("then", ["replaced", "deleted", "renamed"])
def test_the_mapped_file_is_read_whatever_became_of_its_path(tmp_path: Path, then: str) -> None:
    program = build_placed(*OPTIMIZED)
    copy = tmp_path / "program"
    shutil.copy(program, copy)
    with Placed(copy) as running:
        frame = frame_at(running.pid, running.places["inlined"])
        if then == "renamed":
            copy.rename(tmp_path / "other")
        else:
            copy.unlink()
        if then == "replaced":
            shutil.copy(build_placed("-O1", "-g"), copy)
        assert name(frame) == INLINED


@needs("root")
def test_a_replaced_file_is_noticed_by_its_build_id(tmp_path: Path, debug: Path) -> None:
    """Without CAP_CHECKPOINT_RESTORE the mapped file is out of reach."""
    children = asking.children()
    left = OPENING - {capabilities.CHECKPOINT_RESTORE}
    children.keep(left)
    wait_until(lambda: _capabilities(children) == sum(1 << one for one in left))
    copy = tmp_path / "program"
    shutil.copy(build_placed(*OPTIMIZED), copy)
    with Placed(copy) as running:
        frame = frame_at(running.pid, running.places["inlined"])
        assert name(frame) == INLINED
        copy.unlink()
        shutil.copy(build_placed("-O1", "-g"), copy)
        found = answer(frame)
        assert (found.missing, found.names) == ("replaced", {})
        # The debug file of the old program is as good.
        debug_copy(build_placed(*OPTIMIZED), debug / by_build_id(frame.build_id))
        assert name(frame) == INLINED


def _capabilities(children: LimitedChildren) -> int:
    status = Path(f"/proc/{children.pid}/status").read_text()
    return int(status.partition("CapPrm:")[2].split()[0], 16)


@needs("root")
def test_files_are_those_of_the_mount_namespace(tmp_path: Path) -> None:
    program = build_placed(*OPTIMIZED, "-static")
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    inside = stripped_copy(program, root / "bin")
    frames = []
    ready = tmp_path / "ready"
    # The file exists in that namespace alone, and so does its debug file, behind a link.
    script = (
        f"mount -t tmpfs none {root} && mkdir -p {root}/bin {root}/usr/lib/debug/real &&"
        f" cp {ready}/program {root}/bin/inside && cp {ready}/debug {root}/usr/lib/debug/real/it &&"
        f" mkdir -p $(dirname {root}/usr/lib/debug/$1) &&"
        f" ln -s ../../real/it {root}/usr/lib/debug/$1 && exec chroot {root} /bin/inside"
    )
    ready.mkdir()
    shutil.copy(inside, ready / "program")
    build_id = read_file(program).build_id
    debug_copy(program, ready / "debug")
    command = ["unshare", "-m", "sh", "-c", script, "sh", by_build_id(build_id)]
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        raise missing("mount-namespace")
    with Placed(*command) as running:
        frames = [frame_at(running.pid, at, program) for at in running.places.values()]
        assert not (root / "usr").exists()
        assert {function(one) for one in frames} == {"outer", "plain"}
        assert name(frames[0]) == INLINED


def test_the_kernels_library_has_names() -> None:
    pid = os.getpid()
    code = """if True:
        import ctypes
        begin, end = next(x for x in open("/proc/self/maps") if "[vdso]" in x).split()[0].split("-")
        begin, end = int(begin, 16), int(end, 16)
        open(1, "wb").write(ctypes.string_at(begin, end - begin))
    """
    vdso = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    elf = ELFFile(io.BytesIO(vdso))
    notes = [one for one in elf.iter_segments("PT_NOTE") for one in one.iter_notes()]
    build_id = next(one["n_desc"] for one in notes if one["n_type"] == "NT_GNU_BUILD_ID")
    symbols = elf.get_section_by_name(".dynsym")
    address = symbols.get_symbol_by_name("__vdso_clock_gettime")[0]["st_value"]
    frame = NativeFrame(pid, start_ticks(pid), "linux-vdso.1.so", build_id, address + 1)
    assert "clock_gettime" in function(frame)
    assert function(frame._replace(build_id="")) == function(frame)
    assert answer(frame._replace(build_id="ab" * 20)).missing == "gone"


def test_what_is_mapped_nowhere_is_said(tmp_path: Path) -> None:
    pid = os.getpid()
    frame = NativeFrame(pid, start_ticks(pid), "nowhere.so", "ab" * 20, 1)
    assert answer(frame).missing == "gone"
    first, second = (tmp_path / at for at in ("first", "second"))
    for folder in (first, second):
        folder.mkdir()
        shutil.copy(build_placed(*OPTIMIZED, "-Wl,--build-id=none"), folder / "same")
    with mapped(first / "same"), mapped(second / "same"):
        assert answer(frame._replace(module="same", build_id="")).missing == "ambiguous"


def _damaged(data: bytes, chance: random.Random, parts: Mapping[str, tuple[int, int]]) -> bytes:
    """Change bytes of the sections that are read, or of the headers."""
    made = bytearray(data)
    begin, size = chance.choice(list(parts.values()))
    for _ in range(chance.randrange(1, 40)):
        made[begin + chance.randrange(size)] = chance.randrange(256)
    return bytes(made)


def test_hostile_files_end_the_child_at_most(tmp_path: Path) -> None:
    program = build_placed(*OPTIMIZED)
    with Placed(program) as running:
        frame = frame_at(running.pid, running.places["inlined"])
    data = program.read_bytes()
    with program.open("rb") as opened:
        elf = ELFFile(opened)
        parts = {
            section.name: (section["sh_offset"], section["sh_size"])
            for section in elf.iter_sections()
            if section.name.startswith((".debug", ".sym", ".str", ".shstr", ".note"))
        }
        parts["sections"] = (elf["e_shoff"], elf["e_shnum"] * elf["e_shentsize"])
        parts["head"] = (0, 64 + elf["e_phnum"] * elf["e_phentsize"])
    chance = random.Random(29)
    named = 0
    for number in range(60):
        copy = tmp_path / f"hostile{number}"
        copy.write_bytes(_damaged(data, chance, parts))
        with mapped(copy):
            asked = own_frames(program, [frame.address])[0]._replace(module=copy.name)
            try:
                found = answer(asked, *chance.sample(range(1 << 20), 20))
            except NoAnswerError:
                continue
            named += bool(found.names)
    assert named > 10
    with mapped(program):
        assert name(own_frames(program, [frame.address])[0]) == INLINED


def _with_packed(program: Path, folder: Path, name: str, size: int, content: bytes) -> Path:
    """Copy a program with another section that says it is compressed, and its size."""
    made, section = folder / "huge", folder / "section"
    head = b"".join(one.to_bytes(8, "little") for one in (1, size, 1))  # ELFCOMPRESS_ZLIB
    section.write_bytes(head + zlib.compress(content))
    run("objcopy", "--update-section", f"{name}={section}", program, made)
    with made.open("r+b") as opened:
        elf = ELFFile(opened)
        at = elf.get_section_index(name)
        flags = elf.get_section(at)["sh_flags"] | 0x800  # SHF_COMPRESSED
        opened.seek(elf["e_shoff"] + at * elf["e_shentsize"] + 8)
        opened.write(flags.to_bytes(8, "little"))
    return made


@pytest.mark.parametrize("size", [900 << 20, 1 << 40])
def test_dwarf_that_is_too_large_leaves_the_symbol_table(tmp_path: Path, size: int) -> None:
    program = build_placed(*OPTIMIZED)
    with Placed(program) as running:
        frame = frame_at(running.pid, running.places["inlined"])
    made = _with_packed(program, tmp_path, ".debug_info", size, bytes(1 << 20))
    with mapped(made):
        found = answer(frame._replace(pid=os.getpid(), start_ticks=start_ticks(os.getpid())))
    assert found.names[frame.address] == Named(Place("outer", "", 0))


def test_dwarf_that_takes_all_memory_ends_the_child_once(tmp_path: Path) -> None:
    program = build_placed("-O2", "-gdwarf-4", "-ffunction-sections")
    with Placed(program) as running:
        frame = frame_at(running.pid, running.places["inlined"])
    # 20 million ranges of one unit: 320 MB, and more than the rest of the limit once they are read.
    count = 20_000_000
    ranges = ((1 << 20).to_bytes(8, "little") + (1 << 21).to_bytes(8, "little")) * count
    made = _with_packed(program, tmp_path, ".debug_ranges", 16 * count, ranges)
    own = frame._replace(pid=os.getpid(), start_ticks=start_ticks(os.getpid()))
    asked: list[bool] = []

    def ask(
        pid: int,
        start_ticks: int,
        module: str,
        build_id: str,
        addresses: Sequence[int],
        *,
        lines: bool,
    ) -> NamesAnswer:
        asked.append(lines)
        return ask_native_names(pid, start_ticks, module, build_id, addresses, lines=lines)

    symbols = Symbols(ask)
    with mapped(made):
        assert not answer(own).complete
        for number in range(2):
            symbols.ask({number: own._replace(address=own.address + number)})
            assert symbols.join(60)
            (found,) = symbols.take().values()
            assert (found.place, found.reason) == (Place("outer", "", 0), "")
    assert asked == [True, False]
    symbols.close()


def test_a_file_larger_than_the_address_space_is_not_read(tmp_path: Path) -> None:
    program = build_placed(*OPTIMIZED)
    with Placed(program) as running:
        frame = frame_at(running.pid, running.places["inlined"])
    copy = tmp_path / "sparse"
    shutil.copy(program, copy)
    os.truncate(copy, 40 << 30)
    own = os.getpid()
    with copy.open("rb") as opened:
        held = mmap.mmap(opened.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        asked = frame._replace(pid=own, start_ticks=start_ticks(own), module="sparse")
        assert answer(asked).names == {}
        held.close()


@needs("root")
def test_a_file_that_does_not_answer_costs_one_child(
    tmp_path: Path, debug: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HangingDisk(tmp_path / "disk") as disk, Placed(build_placed(*OPTIMIZED)) as other:
        good = frame_at(other.pid, other.places["plain"])
        program = subprocess.Popen([disk.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert program.stdout is not None
        program.stdout.readline()
        stuck = NativeFrame(program.pid, start_ticks(program.pid), "program", "ab", 0x1000)
        disk.hang()

        def ask(pid: int, *about: Any, **more: Any) -> NamesAnswer:
            # A good answer may take long on a busy machine.
            seconds = 2.0 if pid == program.pid else 60.0
            monkeypatch.setattr(native_name_answers, "DEADLINE_S", seconds)
            return ask_native_names(pid, *about, **more)

        symbols = Symbols(ask)
        symbols.ask({1: stuck, 2: good, 3: stuck._replace(address=0x2000)})
        early = symbols.take()
        assert 1 not in early, "asking waited for the file"
        assert symbols.join(60)
        found = early | symbols.take()
        assert found[2].place == PLAIN
        assert "do not answer" in found[1].reason
        symbols.ask({4: stuck._replace(address=0x3000)})
        assert symbols.join(60)
        assert symbols.take()[4].reason == f"Files of process {program.pid} do not answer."
        symbols.close()
        disk.answer()
        program.kill()
        program.communicate()


def test_only_children_load_what_parses(debug: Path) -> None:
    """Neither the fork server nor its keeper has the native readers in memory."""
    program = build_placed(*OPTIMIZED)
    with Placed(program) as running:
        assert name(frame_at(running.pid, running.places["inlined"])) == INLINED
    keeper = asking.children().pid
    children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    for pid in (keeper, *map(int, children)):
        maps = Path(f"/proc/{pid}/maps").read_text()
        assert "native.abi3" not in maps
        assert "multi_demangle" not in maps


def test_many_frames_of_this_interpreter() -> None:
    """Each symbol of the interpreter is named as its table has it, in few questions."""
    library = next(
        Path(line.split()[5])
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "r-xp" in line and "/libc.so" in line
    )
    with library.open("rb") as opened:
        table = ELFFile(opened).get_section_by_name(".dynsym")
        wanted = {
            one["st_value"] + 1: one.name
            for one in table.iter_symbols()
            if one["st_info"]["type"] == "STT_FUNC" and one["st_size"] > 1 and one["st_value"]
        }
    frames = own_frames(library, sorted(wanted)[:1500])
    symbols = Symbols()
    symbols.ask(dict(enumerate(frames)))
    assert symbols.join(60)
    found = symbols.take()
    symbols.close()
    named = [bool(found[number].place.function) for number in range(len(frames))]
    assert sum(named) >= 0.99 * len(frames)


def _open_a_file() -> None:
    os.open("/etc/hostname", os.O_RDONLY)


@pytest.mark.parametrize("attempt", [_open_a_file, os.fork, lambda: os.kill(1, 0)])
def test_headers_are_read_without_rights(attempt: Callable[[], object]) -> None:
    def read(write: Callable[[bytes], None]) -> None:
        write(b"before")
        attempt()
        write(b"after")

    assert read_confined(read, 100, 60.0) == b"before"


def test_a_reading_is_bounded_in_size_and_time() -> None:
    def flood(write: Callable[[bytes], None]) -> None:
        while True:
            write(b"x" * 1000)

    assert read_confined(flood, 10_000, 60.0) == b"x" * 10_000

    def hang(write: Callable[[bytes], None]) -> None:
        write(b"x")
        while True:
            pass

    # On a busy machine the time may be over before the child has written.
    wait_until(lambda: read_confined(hang, 100, 0.2) == b"x")
