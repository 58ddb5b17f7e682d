"""Programs with faults that no rule was written on, nor changed for."""

from incident import Incident
from incident_cases import JAVA, PYTHON, RUST, C
from incident_places import disk_limit

UNSEEN: tuple[Incident, ...] = (
    Incident(
        "c-resolvers",
        "four threads ask a server over UDP that takes 0.3 s",
        (*C, "resolvers"),
        right=r"lookup.*(bytes|answers?) .*process name-server",
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
        needs=("cargo",),
    ),
)
