"""Programs with one known fault each and a healthy twin, and the answer that each should get.

A case is started twice: with its fault and without. Findings are judged by rules: `right` matches a
sentence that names the cause and the party, `symptom` one that is true of an effect only,
`misleading` one that blames somebody or something that has no part in it.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incident_places import Place, bare, cpu_limit, disk_limit, hog, memory_limit, postgres, redis

HERE = Path(__file__).resolve().parent / "incident_programs"
BUSY_CPU = r"(?:chromium|tidscope|python3?) .*ran while"
"""True of the benchmark's own browser on a small machine, and neither right nor wrong."""


@dataclass(frozen=True)
class Incident:
    """A program with a fault.

    Attributes:
        name: unique name.
        fault: what is wrong with it.
        program: words of its command, but for the last: `fault` or `healthy`.
        right: expression for the right cause with the right party.
        symptom: expression for a true sentence that does not name the cause.
        misleading: expression for a wrong one, beside those that match neither of both.
        place: what it needs around it: limits, other programs, a server.
        tree: whether its children are watched, too.
        silent_is_right: there is no fault that findings could know, so that silence is right.
        healthy: findings of the healthy twin that are no false alarm.
        begins_s: when the fault begins, in seconds from the program's start.
        asked: True if only the program's own account can tell, which needs --ask-programs.
    """

    name: str
    fault: str
    program: tuple[str, ...]
    right: str
    symptom: str = r"(?!)"
    misleading: str = r"(?!)"
    place: Callable[..., Place] = bare
    tree: bool = False
    silent_is_right: bool = False
    healthy: str = r"(?!)"
    begins_s: float = 0.0
    asked: bool = False

    def verdict(self, sentences: Sequence[str]) -> str:
        """Judge the findings, most important first: right, symptom, misleading or silent.

        A right one counts among the first three, if none before it misleads.
        """
        found = [one for one in sentences if not re.search(BUSY_CPU, one)]
        if self.silent_is_right:
            return "misleading" if found else "right"
        for one in found[:3]:
            if re.search(self.right, one):
                return "right"
            if re.search(self.misleading, one):
                return "misleading"
        if any(re.search(self.symptom, one) for one in found):
            return "symptom"
        return "misleading" if found else "silent"

    def false_alarms(self, sentences: Sequence[str]) -> list[str]:
        """Findings of the healthy twin that are none."""
        allowed = f"{BUSY_CPU}|{self.healthy}"
        return [one for one in sentences if not re.search(allowed, one)]


C = ("{build}/incident",)
PYTHON = ("python3", str(HERE / "incident.py"))
COUNTED = (
    *("env", f"PYTHONPATH={HERE.parents[1] / 'agents' / 'python'}"),
    *("python3", str(HERE / "counted_pool.py")),
)
GO = ("{build}/incident-go",)
JAVA = ("java", "-Xmx192m", "-cp", "{build}/java", "Incident")
NODE = ("node", str(HERE / "incident.mjs"))

