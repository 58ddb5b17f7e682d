"""The fuzzed decoders, by name: each takes any bytes and raises if something wrong is believed."""

from collections.abc import Callable, Mapping

from fuzz.elf import check_elf
from fuzz.frames import check_arrow, check_frame
from fuzz.pprof import check_pprof

TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "frame": check_frame,
    "arrow": check_arrow,
    "elf": check_elf,
    "pprof": check_pprof,
}
