"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from typing import Literal

from tidscope_wire.generated.models import TableName

ColumnType = Literal["uint32", "uint64", "utf8"]
RowKind = Literal["figures", "names", "log"]

COLUMNS: dict[TableName, dict[str, ColumnType]] = {
    # Finished stays of threads in states, by their length: bucket b is of stays below 2^(b+10) ns, the last one of all longer ones too.
    "stays": {
        # Thread.
        "tid": "uint32",
        # Number of the state, as in the field `state`.
        "state": "uint32",
        # Bucket, from 0.
        "bucket": "uint32",
        # Finished stays.
        "count": "uint64",
    },
    # Wake-ups that ended waits, by waker and wakee.
    "wakes": {
        # Thread that woke; 0: one of this process without a slot, an interrupt or the idle task.
        "waker_tid": "uint32",
        # Process of the waker; 0: an interrupt or the idle task.
        "waker_pid": "uint32",
        # Thread of this process that was woken.
        "wakee_tid": "uint32",
        # Row of `parties` that the waker's process has; 0: it is of the target, or an interrupt.
        "party": "uint32",
        # 1: the waker is a kernel thread.
        "waker_kernel": "uint32",
        # Wake-ups.
        "count": "uint64",
        # Waits of the woken thread that these ended.
        "blocked_ns": "uint64",
        # From these wake-ups until it ran.
        "delay_ns": "uint64",
        # Comm of the waker; interrupt for interrupts and the idle task.
        "waker_name": "utf8",
    },
    # Waits for locks, by lock and thread.
    "locks": {
        # Number of the lock, stable while the target is attached.
        "lock": "uint32",
        # Thread; 0: not known by thread.
        "tid": "uint32",
        # Finished waits.
        "wait_ns": "uint64",
        # How many.
        "waits": "uint64",
        # Wake-ups that this thread gave to those who waited for the lock.
        "wakes": "uint64",
    },
    # Waits for held locks that last, from some seconds on, and who holds these.
    "holders": {
        # Thread that waits.
        "tid": "uint32",
        # Number of the lock.
        "lock": "uint32",
        # Thread that holds it; 0: it is held, by whom is not known.
        "holder": "uint32",
        # When the wait began, CLOCK_MONOTONIC of the host; 0: it is over.
        "since_ns": "uint64",
    },
    # Names and kinds of locks.
    "lock_names": {
        # Number of the lock.
        "lock": "uint32",
        # Address in the target's memory; 0: it has none.
        "address": "uint64",
        # Name; empty: unknown.
        "name": "utf8",
        # lock, mutex (a mutex or read-write lock by its symbol, which none but its holder releases), condition, gil, park, join, monitor, call or unknown.
        "kind": "utf8",
        # futex, go-mutex-profile, go-metrics, java-monitor or system-call.
        "source": "utf8",
        # File whose symbol gave the name; empty: none.
        "symbol_file": "utf8",
    },
    # Threads and processes that ran while a thread of the target was in the run queue of the CPU.
    "takers": {
        # Thread in a run queue.
        "tid": "uint32",
        # Process of who ran; the target's own included.
        "pid": "uint32",
        # 1: kernel threads.
        "kernel": "uint32",
        # Row of `parties` that the process has; 0: it is of the target, idle or not known.
        "party": "uint32",
        # Part of its run-queue delay in which they ran on its CPU.
        "ns": "uint64",
        # Comm of that process.
        "name": "utf8",
    },
    # Processes outside the target that are in its tables `wakes` and `takers`.
    "parties": {
        # Number of the process, from 1; unique within the target and never used again.
        "party": "uint32",
        # Process id, which another row may have had before.
        "pid": "uint32",
        # Start in clock ticks since boot; 0: not known.
        "start_ticks": "uint64",
        # 1: rows of the party are of further processes of its name as well, which are too many to be distinguished.
        "many": "uint32",
        # Name (comm).
        "name": "utf8",
        # Command line or title, at most MAX_PROCESS_TITLE bytes, what looks like a secret left out; empty: not known.
        "title": "utf8",
        # Name or id of its container; empty: none, or not known.
        "container": "utf8",
        # systemd unit; empty: none, or not known.
        "unit": "utf8",
        # Path of its control group below the mount, at most MAX_PROCESS_TITLE bytes; empty: not known.
        "cgroup": "utf8",
    },
    # System calls of threads.
    "calls": {
        # Thread.
        "tid": "uint32",
        # Number of the call on this machine.
        "call": "uint32",
        # Finished calls.
        "count": "uint64",
        # Time in them.
        "ns": "uint64",
        # Name of the call.
        "name": "utf8",
    },
    # System calls of threads by their length, in buckets as those of `stays`.
    "call_stays": {
        # Thread.
        "tid": "uint32",
        # Number of the call on this machine.
        "call": "uint32",
        # Bucket, from 0.
        "bucket": "uint32",
        # Finished calls.
        "count": "uint64",
    },
    # Values of threads that are not exact although their field is.
    "inexact": {
        # Thread.
        "tid": "uint32",
        # Place of the field in the catalogue (GET /api/v1/fields), from 0.
        "field": "uint32",
        # Kernel's value, in the field's unit; for `at_least` the number of calls that it could not count.
        "kernel": "uint64",
        # How long the thread lived when that was seen.
        "life_ns": "uint64",
        # The field.
        "name": "utf8",
        # invalid: the kernel's value is longer than the thread's life, and rows have none; ledger: it is, and rows have the ledger's; at_least: the thread made calls that cannot be counted.
        "label": "utf8",
    },
    # Processes of a group. Figures are cumulative since attach, or since the process joined the group; threads that ended are included; those of fields that the target does not carry are 0.
    "processes": {
        # Number of the row, from 1; unique within the target and never used again.
        "process": "uint32",
        # Process id; 0: a row of ended processes of one name, folded.
        "pid": "uint32",
        # Number of the row of its parent; 0: none in the group.
        "parent": "uint32",
        # Start in clock ticks since boot; 0: folded.
        "start_ticks": "uint64",
        # Processes in this row; 0: the row is gone.
        "count": "uint64",
        # 1: it lives.
        "live": "uint32",
        # Live threads.
        "threads": "uint64",
        # Threads that ended.
        "threads_ended": "uint64",
        # On-CPU time.
        "cpu_ns": "uint64",
        # Run-queue delay.
        "run_delay_ns": "uint64",
        # Block I/O delay.
        "blkio_delay_ns": "uint64",
        # Bytes read from block devices.
        "read_bytes": "uint64",
        # Bytes written to block devices.
        "write_bytes": "uint64",
        # Network bytes received.
        "rx_bytes": "uint64",
        # Network bytes sent.
        "tx_bytes": "uint64",
        # Minor page faults.
        "minor_faults": "uint64",
        # Major page faults.
        "major_faults": "uint64",
        # Context switches, voluntary and involuntary.
        "switches": "uint64",
        # GOMAXPROCS, about once a second; 0: not a Go program, or not read.
        "gomaxprocs": "uint32",
        # Process id inside its own PID namespace; 0: that of the collector.
        "namespace_pid": "uint32",
        # Name (comm).
        "name": "utf8",
        # Command line or title, at most MAX_PROCESS_TITLE bytes, what looks like a secret left out; of a folded row empty.
        "title": "utf8",
        # User name, or the uid as text.
        "user": "utf8",
        # Name or id of its container; empty: none.
        "container": "utf8",
        # systemd unit; empty: none.
        "unit": "utf8",
    },
    # Pools of workers in the target, as an agent in the program or the program itself reports them. Those that count do so since attach.
    "pools": {
        # Number of the pool, from 1; unique within the target and never used again.
        "pool": "uint32",
        # Number of the row of `processes` that it is of; 0: the target is one process.
        "process": "uint32",
        # Process ID.
        "pid": "uint32",
        # When its figures were read, since attach, at least 1; 0: the row is gone.
        "read_ns": "uint64",
        # Mask of known figures: bit b is for the b-th column behind this one, from 0; unknown ones are 0.
        "known": "uint32",
        # Workers that it may have.
        "size": "uint32",
        # Workers that ran a job.
        "busy": "uint32",
        # Jobs that waited to be started.
        "queue": "uint32",
        # Jobs submitted.
        "submitted": "uint64",
        # Jobs started.
        "started": "uint64",
        # Jobs that ended, failed ones included.
        "finished": "uint64",
        # Jobs that ended with an error.
        "failed": "uint64",
        # From submission to end, of finished jobs.
        "response_ns": "uint64",
        # From start to end, of finished jobs.
        "run_ns": "uint64",
        # From submission to start, of started jobs.
        "queue_wait_ns": "uint64",
        # Time that workers were without a job.
        "idle_ns": "uint64",
        # How often workers went to sleep for want of work.
        "parks": "uint64",
        # Jobs that workers took from each other.
        "steals": "uint64",
        # How often tasks were polled.
        "polls": "uint64",
        # Name, unique within the program.
        "name": "utf8",
        # gomaxprocs, threads, fork-join, carriers, tokio, rayon and so on.
        "kind": "utf8",
        # agent, prometheus or hsperfdata.
        "source": "utf8",
    },
    # Jobs of pools by how long they took: bucket b is of times below 2^(b+10) ns, the last one, 31, of all longer ones too.
    "pool_times": {
        # Number of the pool.
        "pool": "uint32",
        # 0: response time of finished jobs; 1: queue wait of started jobs.
        "time": "uint32",
        # Bucket, from 0.
        "bucket": "uint32",
        # Jobs.
        "count": "uint64",
    },
    # Goroutines of Go programs by what they do and where, by the program's own goroutine profile, which is read at intervals.
    "goroutines": {
        # Number of their stack, of a row of `goroutine_stacks`.
        "stack": "uint32",
        # Goroutines at the last reading.
        "count": "uint64",
        # Time of goroutines with this stack: each counts for the time since the reading before.
        "goroutine_ns": "uint64",
        # Time that readings stand for; only in the row of all goroutines of a process.
        "covered_ns": "uint64",
    },
    # Stacks of goroutines.
    "goroutine_stacks": {
        # Number of the stack, from 1; unique within the target.
        "stack": "uint32",
        # Process id.
        "pid": "uint32",
        # Reason of the wait in words of Go's runtime: chan send, sync.Mutex.Lock, IO wait and so on; running or system call; all: all goroutines of the process.
        "reason": "utf8",
        # Innermost function of the program's own code, or else of the standard library; empty: none.
        "function": "utf8",
        # Source file of the function.
        "file": "utf8",
        # Line in it at which they are; 0: not known.
        "line": "uint32",
        # All functions, the innermost first, a line each: name, tab, file, tab, line.
        "frames": "utf8",
    },
    # Connections that wait to be accepted at listening TCP sockets of the target, which are read at intervals.
    "accept_queues": {
        # Number of the socket, from 1; unique within the target.
        "socket": "uint32",
        # Process that has the socket open, and may accept.
        "pid": "uint32",
        # Connections that waited at the last reading.
        "waiting": "uint64",
        # Time of waiting connections: each counts for the time since the reading before.
        "waiting_ns": "uint64",
        # Time in which a connection waited.
        "some_ns": "uint64",
        # Time that readings stand for.
        "covered_ns": "uint64",
        # Address and port at which it listens.
        "address": "utf8",
    },
    # Processes at the other ends of the target's TCP connections: those that it connected to, and those that have not taken 8 KiB or more of what it sent. Read at intervals.
    "peers": {
        # Number of the two processes, from 1; unique within the target.
        "peer": "uint32",
        # Process of the target.
        "pid": "uint32",
        # Process at the other end; 0 if it is on another host, or in another network namespace.
        "peer_pid": "uint32",
        # Connections between them that the target's process opened, when they were last searched.
        "opened": "uint64",
        # Connections between them that the other end does not read, at the last reading.
        "full": "uint64",
        # Bytes that wait in these.
        "unsent": "uint64",
        # Time of full connections: each counts for the time since the reading before.
        "full_ns": "uint64",
        # Time that readings stand for.
        "covered_ns": "uint64",
        # Address of the other end, without its port.
        "address": "utf8",
        # Name of the process at the other end; empty if unknown.
        "name": "utf8",
    },
    # Locks of files that processes of the target hold exclusively, or wait for, which are read at intervals.
    "file_locks": {
        # Number of the file, from 1; unique within the target.
        "file": "uint32",
        # Process that holds a lock of it, or waits for one.
        "pid": "uint32",
        # Time in which it held one exclusively.
        "held_ns": "uint64",
        # Time in which it waited for one in the kernel; not that of processes that look for it by timers.
        "waiting_ns": "uint64",
        # Time that readings stand for, since the process first had a row.
        "covered_ns": "uint64",
        # Path by which a process has the file open; empty if unknown.
        "path": "utf8",
    },
    # Disks of the machine, and network interfaces whose speed is known: how busy they are.
    "devices": {
        # Number of the device, from 1; unique within the target.
        "device": "uint32",
        # Speed of an interface in bytes a second; 0 of a disk.
        "speed": "uint64",
        # Time in which requests of a disk were under way.
        "busy_ns": "uint64",
        # Time of requests of a disk, from when they are made to their end.
        "queue_ns": "uint64",
        # Bytes that an interface received.
        "received_bytes": "uint64",
        # Bytes that an interface sent.
        "sent_bytes": "uint64",
        # disk, or network.
        "kind": "utf8",
        # Name of the device.
        "name": "utf8",
    },
    # Functions in which threads were seen. A name may come later than the frame.
    "stack_frames": {
        # Number of the frame, from 1, stable while the target is attached.
        "frame": "uint32",
        # kernel, native, go, python, java, v8, ruby, php, perl, dotnet, beam, lua or unknown.
        "kind": "utf8",
        # Demangled name; empty: unknown.
        "function": "utf8",
        # Source file; empty: unknown.
        "file": "utf8",
        # Line in it; 0: unknown.
        "line": "uint32",
        # Base name of the executable or library; empty: none.
        "module": "utf8",
        # Address in the module, as its ELF headers count; 0: none.
        "address": "uint64",
        # Build ID of the module, hexadecimal; empty: it has none.
        "build_id": "utf8",
        # Functions inlined there, outermost first, one a line: name, file and line, separated by tabs. File and line of the frame are those of the outermost call.
        "inlined": "utf8",
    },
    # Stacks as paths in a tree: a node is a frame called by the frames of its ancestors.
    "stack_nodes": {
        # Number of the node, from 1, stable while the target is attached.
        "node": "uint32",
        # Node of the caller; 0: there is none.
        "parent": "uint32",
        # Number of the frame.
        "frame": "uint32",
    },
    # Stays of threads whose stack was taken when they began, and threads seen on a CPU. A later row of a sample replaces an earlier one.
    "stack_samples": {
        # Number of the sample, from 1, ascending while the target is attached.
        "sample": "uint32",
        # Thread.
        "tid": "uint32",
        # Number of the state, as in the field `state`; on_cpu: seen on a CPU by a clock.
        "state": "uint32",
        # Innermost frame of its stack; 0: the stack is not known.
        "node": "uint32",
        # One of so many stays like it was sampled.
        "weight": "uint32",
        # Beginning of the stay, since attach; on_cpu: when it was seen.
        "begin_ns": "uint64",
        # Length of the stay as the ledger measures it; 0: it has not ended, or on_cpu.
        "wait_ns": "uint64",
        # After a wait, from the wake-up until the thread ran.
        "delay_ns": "uint64",
        # Number of the lock that was waited for, as in the table `locks`; 0: none, or not known.
        "lock": "uint32",
        # Process of the thread that ended the wait; 0: an interrupt, or not known.
        "waker_pid": "uint32",
        # That thread; 0: not known.
        "waker_tid": "uint32",
        # Innermost frame of its stack when it ended the wait; 0: not known.
        "waker_node": "uint32",
    },
    # Periods in which stacks of the target were taken. A stay that began outside of them has no sample.
    "stack_periods": {
        # Number of the period, from 1.
        "period": "uint32",
        # Beginning, since attach.
        "begin_ns": "uint64",
        # End, since attach; 0: stacks are being taken.
        "end_ns": "uint64",
    },
    # Counts of stacks by outcome, for all targets of the host, since the program that takes them was started.
    "stack_counts": {
        # 1: taken; 2: without a stack, since the unwinder does not know the process yet or gave up; 3: stays beyond the limit a second; 4: no room in a buffer; 5: beyond the bound of frames or nodes; 6: stacks that no sample asked for.
        "what": "uint32",
        # How many.
        "count": "uint64",
    },
}

