"""Java programs: thread dumps and hsperfdata."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.inspection.conversation import JavaCounters
from tidscope_collector.inspection.hsperfdata import parse
from tidscope_collector.inspection.java_threads import (
    LONGEST_NAME,
    Blocked,
    Named,
    read_blocked,
    read_names,
)
from tidscope_collector.pools.reader import pools_of

DUMP = """\
0
2026-11-22 10:35:24
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):

"blocked" #13 prio=5 os_prio=0 cpu=3.72ms elapsed=1.86s tid=0x00007f nid=0x3437 waiting for monitor
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat java.util.concurrent.ConcurrentHashMap.compute(java.base@17.0.15/ConcurrentHashMap.java:1)
\t- waiting to lock <0x000000069ec194a0> (a java.util.concurrent.ConcurrentHashMap$Node)
\tat shop.Cart.add(Cart.java:2)
\t- locked <0x000000069ec19000> (a shop.Cart)
\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

"about to enter" #14 [13435] prio=5 os_prio=0 cpu=1ms elapsed=1.8s tid=0x7f nid=13435 waiting
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat shop.Cart.add(Cart.java:2)
\t- locked <0x000000069ec194a0> (a shop.Cart)

"notified" #15 prio=5 tid=0x7f nid=0x10 waiting for monitor entry  [0x00007f81489cb000]
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat java.lang.Object.wait0(java.base@25/Native Method)
\t- waiting on <0x000000069ec194a0> (a shop.Queue)
\tat shop.Queue.take(Queue.java:8)
\t- waiting to re-lock in wait() <0x000000069ec194a0> (a shop.Queue)

"lock" #16 prio=5 tid=0x7f nid=0x11 waiting on condition  [0x00007f81489cb000]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
\t- parking to wait for  <0x000000069ec1> (a java.util.concurrent.locks.ReentrantLock$FairSync)
\tat java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:211)
\tat shop.Till.pay(Till.java:5)

"idle" #17 prio=5 tid=0x7f nid=0x12 waiting on condition  [0x00007f81489cb000]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
\t- parking to wait for  <0x1> (a java.util.concurrent.locks.Abstract$ConditionObject)
\tat java.util.concurrent.LinkedBlockingQueue.take(java.base@17.0.15/LinkedBlockingQueue.java:435)

"waits" #18 prio=5 tid=0x7f nid=0x13 in Object.wait()  [0x00007f81489cb000]
   java.lang.Thread.State: WAITING (on object monitor)
\tat java.lang.Object.wait(java.base@17.0.15/Native Method)
\t- waiting on <0x000000069ec194a0> (a java.lang.Object)
\tat shop.Till.close(Till.java:9)
\t- locked <0x000000069ec194a0> (a java.lang.Object)

"runs" #19 prio=5 tid=0x7f nid=0x14 runnable  [0x00007f81489cb000]
   java.lang.Thread.State: RUNNABLE
\tat shop.Cart.add(Cart.java:2)
\t- locked <0x000000069ec194a0> (a shop.Cart)

"VM Thread" os_prio=0 cpu=0.78ms elapsed=1.87s tid=0x00007f816c0f4470 nid=0x342a runnable

JNI global refs: 12, weak refs: 0
"""


def test_threads_that_wait_for_others_are_found() -> None:
    assert read_blocked(DUMP) == [
        Blocked(0x3437, "java.util.concurrent.ConcurrentHashMap$Node", "shop.Cart.add"),
        Blocked(13435, "shop.Cart", "shop.Cart.add"),
        Blocked(0x10, "shop.Queue", "java.lang.Object.wait0"),
        Blocked(0x11, "java.util.concurrent.locks.ReentrantLock$FairSync", "shop.Till.pay"),
    ]


def test_every_thread_has_its_whole_name() -> None:
    found = {one.nid: one.name for one in read_names(DUMP)}
    assert found[0x3437] == "blocked"
    assert found[13435] == "about to enter"
    assert found[0x342A] == "VM Thread"
    assert len(found) == 8


def test_names_may_have_quotes_and_are_bounded() -> None:
    lines = [
        '"a "quoted" name" #3 daemon prio=5 tid=0x7f nid=0x5 runnable',
        '"http-nio-127.0.0.1-18085-exec-3" #31 [77] daemon prio=5 tid=0x7f nid=77 waiting',
        '"" #4 prio=5 tid=0x7f nid=0x6 runnable',
        f'"{"x" * 1000}" #5 prio=5 tid=0x7f nid=0x7 runnable',
        '"unfinished nid=0x8 ',
    ]
    assert read_names("\n".join(lines)) == [
        Named(5, 'a "quoted" name'),
        Named(77, "http-nio-127.0.0.1-18085-exec-3"),
        Named(7, "x" * LONGEST_NAME),
    ]


@given(st.lists(st.sampled_from([*DUMP.split("\n"), "", '"', "\t- locked <0x", '"" nid=0x1 '])))
def test_lines_in_any_order_give_no_nonsense(lines: list[str]) -> None:
    for one in read_blocked("\n".join(lines)):
        assert 0 < one.nid < 1 << 32
        assert 0 < len(one.lock) <= LONGEST_NAME
        assert len(one.method) <= LONGEST_NAME


@given(st.text(max_size=400))
def test_any_text_is_got_over(text: str) -> None:
    assert read_blocked(text) == []


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
