"""Waits for mutexes of Go programs, from profiles or from a recorded run."""

import http.client
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

MAX_BYTES = 64 << 20
SLACK_S = 30.0


class ProfileError(Exception):
    """There is no profile; the text says why and what to do."""


def is_address(text: str) -> bool:
    """Return True if the text is the URL of a profile rather than a file name."""
    return text.startswith(("http://", "https://"))


def fetch(address: str, seconds: float, to: Path) -> None:
    """Request a profile of the next seconds from a program, and write it to a file.

    Args:
        address: URL such as `http://127.0.0.1:6060/debug/pprof/mutex`; a loopback address.
        seconds: duration of the profile.
        to: path of the file.

    Raises:
        ProfileError: the address is remote, no program answers, or the answer is not a profile.
    """
    parts = urlsplit(address)
    host, port = _loopback(parts.hostname), parts.port
    if parts.scheme != "http" or port is None:
        raise ProfileError(f"{address} is not http://127.0.0.1:PORT/debug/pprof/mutex")
    query = {**parse_qs(parts.query), "seconds": [str(max(1, round(seconds)))]}
    path = f"{parts.path or '/debug/pprof/mutex'}?{urlencode(query, doseq=True)}"
    connection = http.client.HTTPConnection(host, port, timeout=seconds + SLACK_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise ProfileError(f"{address} does not answer: {error}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise ProfileError(f"{address} answers {answer.status} {answer.reason}")
    if len(body) > MAX_BYTES:
        raise ProfileError(f"{address} answers with more than {MAX_BYTES >> 20} MiB")
    to.write_bytes(body)


def _loopback(host: str | None) -> str:
    if host == "localhost":
        return host
    try:
        if host is not None and ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise ProfileError(f"{host or 'that'} is not this host: profiles are fetched by loopback only")


SOURCE = "go-mutex-profile"
PREFIX = "mutex released by "


def add_waits(answer: dict[str, Any], path: Path) -> None:
    """Put the waits of a run into an answer of the Go program, as if a profile had been joined.

    A run has the function that unlocked, without lines. If a function has several sections, or
    unlocks for its callers, its waits are divided evenly among them.

    Args:
        answer: answer of the Go program, without contention.
        path: folder of the run.
    """
    from tidscope_backend.store.reader import RunReader, table_growth

    reader = RunReader(path)
    names = table_growth(reader.parts, "lock_names").to_pylist()
    functions = {
        row["lock"]: row["name"].removeprefix(PREFIX) for row in names if row["source"] == SOURCE
    }
    waited: dict[str, tuple[int, int]] = {}
    for row in table_growth(reader.parts, "locks").to_pylist():
        if row["lock"] in functions:
            before = waited.get(functions[row["lock"]], (0, 0))
            waited[functions[row["lock"]]] = before[0] + row["wait_ns"], before[1] + row["waits"]
    seconds = (reader.manifest.to_ns - reader.manifest.from_ns) / 1e9
    answer["contention"] = contention_of(answer["sections"], waited, seconds)


def contention_of(
    sections: Sequence[Mapping[str, Any]], waited: Mapping[str, tuple[int, int]], seconds: float
) -> dict[str, Any]:
    """Return waits by function, in the form that the Go program reports for a profile.

    Args:
        sections: sections of the answer.
        waited: nanoseconds and number of waits, by function.
        seconds: measured time.
    """
    by_section: dict[int, tuple[float, float]] = {}
    elsewhere = []
    for function, (wait_ns, waits) in waited.items():
        places = list(_sections_of(function, sections))
        for index in places:
            before = by_section.get(index, (0.0, 0.0))
            by_section[index] = before[0] + wait_ns / len(places), before[1] + waits / len(places)
        if not places:
            elsewhere.append(
                {"function": function, "file": "", "line": 0, "wait_ns": wait_ns, "waits": waits}
            )
    return {
        "seconds": seconds,
        "wait_ns": sum(wait_ns for wait_ns, _ in waited.values()),
        "waits": sum(waits for _, waits in waited.values()),
        "sections": [
            {"index": index, "wait_ns": round(wait_ns), "waits": round(waits)}
            for index, (wait_ns, waits) in sorted(by_section.items())
        ],
        "unpaired": [],
        "elsewhere": sorted(elsewhere, key=lambda one: -int(str(one["wait_ns"]))),
    }


def _sections_of(function: str, sections: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """Return the sections that end in a function or by a call of it."""
    for index, section in enumerate(sections):
        ends = {section["function"] if not one["via"] else "" for one in section["unlocked_at"]}
        ends |= {one["via"] for one in section["unlocked_at"]}
        if function in ends - {""}:
            yield index
