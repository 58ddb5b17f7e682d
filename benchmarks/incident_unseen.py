"""Programs that were written after the rules, to see what these say of faults that nobody knew.

Rules that were changed for some of them since then are in docs/results.
"""

from incident import HERE, Incident
from incident_cases import GO, JAVA, PYTHON, RUST, C
from incident_places import disk_limit
from incident_processes import PROGRAMS

ASKING = ("java", "-Xmx192m", "-cp", "{build}/java", "Asking")
ASKS = ("python3", str(HERE / "asking.py"))

UNSEEN: tuple[Incident, ...] = (
    Incident(
        "c-resolvers",
        "four threads ask a server over UDP that takes 0.3 s",
        (*C, "resolvers"),
        right=r"lookup.*(bytes|answers?) .*process(es of)? name-server",
        symptom=r"lookup.*(network|bytes|wait)",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "c-unix-reader",
        "three threads log over Unix sockets to a process that takes 40 KiB a second",
        (*C, "unix-reader"),
        right=r"logging.*send.*process log-shipper",
        symptom=r"logging.*send",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "java-permits",
        "twelve threads share two permits of a semaphore",
        (*JAVA, "permits"),
        right=r"(9|1[0-2]) threads.*checkout.*(each other|few may use)",
        symptom=r"checkout|lock",
        misleading=r"were idle",
    ),
    Incident(
        "python-logging-lock",
        "ten threads log, and the handler syncs its file under its lock",
        (*PYTHON, "logging-lock"),
        right=r"([89]|10) threads.*lock.*(sync|disk)",
        symptom=r"lock|disk|sync",
        place=disk_limit,
        misleading=r"were idle|GIL",
    ),
    Incident(
        "python-one-at-a-time",
        "an HTTP server without threads, and ten clients",
        (*PYTHON, "one-at-a-time"),
        right=r"wait to be accepted.*python3?",
        symptom=r"python3?.*(sleep|busy)",
        misleading=r"were idle|one lock|each other",
    ),
    Incident(
        "rust-blocked-async",
        "handlers of tokio block both workers for 60 ms",
        (*RUST, "blocked-async"),
        right=r"tokio.*(sleep|busy|full|blocked|in a call)",
        symptom=r"tokio|client.*(bytes|answer)",
        misleading=r"were idle|one lock|each other",
        # Answers take their time in the twin, too.
        healthy=r"client-# waits .* for bytes",
        needs=("cargo",),
    ),
    Incident(
        "java-thread-leak",
        "a thread for each request that never ends",
        (*JAVA, "thread-leak"),
        right=r"(number of threads|threads) .*grow",
        misleading=r"were idle",
    ),
    Incident(
        "python-thread-leak",
        "a thread for each request that waits for an event that never comes",
        (*PYTHON, "thread-leak"),
        right=r"(number of threads|threads) .*grow",
        misleading=r"were idle|deadlock",
    ),
    Incident(
        "python-process-pool",
        "a pool of three processes gets twice the jobs that it can do",
        (*PROGRAMS, "process-pool"),
        right=r"python3?.*(busy all the time|full|queue)",
        symptom=r"python3?.*(pipe|sleep|wait)",
        misleading=r"were idle|one lock|each other",
        tree=True,
    ),
    Incident(
        "node-n-plus-one",
        "a Node program asks a store 200 times for each request, one question after the other",
        ("node", str(HERE / "asking.mjs")),
        right=r"row-store.*times a second|(asks|wakes).*row-store",
        symptom=r"row-store",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "go-n-plus-one",
        "goroutines ask a store 200 times for each request, one question after the other",
        (*GO, "asking"),
        right=r"(asks|wakes).*incident-go.*times a second|incident-go.*asks",
        symptom=r"incident-go.*(network|bytes)",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "sh-fork-storm",
        "a script starts a program for each sum",
        ("sh", str(HERE / "storm.sh")),
        right=r"starts .*processes a second of expr",
        symptom=r"expr|processes a second",
        tree=True,
    ),
    Incident(
        "java-n-plus-one",
        "two threads ask a store 200 times for each request",
        (*ASKING, "n-plus-one"),
        right=r"handler.*asks .*row-store.*times a second",
        symptom=r"handler.*(row-store|bytes|network)",
        misleading=r"were idle|one lock|finds nothing",
    ),
    Incident(
        "java-slow-dependency",
        "all six threads of a pool wait for a service that takes 300 ms",
        (*ASKING, "slow-dependency"),
        right=r"pool-.*(bytes|answers?) .*price-service",
        symptom=r"pool-.*(bytes|network|busy)",
        misleading=r"were idle|one lock",
        # Jobs of the twin never end, either.
        healthy=r"busy all the time",
    ),
    Incident(
        "java-locked-call",
        "twelve threads hold one lock while they ask a service for 5 ms",
        (*ASKING, "locked-call"),
        right=r"booking.*(each other|few may use|one lock)",
        symptom=r"booking|lock",
        misleading=r"were idle",
    ),
    Incident(
        "c-long-write",
        "eight threads read a table that one writes, and locks for 30 ms each time",
        (*C, "long-write"),
        right=r"[78] threads waited.*table_lock",
        symptom=r"lookup|lock",
        misleading=r"were idle",
    ),
    Incident(
        "c-full-queue",
        "six threads fill a queue with four places, and one takes 3 ms for each job",
        (*C, "full-queue"),
        right=r"scan.*(full|queue)|queue.*full",
        symptom=r"scan|lock",
        misleading=r"were idle",
    ),
    Incident(
        "go-garbage",
        "the heap may hardly grow, and goroutines fill it",
        (*GO, "garbage"),
        right=r"[Gg]arbage|collect",
        symptom=r"incident-go.*(CPU|runs)",
        misleading=r"were idle|each other",
    ),
    Incident(
        "node-garbage",
        "the heap of a Node program is nearly full",
        ("node", str(HERE / "garbage.mjs")),
        right=r"[Gg]arbage|collect",
        symptom=r"event loop|V8|node",
        misleading=r"were idle|each other",
    ),
    Incident(
        "python-http-n-plus-one",
        "two threads ask a store over HTTP 100 times for each request",
        (*ASKS, "n-plus-one"),
        right=r"handler?.*asks .*row-store.*times a second",
        symptom=r"handler?.*(row-store|bytes|network)|GIL",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "python-full-queue",
        "six threads fill a queue of four, and one takes 20 ms for each job",
        (*ASKS, "full-queue"),
        right=r"scan.*(full|queue)|queue.*full",
        symptom=r"scan|lock",
        misleading=r"were idle",
    ),
    Incident(
        "rust-full-channel",
        "six threads fill a channel with two places, and one takes 10 ms for each message",
        (*RUST, "full-channel"),
        right=r"scan.*(full|queue|channel)|queue.*full",
        symptom=r"scan|lock",
        misleading=r"were idle",
        needs=("cargo",),
    ),
)