INCIDENTS: tuple[Incident, ...] = (
    Incident(
        "c-held-over-io",
        "8 threads append to a journal and hold its mutex while it is synced",
        (*C, "held-over-io"),
        right=r"journal_mutex.*(sync|disk)",
        symptom=r"journal_mutex|disk",
        place=disk_limit,
    ),
    Incident(
        "c-hot-thread",
        "one parser feeds six workers and computes all the time",
        (*C, "hot-thread"),
        right=r"parser.*(runs|all the time)",
        symptom=r"worker.*(idle|wait)",
        misleading=r"one lock",
    ),
    Incident(
        "c-timer-herd",
        "200 threads wake at the same instant",
        (*C, "timer-herd"),
        right=r"timer.*(same (time|moment|instant)|at once|together)",
        symptom=r"run-queue|waits for a CPU|could have run",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "c-false-sharing",
        "two threads count in one cache line: waits do not show it",
        (*C, "false-sharing"),
        right=r"(?!)",
        silent_is_right=True,
    ),
    Incident(
        "c-page-faults",
        "two parsers map, touch and unmap 16 MiB all the time",
        (*C, "fault-storm"),
        right=r"parser.*page fault",
        symptom=r"system time|kernel",
    ),
    Incident(
        "c-convoy",
        "12 sessions take one lock for each piece of work and hold it for a millisecond",
        (*C, "convoy"),
        right=r"(12|11) (threads|of).*(table_mutex|session)",
        symptom=r"lock",
        misleading=r"were idle",
    ),
    Incident(
        "c-lock-burst",
        "for ten seconds 12 threads hold a lock a hundred times longer",
        (*C, "lock-burst"),
        right=r"(Since|From) \d\d:.*(1[012]) threads.*stock_mutex",
        symptom=r"stock_mutex",
        misleading=r"were idle",
        begins_s=12.0,
    ),
    Incident(
        "c-broadcast",
        "12 threads are woken for each job, and one gets it",
        (*C, "broadcast"),
        right=r"taker.*woken together.*for nothing",
        symptom=r"taker|queue_mutex",
        misleading=r"were idle",
        healthy=r"taker.*were idle",
    ),
    Incident(
        "c-deadlock",
        "transfers take the locks of two accounts in either order; the main thread awaits a signal",
        (*C, "deadlock"),
        right=r"Deadlock: 2 threads.*transfer.*account_mutex.*account_mutex",
        symptom=r"account_mutex|stand",
        misleading=r"were idle",
        healthy=r"account_mutex",
    ),
    Incident(
        "c-fifo",
        "a thread of SCHED_FIFO computes on the CPU of three servers",
        (*C, "starvation"),
        right=r"realtime",
        symptom=r"run-queue|waits for a CPU",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "c-thread-leak",
        "a thread a request that never ends",
        (*C, "thread-leak"),
        right=r"request.*(grow|more threads|never end|new threads)",
        misleading=r"were idle",
    ),
    Incident(
        "c-slow-client",
        "4 senders stream to a client that hardly reads",
        (*C, "slow-client"),
        right=r"sender.*(send|peer|reads).*(slow-client|incident|\d{2,})",
        symptom=r"sender.*(send|network)",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "c-fork-storm",
        "two handlers start a command for each request",
        (*C, "fork-storm"),
        right=r"handler.*(start|fork).*(process|true|command)|true.*(process|started)",
        symptom=r"child",
        tree=True,
    ),
    Incident(
        "cpu-stolen",
        "another program computes on every CPU",
        (*C, "even-work"),
        right=r"nightly-backup.*ran while",
        symptom=r"run-queue|waits for a CPU",
        place=hog,
    ),
    Incident(
        "cpu-throttled",
        "four workers may use half a CPU",
        (*C, "even-work"),
        right=r"CPU limit.*throttled",
        misleading=r"ran while",
        place=cpu_limit,
    ),
    Incident(
        "disk-limited",
        "two flushers write files, to a disk that takes 4 MB a second of them",
        (*C, "file-writer"),
        right=r"flusher.*disk.*limit",
        symptom=r"flusher.*disk",
        place=disk_limit,
        healthy=r"flusher.*disk",
    ),
    Incident(
        "memory-reclaim",
        "two threads look up in files of 96 MiB and may have 24 MiB",
        (*C, "reclaim"),
        right=r"index.*(memory limit|memory is short|not enough memory|has too little memory)",
        symptom=r"index.*(disk|mapped files)",
        place=memory_limit,
    ),
    Incident(
        "python-gil",
        "eight threads compute in Python",
        (*PYTHON, "gil-pool"),
        right=r"GIL",
        misleading=r"were idle|disk",
    ),
    Incident(
        "python-executor",
        "a pool of four gets twice the jobs that it can do",
        (*PYTHON, "full-executor"),
        right=r"(job|ThreadPool).*(full|queue|busy|all \d+)",
        symptom=r"job|ThreadPool",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "python-semaphore",
        "two of a pool of twelve may ask a store at a time",
        (*PYTHON, "semaphore"),
        right=r"(8|9|1[0-2]) threads.*locks in heap.*(render|ThreadPool).*few may use",
        symptom=r"render|ThreadPool",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "python-consumers",
        "twelve consumers of a queue that a producer hardly feeds: idle, and nothing else",
        (*PYTHON, "consumers"),
        right=r"consume.*were idle",
        misleading=r"release to each other|one lock|[Dd]eadlock|each other",
    ),
    Incident(
        "python-deadlock",
        "two threads take two locks in opposite order and the main thread waits for them",
        (*PYTHON, "deadlock"),
        right=r"All 3 threads.*none is left.*deadlock",
        misleading=r"were idle",
    ),
    Incident(
        "python-dip",
        "for five seconds a compaction holds the lock that all jobs need",
        COUNTED,
        right=r"From \d\d:.*Operations of pool requests fell.*meanwhile .*(lock|Lock)",
        symptom=r"Operations of pool requests fell|lock",
        misleading=r"were idle",
        begins_s=20.0,
    ),
    Incident(
        "python-event-loop",
        "an asyncio server hashes a password in its loop",
        (*PYTHON, "event-loop"),
        right=r"event loop|between two polls|does not poll",
        symptom=r"runs .* of the time",
        misleading=r"were idle|one lock|GIL",
    ),
    Incident(
        "python-slow-dependency",
        "six threads wait for a service that takes half a second",
        (*PYTHON, "slow-dependency"),
        right=r"(checkout|work|python).*(answer|wait).*process python3? \(\d+",
        symptom=r"(checkout|work|python).*(network|socket|receiv|wait)",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "python-n-plus-one",
        "two threads ask a store 200 times for each request",
        (*PYTHON, "n-plus-one"),
        right=r"(list-orders|work|python).*asks.*times a second",
        symptom=r"list-orders|(work|python).*waits",
        misleading=r"were idle|one lock|GIL",
    ),
    Incident(
        "go-held-over-fsync",
        "16 goroutines hold a mutex while a file is synced",
        (*GO, "held-over-fsync"),
        right=r"sync.*one (thread )?at a time|one at a time.*sync|mutex|Mutex.*\.Sync",
        symptom=r"disk|sync",
        place=disk_limit,
        misleading=r"were idle",
    ),
    Incident(
        "go-semaphore",
        "two at a time may work of 300 a second",
        (*GO, "full-semaphore"),
        right=r"goroutines wait for a place in a channel.*fullSemaphore.*main\.go:\d+",
        symptom=r"goroutine",
        misleading=r"were idle",
        asked=True,
    ),
    Incident(
        "java-monitor",
        "16 threads post to one ledger, 2 ms each",
        (*JAVA, "monitor"),
        right=r"(15|16) (threads|of).*(posting|lock|monitor|LEDGER)|posting.*each other",
        symptom=r"lock",
        misleading=r"were idle",
    ),
    Incident(
        "java-garbage",
        "the heap is nearly full",
        (*JAVA, "garbage"),
        right=r"[Gg]arbage|GC",
        symptom=r"lock",
        misleading=r"were idle",
    ),
    Incident(
        "java-executor",
        "a pool of four gets more than twice the jobs that it can do",
        (*JAVA, "executor"),
        right=r"(threads of pool).*(full|queue|busy)",
        symptom=r"pool",
        misleading=r"were idle",
    ),
    Incident(
        "node-event-loop",
        "a Node server sorts for 80 ms at a request",
        NODE,
        right=r"event loop|between two polls|does not poll",
        symptom=r"runs .* of the time",
        misleading=r"were idle",
    ),
    Incident(
        "postgres-row-lock",
        "16 clients update one row",
        (),
        right=r"(1[0-6]|[89]) .*(postgres|client).*(lock|each other)|postgres.*each other",
        symptom=r"postgres.*wait|lock",
        misleading=r"were idle|disk",
        place=postgres,
        tree=True,
        healthy=r"disk",
    ),
    Incident(
        "redis-healthy",
        "Redis under load, well",
        (),
        right=r"(?!)",
        silent_is_right=True,
        place=redis,
    ),
)


def there(incident: Incident) -> str:
    """Why an incident cannot be tried here; empty if it can."""
    programs = {"postgres-row-lock": ("pgbench",), "redis-healthy": ("redis-server",)}
    words = programs.get(incident.name, incident.program[:1])
    missing = [one for one in words if not one.startswith("{") and not shutil.which(one)]
    return f"{missing[0]} is not installed" if missing else ""
