"""Messages of taskstats: layouts, families and profiles."""

import errno
import itertools
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from taskstats_replies import (
    AGGR_PID,
    AGGR_TGID,
    FAMILY,
    LENGTHS,
    NULL,
    PADS,
    VERSIONS,
    Pad,
    attribute,
    error,
    exit_record,
    hostile,
    message,
    payload_offset,
    record,
    reply,
    stats,
    struct_of,
)
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.family_cache import FamilyCache
from tidscope_collector.taskstats.layout import (
    EXTENDED,
    LAYOUTS,
    STOCK,
    UnknownLayoutError,
    choose,
)
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, read_reply
from tidscope_collector.taskstats.messages import command, error_code, parse
from tidscope_collector.taskstats.profile import PROFILE_FILE, kernel_profile
from tidscope_collector.taskstats.refusals import Refusal

# Walking one message: right ones of every version, and wrong ones in every way that we know.


TID = 0x01020304


def refusal_of(datagram: bytes) -> str | None:
    """Why a datagram does not tell the layout; None: it does."""
    try:
        read_reply(datagram, FAMILY, TID, STOCK)
    except TaskstatsUnavailableError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_layout_of_each_version_is_that_of_its_header(version: int) -> None:
    made = struct_of(version)
    layout = choose(version, LENGTHS[version])
    names = [name for name, *_ in made._fields_ if name not in ("ac_sched", "_pad")]
    assert [name for name in layout.offsets if name != "ac_sched"] == names
    for name in names:
        assert layout.offsets[name] == getattr(made, name).offset, name


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_reply_of_each_version_is_walked(version: int, pad: Pad) -> None:
    datagram = reply(TID, stats(version, TID), sequence=9, pad=pad)
    at = payload_offset(pad)
    layout = choose(version, LENGTHS[version])
    assert read_reply(datagram, FAMILY, TID, STOCK) == Kernel(FAMILY, layout, at)
    assert len(datagram) == at + LENGTHS[version]


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_an_exit_record_of_each_version_is_walked(version: int, pad: Pad) -> None:
    body = stats(version, TID)
    datagram = exit_record(TID, body, sequence=9, pad=pad, process=(77, stats(version, 0)))
    thread, process = parse(datagram, FAMILY)
    assert (thread.kind, thread.id, process.kind, process.id) == (AGGR_PID, TID, AGGR_TGID, 77)
    assert datagram[thread.offset : thread.offset + thread.length] == body
    # The pad of an aligning kernel is not needed again in front of the second struct.
    headers = {"none": 16, "before": 20, "inside": 16}[pad]
    assert process.offset == thread.offset + thread.length + headers


def test_attributes_that_are_not_known_are_passed_over() -> None:
    body = attribute(99, b"x") + record(AGGR_PID, TID, stats(16, TID)) + attribute(98, b"abcdefg")
    assert read_reply(message(body), FAMILY, TID, STOCK).layout == choose(16, 560)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_message_cut_at_any_byte_is_refused(version: int) -> None:
    whole = reply(TID, stats(version, TID), sequence=1)
    assert refusal_of(whole) is None
    for cut in range(len(whole)):
        assert refusal_of(whole[:cut]), cut
        # And when its own length agrees with the cut.
        assert refusal_of((struct.pack("=I", cut) + whole[4:])[:cut]), cut


@pytest.mark.parametrize("version", [8, 12, 15, 16])
def test_each_wrong_message_is_refused_by_name(version: int) -> None:
    for what, name, datagram in hostile(version, TID, 1):
        refusal = refusal_of(datagram)
        assert refusal is not None, what
        # An acknowledgement and an error are refused by their errno.
        if name not in {"LAYOUT", "IDENTITY"} and error_code(datagram) is None:
            assert Refusal[name] in refusal, what


@pytest.mark.parametrize("reported", [16, 15])
def test_v15_and_v16_are_reported_apart_by_version_alone(reported: int) -> None:
    assert refusal_of(reply(TID, stats(reported, TID), sequence=1)) is None
    other = stats(reported, TID, reported_version=31 - reported)
    assert refusal_of(reply(TID, other, sequence=1))


@pytest.mark.parametrize("at", [20, 24, 32])
def test_every_length_of_an_attribute_but_the_right_one_is_refused(at: int) -> None:
    right = bytearray(reply(TID, stats(16, TID), sequence=1))
    (true,) = struct.unpack_from("=H", right, at)
    accepted = []
    for length in range(65536):
        struct.pack_into("=H", right, at, length)
        if refusal_of(bytes(right)) is None:
            accepted.append(length)
    assert accepted == [true]


