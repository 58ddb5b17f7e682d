"""Locks that runtimes make for each wait or thread, of a run."""

from tidscope_backend.store.run_locks import RunLock, ThreadRoles, summed_locks

ROLES = ThreadRoles({1: "feed", **dict.fromkeys(range(2, 8), "take-#")}, {"feed"})
HEAP = {lock: (f"heap #{lock}", "lock") for lock in range(1, 9)}


def row(lock: int, tid: int, wait_ns: int = 0, waits: int = 0, wakes: int = 0) -> dict[str, int]:
    return {"lock": lock, "tid": tid, "wait_ns": wait_ns, "waits": waits, "wakes": wakes}


def own_locks(waker: int) -> list[dict[str, int]]:
    """Three threads that wait at locks of their own, and the thread that releases these."""
    waits = [row(lock, lock + 1, wait_ns=100 * lock, waits=2) for lock in (1, 2, 3)]
    return waits + [row(lock, waker, wakes=2) for lock in (1, 2, 3)]


def test_own_locks_of_threads_are_one_lock_of_their_role() -> None:
    other = [row(4, 2, wait_ns=5, waits=1), row(4, 3, wait_ns=5, waits=1)]
    assert summed_locks(own_locks(1) + other, HEAP, ROLES) == [
        RunLock("locks in heap, waited for by take-#", "condition", 600, 6, 3),
        RunLock("heap #4", "lock", 10, 2, 2),
    ]


def test_they_hold_threads_up_if_threads_of_the_role_release_them() -> None:
    assert summed_locks(own_locks(7), HEAP, ROLES)[0].kind == "lock"
    unnamed = ROLES._replace(main={"take-#"})
    assert summed_locks(own_locks(7), HEAP, unnamed)[0].kind == "condition"
    assert summed_locks(own_locks(2), HEAP, unnamed)[0].kind == "lock"


def test_few_stay_apart_and_many_do_not_unless_one_stands_out() -> None:
    few = own_locks(1)[:2]
    assert [one.name for one in summed_locks(few, HEAP, ROLES)] == ["heap #2", "heap #1"]
    stripes = [row(lock, tid, wait_ns=10, waits=1) for lock in HEAP for tid in (2, 3)]
    assert len(summed_locks(stripes, HEAP, ROLES)) == 1
    stands_out = [*stripes, row(8, 3, wait_ns=990, waits=1), row(8, 2, wait_ns=900, waits=1)]
    assert len(summed_locks(stands_out, HEAP, ROLES)) == len(HEAP)


def test_a_name_of_the_program_and_the_memory_of_a_process_are_kept() -> None:
    names = {1: ("mu", "lock"), **{n: (f"shared memory #{n} in app", "lock") for n in (2, 3, 4)}}
    rows = [row(lock, lock, wait_ns=9, waits=1) for lock in (1, 2, 3, 4)]
    roles = ThreadRoles(dict.fromkeys(range(1, 5), "app"), ())
    assert [one.name for one in summed_locks(rows, names, roles)] == [
        "locks in shared memory of app, waited for by app",
        "mu",
    ]
