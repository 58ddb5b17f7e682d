"""Dumps of Java threads, as JDK 17 and 25 write them."""

from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.inspection.java_threads import (
    LONGEST_NAME,
    Blocked,
    Named,
    read_blocked,
    read_names,
)

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