@pytest.mark.parametrize(
    ("datagram", "code"),
    [
        (error(1, errno.ESRCH), errno.ESRCH),
        (error(1, errno.EPERM), errno.EPERM),
        (error(1, 0), 0),
        (error(1, 4095), 4095),
        (error(1, 4096), None),
        (error(1, -3), None),
        (error(1, 2**31), None),
        (error(1, errno.EPERM, b""), errno.EPERM),
        (error(1, errno.EPERM)[:20], None),  # tells more than it has
        (error(1, errno.EPERM, b"")[:19], None),
        (b"\x10" + error(1, errno.EPERM)[1:], None),  # tells 16 bytes: no room for an errno
        (reply(TID, stats(16, TID), sequence=1), None),
        (b"", None),
    ],
)
def test_the_errno_of_an_error_message(datagram: bytes, code: int | None) -> None:
    assert error_code(datagram) == code


def test_a_command_is_as_the_kernel_reads_it() -> None:
    made = command(0x1C, 3, b"0-3\0\0", 7)
    assert made == bytes.fromhex(
        "20000000 1c00 0500 07000000 00000000"  # length, family, REQUEST | ACK, sequence, port
        "01 01 0000"  # GET, version 1
        "0900 0300 302d3300 00000000"  # 9 bytes of a cpumask, padded
    )


def test_the_pad_alone_is_no_record() -> None:
    assert Refusal.CONTENT in (refusal_of(message(attribute(NULL, b""))) or "")


# Layouts of struct taskstats, against the figures of the kernel's headers.


FIXED = {
    "cpu_count": 16,
    "cpu_run_virtual_total": 72,
    "ac_comm": 80,
    "ac_pid": 128,
    "ac_etime": 144,
    "ac_utime": 152,
    "read_char": 216,
    "read_bytes": 248,
    "nvcsw": 272,
}


def test_each_layout_has_the_length_it_is_known_by() -> None:
    for (version, length), layout in LAYOUTS.items():
        assert (layout.version, layout.length) == (version, length)


def test_all_but_v15_agree_on_the_old_members() -> None:
    for layout in LAYOUTS.values():
        if layout.version != 15:
            assert {name: layout.offsets[name] for name in FIXED} == FIXED


def test_v15_has_its_delay_extremes_in_the_middle() -> None:
    v15, v16 = choose(15, 560).offsets, choose(16, 560).offsets
    assert v15["cpu_delay_max"] == 32
    assert v15["cpu_run_virtual_total"] == 72 + 3 * 16
    assert v16["cpu_delay_max"] == 432
    assert v16["irq_delay_min"] == 552
    assert v15["ac_tgid"] == 368 + 6 * 16


@pytest.mark.parametrize(("version", "length"), [(17, 688), (16, 561), (15, 432), (0, 0), (7, 328)])
def test_an_unknown_pair_is_refused_by_both_numbers(version: int, length: int) -> None:
    with pytest.raises(UnknownLayoutError, match=f"version {version} with {length} bytes"):
        choose(version, length)


def test_the_system_header_agrees(tmp_path: Path) -> None:
    version = next(
        int(line.split()[2])
        for line in Path("/usr/include/linux/taskstats.h").read_text().splitlines()
        if line.startswith("#define TASKSTATS_VERSION")
    )
    layout = next(one for one in LAYOUTS.values() if one.version == version)
    names = [name for name in layout.offsets if name != "version"]
    prints = "".join(
        f'printf("{n} %zu\\n", __builtin_offsetof(struct taskstats, {n}));' for n in names
    )
    source = tmp_path / "offsets.c"
    source.write_text(
        f"#include <linux/taskstats.h>\n#include <stdio.h>\nint main(void){{{prints}return 0;}}\n"
    )
    subprocess.run(["cc", "-o", str(tmp_path / "offsets"), str(source)], check=True)
    out = subprocess.run([str(tmp_path / "offsets")], check=True, capture_output=True, text=True)
    reported = {name: int(at) for name, at in (line.split() for line in out.stdout.splitlines())}
    assert reported == {name: layout.offsets[name] for name in names}


# The number of the taskstats family between two collectors of one boot.


CACHED_FAMILY = 31


def boot(root: Path, name: str) -> ProcFs:
    """A /proc of one boot."""
    file = root / "sys/kernel/random/boot_id"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{name}\n")
    return ProcFs(root)


@pytest.fixture
def cache(tmp_path: Path) -> FamilyCache:
    """A cache with a number in it."""
    made = FamilyCache(boot(tmp_path / "proc", "first"), tmp_path / "run/family")
    assert made.read() is None
    made.write(CACHED_FAMILY)
    return made


def test_a_number_is_read_by_later_collectors_of_the_boot(
    cache: FamilyCache, tmp_path: Path
) -> None:
    assert cache.read() == CACHED_FAMILY
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["family"]
    cache.write(CACHED_FAMILY + 1)
    assert cache.read() == CACHED_FAMILY + 1


