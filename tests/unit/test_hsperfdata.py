"""The file of counters of a Java virtual machine, and the pools that are made of it."""

import struct

import pytest
from tidscope_collector.inspection.conversation import JavaCounters
from tidscope_collector.inspection.hsperfdata import parse
from tidscope_collector.pools.hsperfdata import pools_of

MAGIC = 0xC0C0FECA


def entry(name: str, value: int | str) -> bytes:
    """An entry as the machine lays it out: head, name, value."""
    named = name.encode() + b"\0"
    named += b"\0" * (-len(named) % 8)
    text = b"" if isinstance(value, int) else value.encode() + b"\0"
    data = value.to_bytes(8, "little", signed=True) if isinstance(value, int) else text
    data += b"\0" * (-len(data) % 8)
    at = 20 + len(named)
    kind = ord("J") if isinstance(value, int) else ord("B")
    length = at + len(data)
    head = struct.pack("<iiiBBBBi", length, 20, len(text), kind, 0, 1, 1, at)
    return head + named + data


def file(counters: dict[str, int | str], ready: int = 1, magic: int = MAGIC) -> bytes:
    entries = b"".join(entry(name, value) for name, value in counters.items())
    head = struct.pack("<IBBBBiiqii", magic, 1, 2, 0, ready, len(entries), 0, 0, 32, len(counters))
    return (head + entries).ljust(4096, b"\0")


def test_what_is_wanted_is_read_and_nothing_else() -> None:
    found = parse(
        file(
            {
                "java.threads.live": 15,
                "sun.rt.javaCommand": "secret",
                "java.property.java.version": "17.0.15",
                "java.rt.vmArgs": "-Dpassword=x -XX:ActiveProcessorCount=3",
            }
        )
    )
    assert found.numbers == {"java.threads.live": 15}
    assert found.texts == {"java.property.java.version": "17.0.15"}
    assert found.arguments.endswith("Count=3")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "too short"),
        (file({}, magic=7), "not in the format"),
        (file({}, ready=0), "still starting"),
        (file({"java.threads.live": 1})[:40], "out of bounds"),
        (file({})[:28] + struct.pack("<i", 5000), "out of bounds"),
    ],
)
def test_nonsense_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(data)


def test_every_damaged_byte_is_refused_or_read() -> None:
    whole = file({"java.threads.live": 15, "java.property.java.version": "17"})
    for place in range(128):
        for value in (0, 1, 0x7F, 0xFF):
            damaged = bytearray(whole)
            damaged[place] = value
            try:
                parse(bytes(damaged))
            except ValueError:
                continue


def test_pools_of_the_machine() -> None:
    numbers = {
        "java.threads.live": 15,
        "java.threads.started": 40,
        "java.threads.daemon": 6,
        "java.threads.livePeak": 22,
        "sun.gc.collector.0.invocations": 3,
        "sun.gc.collector.0.time": 5_000,
        "sun.ci.threads": 2,
        "sun.ci.totalCompiles": 75,
        "sun.ci.totalBailouts": 1,
        "java.ci.totalTime": 7_000,
        "sun.rt.safepoints": 9,
        "sun.os.hrt.frequency": 1_000_000,
    }
    texts = {"sun.gc.collector.0.name": "G1 young collection pauses"}
    found = {
        one.name: one for one in pools_of(JavaCounters(numbers=numbers, texts=texts, flags=[]))
    }
    threads = found["Java threads"]
    assert (threads.size, threads.started, threads.finished) == (15, 40, 25)
    assert found["Java daemon threads"].size == 6
    assert found["Java threads at most"].size == 22
    young = found["G1 young collection pauses"]
    assert (young.kind, young.finished, young.run_ns, young.size) == ("gc", 3, 5_000_000, None)
    compiler = found["JIT compiler"]
    assert (compiler.size, compiler.finished, compiler.failed) == (2, 75, 1)
    assert compiler.run_ns == 7_000_000
    assert (found["Safepoints"].finished, found["Safepoints"].run_ns) == (9, None)


def test_what_a_machine_does_not_count_is_not_there() -> None:
    assert pools_of(JavaCounters(numbers={}, texts={}, flags=[])) == []