KEYS: dict[TableName, tuple[str, ...]] = {
    "stays": ("tid", "state", "bucket"),
    "wakes": ("waker_tid", "waker_pid", "wakee_tid", "party"),
    "locks": ("lock", "tid"),
    "holders": ("tid", "lock"),
    "lock_names": ("lock",),
    "takers": ("tid", "pid", "kernel", "party"),
    "parties": ("party",),
    "calls": ("tid", "call"),
    "call_stays": ("tid", "call", "bucket"),
    "inexact": ("tid", "field"),
    "processes": ("process",),
    "pools": ("pool",),
    "pool_times": ("pool", "time", "bucket"),
    "goroutines": ("stack",),
    "goroutine_stacks": ("stack",),
    "accept_queues": ("socket", "pid"),
    "peers": ("peer",),
    "file_locks": ("file", "pid"),
    "devices": ("device",),
    "stack_frames": ("frame",),
    "stack_nodes": ("node",),
    "stack_samples": ("sample",),
    "stack_periods": ("period",),
    "stack_counts": ("what",),
}
"""Columns that tell the rows of a table apart, the first ones."""

ROWS: dict[TableName, RowKind] = {
    "stays": "figures",
    "wakes": "figures",
    "locks": "figures",
    "holders": "figures",
    "lock_names": "names",
    "takers": "figures",
    "parties": "names",
    "calls": "figures",
    "call_stays": "figures",
    "inexact": "figures",
    "processes": "figures",
    "pools": "figures",
    "pool_times": "figures",
    "goroutines": "figures",
    "goroutine_stacks": "names",
    "accept_queues": "figures",
    "peers": "figures",
    "file_locks": "figures",
    "devices": "figures",
    "stack_frames": "names",
    "stack_nodes": "names",
    "stack_samples": "log",
    "stack_periods": "names",
    "stack_counts": "figures",
}
"""Life cycle of the rows of a table.

figures: a row replaces an earlier one with its key; one whose figures are all 0 deletes it.
names: the same, but no row is deleted.
log: rows are added, and repeated by no key frame; a row completes an earlier one with its key.
"""