def test_a_number_of_an_earlier_boot_is_not_read(cache: FamilyCache, tmp_path: Path) -> None:
    boot(tmp_path / "proc", "second")
    assert cache.read() is None


@pytest.mark.parametrize("content", ["", "first", "first x", "first 31 32", "first \xff"])
def test_a_damaged_file_is_not_read(cache: FamilyCache, tmp_path: Path, content: str) -> None:
    (tmp_path / "run/family").write_text(content, encoding="latin-1")
    assert cache.read() is None


def test_a_file_that_others_can_write_is_not_read(cache: FamilyCache, tmp_path: Path) -> None:
    (tmp_path / "run/family").chmod(0o666)
    assert cache.read() is None


def test_a_symbolic_link_is_not_followed(cache: FamilyCache, tmp_path: Path) -> None:
    (tmp_path / "run/family").rename(tmp_path / "run/elsewhere")
    (tmp_path / "run/family").symlink_to("elsewhere")
    assert cache.read() is None


def test_a_file_of_another_user_is_not_read(
    cache: FamilyCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert cache.read() is None


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    cache = FamilyCache(boot(tmp_path / "proc", "first"), tmp_path / "run/family")
    cache.write(CACHED_FAMILY)
    assert cache.read() is None


# Extended layouts: chosen by profile, version and length together, never by less.


PATCHES = Path(__file__).parents[2] / "kernel" / "patches"
NETWORK = ("net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls")


def proc(folder: Path, reported: str | None) -> ProcFs:
    file = folder / PROFILE_FILE
    file.parent.mkdir(parents=True)
    if reported is not None:
        file.write_text(reported)
    return ProcFs(folder)


def test_the_extended_struct_is_version_13_with_four_fields_behind_it() -> None:
    layout, stock = choose(13, 448, "netext"), choose(13, 416)
    assert (layout.name, layout.profile, stock.profile) == ("v13+netext", "netext", STOCK)
    assert {name: layout.offsets[name] for name in stock.offsets} == stock.offsets
    assert dict(list(layout.offsets.items())[len(stock.offsets) :]) == {
        "read_net_bytes": 416,
        "write_net_bytes": 424,
        "read_net_syscalls": 432,
        "write_net_syscalls": 440,
    }


def test_the_patch_appends_these_fields_and_tells_this_profile() -> None:
    patch = "".join(path.read_text() for path in sorted(PATCHES.glob("*.patch")))
    members = re.findall(r"^\+\t__u64\t(\w+);$", patch, re.MULTILINE)
    header = members[:4]
    assert header == list(choose(13, 448, "netext").offsets)[-4:]
    assert re.findall(r"^\+#define TASKSTATS_PROFILE\t\"(\w+)\"$", patch, re.MULTILINE) == [
        profile for profile, _, _ in EXTENDED
    ]


@pytest.mark.parametrize(
    ("profile", "version", "length"),
    [
        (STOCK, 13, 448),  # the length alone does not make it ours
        ("netext", 13, 416),  # nor the profile
        ("netext", 16, 560),
        ("netext", 14, 464),  # a patch for another kernel, which nobody has tried
        ("netext", 13, 456),
        ("other", 13, 448),
        ("other", 13, 416),  # what an unknown profile changes, nobody knows
    ],
)
def test_any_other_three_are_refused_by_name(profile: str, version: int, length: int) -> None:
    with pytest.raises(UnknownLayoutError, match=f"version {version} with {length} bytes") as said:
        choose(version, length, profile)
    assert repr(profile) in str(said.value) or profile == STOCK


def test_no_extended_struct_has_the_length_of_a_stock_one() -> None:
    lengths = {length for _, length in LAYOUTS}
    assert not lengths & {length for _, _, length in EXTENDED}
    for (one, first), (other, second) in itertools.combinations(EXTENDED.items(), 2):
        assert one[1:] != other[1:], f"{first.name} and {second.name}"


def test_the_profile_is_what_the_kernel_tells(tmp_path: Path) -> None:
    assert kernel_profile(proc(tmp_path / "a", None)) == STOCK
    assert kernel_profile(proc(tmp_path / "b", "netext\n")) == "netext"


def test_a_marker_that_cannot_be_read_is_no_stock_kernels(tmp_path: Path) -> None:
    (tmp_path / PROFILE_FILE).mkdir(parents=True)
    reported = kernel_profile(ProcFs(tmp_path))
    with pytest.raises(UnknownLayoutError, match="unreadable"):
        choose(13, 416, reported)


def test_the_columns_have_the_network_fields_only_in_the_profile() -> None:
    stock = Columns(choose(13, 416), delay_accounting=True)
    extended = Columns(choose(13, 448, "netext"), delay_accounting=True)
    assert extended.fields == (*stock.fields, *NETWORK)
    assert set(NETWORK) <= {one.field for one in stock.absent}
    assert not set(NETWORK) & {one.field for one in extended.absent}
