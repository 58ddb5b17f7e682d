"""The fuzzed decoders, by name: each takes any bytes and raises if something wrong is believed."""

from collections.abc import Callable, Mapping

from fuzz.elf import check_elf
from fuzz.frames import check_arrow, check_frame
from fuzz.netlink import check_netlink
from fuzz.pprof import check_pprof

TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "netlink": check_netlink,
    "frame": check_frame,
    "arrow": check_arrow,
    "elf": check_elf,
    "pprof": check_pprof,
}
