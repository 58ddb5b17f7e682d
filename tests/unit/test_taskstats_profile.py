"""Extended layouts: chosen by profile, version and length together, never by less."""

import itertools
import re
from pathlib import Path

import pytest
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.layout import (
    EXTENDED,
    LAYOUTS,
    STOCK,
    UnknownLayoutError,
    choose,
)
from tidscope_collector.taskstats.profile import PROFILE_FILE, kernel_profile

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
