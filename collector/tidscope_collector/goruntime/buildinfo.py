"""Build information that the Go linker writes: the version of Go and the build settings.

Layout, by Go's debug/buildinfo: "\\xff Go buildinf:", pointer size, flags. Since Go 1.18 two
strings follow at byte 32, each with its length as a varint before it.
"""

from dataclasses import dataclass

from tidscope_collector.goruntime.elf import Elf

MAGIC = b"\xff Go buildinf:"
_INLINE = 2
_STRINGS = 32
_LIMIT = 1 << 20
_SENTINEL = 16


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """Build information of a Go program.

    Attributes:
        version: version such as "go1.26.8"; None in the format before Go 1.18.
        settings: build settings such as {"-buildmode": "pie", "GOARCH": "amd64"}.
    """

    version: str | None
    settings: dict[str, str]


def is_go(elf: Elf) -> bool:
    """Return True if the Go linker wrote this program."""
    return any(elf.section(name) for name in (".go.buildinfo", ".note.go.buildid"))


def read_build_info(elf: Elf) -> BuildInfo | None:
    """Return the build information of a program, or None if it has none."""
    section = elf.section(".go.buildinfo")
    if section is None:
        return None
    return parse_build_info(elf.content(section, _LIMIT))


def parse_build_info(data: bytes) -> BuildInfo | None:
    """Parse the section .go.buildinfo. Return None if it is damaged."""
    if not data.startswith(MAGIC) or len(data) < _STRINGS:
        return None
    if not data[15] & _INLINE:
        return BuildInfo(None, {})
    version, place = _string(data, _STRINGS)
    if version is None:
        return None
    modules, _ = _string(data, place)
    # Drop the experiment in "go1.26.8 X:nodwarf5".
    number = version.decode(errors="replace").split(" ", 1)[0]
    return BuildInfo(number, _settings(modules or b""))


def _settings(modules: bytes) -> dict[str, str]:
    lines = modules[_SENTINEL:-_SENTINEL].decode(errors="replace").splitlines()
    pairs = [line.split("\t", 1)[1] for line in lines if line.startswith("build\t")]
    return {key: value.strip('"') for key, _, value in (pair.partition("=") for pair in pairs)}


def _string(data: bytes, place: int) -> tuple[bytes | None, int]:
    """Return a varint-prefixed string, None if it is cut off, and the offset behind it."""
    length = shift = 0
    while place < len(data) and shift < 63:
        byte = data[place]
        place += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            end = place + length
            return (data[place:end], end) if end <= len(data) else (None, place)
    return None, place
