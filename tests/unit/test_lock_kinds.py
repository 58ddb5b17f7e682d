"""What threads wait for, from what is known of an address."""

import struct

from tidscope_collector.inspection.lock_kinds import (
    GO_IDLE,
    GO_LOCK,
    GO_SIGNALS,
    JVM_PARK,
    Found,
    Place,
    Program,
    Surroundings,
    Variable,
    classify,
)

ADDRESS = 0x7F0000001000


def near(word: int, more: bytes = b"") -> Surroundings:
    return Surroundings(struct.pack("<I", word) + more, 0, ADDRESS)


def variable(name: str, place: int = 0, size: int = 0, *, executable: bool = True) -> Variable:
    return Variable(name, place, size, "/opt/bin/program", executable)


def found(program: Program, word: int, where: Variable | None, *, go_heap: bool = False) -> Found:
    place: Place = "heap" if where is None else "file"
    return classify(program, ADDRESS, place, near(word), where, go_heap=go_heap)


GO, C, JVM = Program(go=True), Program(), Program(jvm=True)


def test_go_waits_in_its_heap_and_its_own_variables() -> None:
    for where in (None, variable("runtime.m0", 0x138, 2000), variable("")):
        assert found(GO, 0, where, go_heap=True)[:2] == ("park", GO_IDLE)
        assert found(GO, 0xFFFFFFFF, where, go_heap=True)[:2] == ("lock", GO_LOCK)
    assert found(GO, 2, variable("runtime.sched"))[:2] == ("lock", GO_LOCK)
    assert found(GO, 0, variable("runtime.sig"))[:2] == ("park", GO_SIGNALS)


def test_c_code_in_a_go_program_has_locks_of_its_own() -> None:
    assert found(GO, 2, None)[:2] == ("lock", "")
    assert found(GO, 2, variable("pool_lock", 0, 40))[:2] == ("lock", "pool_lock")
    assert found(GO, 2, variable("", 0x40, executable=False))[:2] == ("lock", "program+0x40")


def test_waits_in_go_memory_of_another_program_are_locks() -> None:
    assert found(C, 0, None, go_heap=True).kind == "lock"


def test_a_member_is_named_by_its_place() -> None:
    assert found(C, 2, variable("pool", 8, 200)).name == "pool+0x8"
    assert found(C, 2, variable("pool", 0, 200)).name == "pool"
    assert found(C, 2, variable("", 0x4010)).name == "program+0x4010"


def test_a_semaphore_parks_threads_of_a_jvm_and_is_a_lock_elsewhere() -> None:
    semaphore = near(0, struct.pack("<II", 1, 128) + bytes(20))
    assert classify(JVM, ADDRESS, "heap", semaphore)[:2] == ("park", JVM_PARK)
    assert classify(C, ADDRESS, "heap", semaphore)[:2] == ("lock", "")
    library = Variable("lock_storage", 0, 32, "/lib/libjvm.so", executable=False)
    assert classify(JVM, ADDRESS, "file", semaphore, library)[:2] == ("park", JVM_PARK)
    other = Variable("lock_storage", 0, 32, "/lib/libother.so", executable=False)
    assert classify(JVM, ADDRESS, "file", semaphore, other)[:2] == ("lock", "lock_storage")
