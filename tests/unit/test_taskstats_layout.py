"""Layouts of struct taskstats, against the figures of the kernel's headers."""

import subprocess
from pathlib import Path

import pytest
from tidscope_collector.taskstats.layout import LAYOUTS, UnknownLayoutError, choose

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
