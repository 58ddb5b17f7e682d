"""Answers cut to what a message holds, with a word about it; never sent beyond it. Pure."""

from tidscope_wire.generated.limits import MAX_REPLY_BYTES
from tidscope_wire.generated.models import DoctorReply, Process, ProcessesReply, RefusedReply
from tidscope_wire.problems import make_problem

from tidscope_collector.uplink.commands import Reply

SHORT_COMMAND = 200
"""Characters of a command line that stay in a list that is too long."""
SHORT_FINDING = 2_000
"""Characters of each text that stay in a report that is too long."""


def reply_text(reply: Reply, most_bytes: int = MAX_REPLY_BYTES) -> str:
    """An answer as the text of a message of at most so many bytes."""
    text = reply.model_dump_json()
    if _size(text) > most_bytes:
        if isinstance(reply, ProcessesReply):
            text = _cut_processes(reply, most_bytes).model_dump_json()
        elif isinstance(reply, DoctorReply):
            text = _cut_report(reply).model_dump_json()
    size = _size(text)
    if size > most_bytes:
        problem = make_problem(
            "internal",
            f"the answer has {size:,} bytes, and a message holds {most_bytes:,}",
            "Look at the collector's host itself.",
        )
        text = RefusedReply(request_id=reply.request_id, problem=problem).model_dump_json()
    return text


def _size(text: str) -> int:
    return len(text.encode())


def _cut_processes(reply: ProcessesReply, most_bytes: int) -> ProcessesReply:
    """Shorten command lines; where that is not enough, leave out processes, small ones first."""
    short = [_with_short_command(one) for one in reply.processes]
    note = f"Command lines are cut to {SHORT_COMMAND} characters: the list is too long."
    cut = ProcessesReply(request_id=reply.request_id, processes=short, note=note)
    if _size(cut.model_dump_json()) <= most_bytes:
        return cut
    room = most_bytes - 1_000
    kept: list[Process] = []
    for process in sorted(short, key=_weight, reverse=True):
        room -= _size(process.model_dump_json()) + 1
        if room < 0:
            break
        kept.append(process)
    note = (
        f"{len(kept):,} of {len(short):,} processes are listed, those that can be attached to and "
        f"have the most threads first, with up to {SHORT_COMMAND} characters of their command "
        f"lines: a message holds {most_bytes:,} bytes."
    )
    kept.sort(key=lambda process: process.pid)
    return ProcessesReply(request_id=reply.request_id, processes=kept, note=note)


def _weight(process: Process) -> tuple[bool, int, int]:
    return process.refusal is None, process.threads, process.rss_bytes or 0


def _with_short_command(process: Process) -> Process:
    command = process.command
    if command is None or len(command) <= SHORT_COMMAND:
        return process
    return process.model_copy(update={"command": command[:SHORT_COMMAND] + "…"})


def _cut_report(reply: DoctorReply) -> DoctorReply:
    """Shorten the texts of its checks."""
    checks = [
        check.model_copy(
            update={name: _short(getattr(check, name)) for name in ("finding", "impact", "fix")}
        )
        for check in reply.report.checks
    ]
    return reply.model_copy(update={"report": reply.report.model_copy(update={"checks": checks})})


def _short(text: str) -> str:
    if len(text) <= SHORT_FINDING:
        return text
    return f"{text[:SHORT_FINDING]}… ({len(text) - SHORT_FINDING:,} more characters)"
