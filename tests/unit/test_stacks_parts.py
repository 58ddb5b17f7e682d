"""Parts of flame graphs: exact times of windows, call trees, own code, and what is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_story import STEP_NS, LedgerStory, ledger_story
from sampled_story import sampled_story
from tidscope_backend.stacks import live
from tidscope_backend.stacks.code import Code
from tidscope_backend.stacks.estimate import UNKNOWN, Estimate
from tidscope_backend.stacks.graphs import Flame
from tidscope_backend.stacks.ledger import Wanted, read_ledger
from tidscope_backend.stacks.live import LiveStacks
from tidscope_backend.stacks.program_code import is_runtime, own_code
from tidscope_backend.stacks.trees import MAX_DEPTH, ROOT, CallTree, Stacks, by_function
from tidscope_backend.stacks.unseen_code import note_of
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import Table, make_table
from tidscope_wire.states import STATE_FIELDS

SECOND = 1_000_000_000
INSTANTS = 120


@pytest.fixture(scope="module")
def story() -> LedgerStory:
    return ledger_story(INSTANTS, 5)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, INSTANTS - 1), st.integers(1, INSTANTS), st.integers(-50_000_000, 50_000_000))
def test_times_of_any_window_are_the_threads_own(
    story: LedgerStory, first: int, length: int, off_ns: int
) -> None:
    from_ns = first * STEP_NS + off_ns
    to_ns = from_ns + length * STEP_NS
    read = read_ledger(story.frames, None, [Wanted(from_ns, to_ns, 0)])
    (found,) = read.windows
    inside = [time for time in story.times if from_ns <= time <= to_ns]
    if not inside:
        assert found is None
        return
    assert found is not None
    assert (found.from_ns, found.to_ns) == (inside[0], inside[-1])
    for tid, life in story.lives.items():
        before = {} if life.begin_ns > found.from_ns else life.states(found.from_ns)
        after = {} if life.begin_ns > found.to_ns else life.states(found.to_ns)
        times = found.total.get(tid, np.zeros(len(STATE_FIELDS)))
        expected = [after.get(name, 0) - before.get(name, 0) for name in STATE_FIELDS]
        assert times.tolist() == pytest.approx(expected)
    assert read.names[201] == "worker-1"


@settings(max_examples=30, deadline=None)
@given(st.integers(1, INSTANTS - 30), st.integers(0, 2 * SECOND))
def test_earlier_stays_are_set_apart(story: LedgerStory, first: int, ago_ns: int) -> None:
    from_ns, since_ns = first * STEP_NS, first * STEP_NS - ago_ns
    (found,) = read_ledger(
        story.frames, None, [Wanted(from_ns, from_ns + 25 * STEP_NS, since_ns)]
    ).windows
    assert found is not None
    for tid, life in story.lives.items():
        if life.begin_ns > found.from_ns or (life.end_ns or SECOND**2) <= found.from_ns:
            continue
        place = max(at for at, (begin, _) in enumerate(life.stays) if begin <= found.from_ns)
        begin, state = life.stays[place]
        ends = [end for end, _ in life.stays[place + 1 : place + 2]]
        end = min(*ends, life.end_ns or found.to_ns, found.to_ns, SECOND**2)
        earlier = max(0, end - found.from_ns) if begin < since_ns else 0
        times = found.earlier.get(tid, np.zeros(len(STATE_FIELDS)))
        # The end is known up to other stays in the state between two frames.
        assert earlier - 1 <= times[state - 1] <= earlier + STEP_NS


def frames(*rows: tuple[int, str, str, int, str]) -> Table:
    number, function, file, line, inlined = zip(*rows, strict=True)
    count = len(rows)
    return make_table(
        "stack_frames",
        {
            **{"frame": number, "kind": ["native"] * count, "function": function, "file": file},
            **{"line": line, "module": ["app"] * count, "address": [16 * one for one in number]},
            **{"build_id": [""] * count, "inlined": inlined},
        },
    )


def nodes(*rows: tuple[int, int, int]) -> Table:
    number, parent, frame = zip(*rows, strict=True)
    return make_table("stack_nodes", {"node": number, "parent": parent, "frame": frame})


def test_inlined_functions_are_nodes_of_their_own() -> None:
    stacks = Stacks(
        frames((1, "main", "a.c", 1, ""), (2, "f", "a.c", 5, "g\tb.h\t7\nh\t\tx\n")),
        nodes((1, 0, 1), (2, 1, 2)),
    )
    names = [(code.function, code.file, code.line, code.inlined) for code in stacks.stack(2)]
    assert names == [
        ("h", "", 0, True),
        ("g", "b.h", 7, True),
        ("f", "a.c", 5, False),
        ("main", "a.c", 1, False),
    ]
    tree, leaves = stacks.tree(np.array([2, 0, 1, 77]))
    assert [tree.code[node].function for node in tree.path(int(leaves[0]))] == [
        *("h", "g", "f", "main")
    ]
    assert leaves.tolist()[1:] == [UNKNOWN, 0, UNKNOWN]


def test_a_frame_without_a_name_is_its_address() -> None:
    (code,) = Stacks(frames((3, "", "", 0, "")), nodes((1, 0, 3))).stack(1)
    assert (code.function, code.named) == ("app+0x30", False)


def test_nodes_that_call_each_other_end() -> None:
    stacks = Stacks(frames((1, "f", "", 0, "")), nodes((1, 2, 1), (2, 1, 1)))
    assert len(stacks.stack(1)) == MAX_DEPTH
    tree, leaves = stacks.tree(np.array([1, 2]))
    assert len(list(tree.path(int(leaves[0])))) == MAX_DEPTH


def test_lines_of_a_function_are_one_node_with_the_heaviest() -> None:
    stacks = Stacks(
        frames((1, "f", "a.c", 1, ""), (2, "f", "a.c", 2, ""), (3, "g", "a.c", 9, "")),
        nodes((1, 0, 1), (2, 0, 2), (3, 1, 3), (4, 2, 3)),
    )
    tree, leaves = stacks.tree(np.array([3, 4, 4]))
    assert len(tree.parent) == 4
    joined, places = by_function(tree, leaves, np.array([5.0, 4.0, 4.0]))
    assert [(code.function, code.line) for code in joined.code] == [("f", 2), ("g", 9)]
    assert places.tolist() == [1, 1, 1]


def code(kind: str, function: str, module: str = "app", file: str = "") -> Code:
    return Code(kind, function, file, 0, module, inlined=False, named=True)


@pytest.mark.parametrize(
    "runtime",
    [
        code("kernel", "futex_wait_queue"),
        code("native", "__futex_abstimed_wait_common", "libc.so.6"),
        code("native", "anything", "ld-linux-x86-64.so.2"),
        code("native", "pthread_mutex_lock"),
        code("native", "std::mutex::lock()"),
        code("native", "std::sys::sync::mutex::futex::Mutex::lock_contended"),
        code("native", "<std::thread::Builder>::spawn_unchecked_"),
        code("native", "parking_lot::raw_mutex::RawMutex::lock_slow"),
        code("native", "x", file="/rustc/1234/library/std/src/io/mod.rs"),
        code("go", "runtime.futex"),
        code("go", "sync.(*Mutex).lockSlow"),
        code("go", "internal/poll.(*FD).Read"),
        code("python", "Condition.wait", file="/usr/lib/python3.11/threading.py"),
        code("python", "get", file="/usr/lib/python3.11/queue.py"),
        code("java", "void java.lang.Object.wait(long)"),
        code("java", "Interpreter"),
        code("v8", "processTicksAndRejections", file="node:internal/process/task_queues"),
        code("unknown", "x"),
    ],
)
def test_code_of_runtimes(runtime: Code) -> None:
    assert is_runtime(runtime)


@pytest.mark.parametrize(
    "own",
    [
        code("native", "update_account"),
        code("native", "semantic_check"),
        code("native", "clone_account"),
        code("native", "stdlib_wrapper::mutex"),
        code("native", "absl_user::work"),
        code("go", "main.(*Pool).put"),
        code("go", "github.com/acme/runtime.Run"),
        code("python", "Pool.get", file="/srv/app/pool.py"),
        code("java", "int com.acme.Bank.update(java.lang.String)"),
        code("v8", "handle", file="/srv/app/server.js"),
        code("ruby", "Bank#update"),
    ],
)
def test_code_of_programs(own: Code) -> None:
    assert not is_runtime(own)
    lock = code("native", "pthread_cond_wait", "libc.so.6")
    assert own_code([code("kernel", "schedule"), lock, own, code("native", "main")]) == own


def test_a_stack_without_own_code_has_its_innermost_function() -> None:
    lock, start = (code("native", name, "libc.so.6") for name in ("pthread_mutex_lock", "clone3"))
    assert own_code([code("kernel", "schedule"), lock, start]) == lock
    assert own_code([code("kernel", "schedule")]) is None


def test_an_interpreters_own_frames_are_no_code_of_the_program() -> None:
    stack = [code("native", "take_gil", "python3.11"), code("python", "work", file="/srv/a.py")]
    assert own_code(stack) == stack[1]


def received(*, max_age_ns: int = 300 * SECOND, instants: int = 300) -> live.TargetStacks:
    store = LiveStacks(max_age_ns)
    for frame in sampled_story(instants, 2).frames:
        store.receive(*split(frame))
    found = store.get("t-100-deadbeef")
    assert found is not None
    return found


def test_samples_older_than_the_history_leave() -> None:
    found = received(max_age_ns=5 * SECOND).read()
    ended = found.samples[found.samples["wait_ns"] > 0]
    end_ns = ended["begin_ns"] + ended["wait_ns"] + ended["delay_ns"]
    assert end_ns.min() >= 24.5 * SECOND
    assert len(received().read().samples) > len(found.samples)


def test_reading_twice_gives_the_same() -> None:
    stacks = received()
    once = stacks.read()
    again = stacks.read()
    assert once.stacks is again.stacks
    assert (once.samples == again.samples).all()
    assert (once.periods == again.periods).all()


def test_beyond_its_bound_the_oldest_samples_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    every = received().read()
    monkeypatch.setattr(live, "MAX_SAMPLES", 100)
    kept = received().read()
    assert kept.samples["sample"].tolist() == every.samples["sample"][-100:].tolist()
    assert kept.since_ns == every.samples["begin_ns"][:-100].max() + 1
    assert next(kept.sampled(0, 30 * SECOND)).since_ns == kept.since_ns


def test_tables_that_nobody_reads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_PENDING_BYTES", 50_000)
    stacks = received()
    assert stacks.size <= 50_000
    assert stacks.dropped > 0
    read = stacks.read()
    # Names are whole again with a later key frame.
    assert [code.function for code in read.stacks.stack(12)] == ["slow_io", "serve", "main"]
    assert read.since_ns > SECOND


def test_all_targets_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_TOTAL_BYTES", 100_000)
    assert received().size < 100_000


def test_frames_without_stacks_are_not_kept() -> None:
    store = LiveStacks(SECOND)
    for frame in ledger_story(20).frames:
        store.receive(*split(frame))
    stacks = store.get("t-100-deadbeef")
    assert stacks is not None
    assert (stacks.size, stacks.read_ns) == (0, 0)
    store.forget("t-100-deadbeef")
    assert store.get("t-100-deadbeef") is None


def test_a_broken_table_is_ignored() -> None:
    store = LiveStacks(SECOND * 300)
    for frame in sampled_story(30, 2).frames:
        header, body = split(frame)
        broken = header.seq == 15
        store.receive(header, memoryview(bytes(len(body))) if broken else body)
    stacks = store.get("t-100-deadbeef")
    assert stacks is not None
    kept = set(stacks.read().samples["sample"].tolist())
    every = set(received(instants=30).read().samples["sample"].tolist())
    assert kept < every
    assert len(kept) > 20


def go_graph(scheduler_ns: float) -> Flame:
    """A flame graph of 10 s with two ways into Go's scheduler, nested once."""
    tree = CallTree()
    root = tree.child(ROOT, code("go", "runtime.mcall"))
    schedule = tree.child(root, code("go", "runtime.schedule"))
    tree.child(schedule, code("go", "runtime.schedule"))
    tree.child(root, code("native", "runtime.schedule"))
    ns = np.array([10e9, scheduler_ns, scheduler_ns, 10e9 - scheduler_ns])
    none = np.zeros(4)
    times = Estimate(ns, none, none, none, none.astype(np.int64), 10e9, 0.0, 0.0)
    return Flame(tree, times, 10e9, 50)


def test_time_in_gos_scheduler_has_a_note() -> None:
    assert note_of(go_graph(6e9)).startswith("60% is Go's scheduler without work")
    assert note_of(go_graph(1e9)) == ""
