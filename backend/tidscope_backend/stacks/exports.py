"""Flame graphs in formats of other tools: folded text, pprof, and OTLP profiles. Pure."""

import gzip
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tidscope_backend.stacks.code import Code
from tidscope_backend.stacks.graphs import Flame
from tidscope_backend.stacks.trees import ROOT

UNSEEN = "[unseen]"
"""Name of the time without a known stack."""


class Exported(NamedTuple):
    """A flame graph with its place in time.

    Attributes:
        flame: the flame graph.
        begin_unix_ns: begin of the window, Unix nanoseconds.
        length_ns: length of the window.
        label: name of the target or run.
    """

    flame: Flame
    begin_unix_ns: int
    length_ns: int
    label: str


class Stack(NamedTuple):
    """A stack with its time.

    Attributes:
        codes: functions, the innermost first; empty for time without a known stack.
        ns: time in which the first one was the innermost.
        samples: its samples.
    """

    codes: tuple[Code, ...]
    ns: int
    samples: int


def stacks_of(flame: Flame) -> Iterator[Stack]:
    """Yield stacks with any time, in the order of the tree, and the unseen time last."""
    tree, times = flame.tree, flame.times
    samples = times.samples.tolist()
    own = list(samples)
    for node, parent in enumerate(tree.parent):
        if parent != ROOT:
            own[parent] -= samples[node]
    for node, ns in enumerate(times.self_ns.tolist()):
        if round(ns):
            codes = tuple(tree.code[one] for one in tree.path(node))
            yield Stack(codes, round(ns), own[node])
    if round(flame.unseen_ns):
        yield Stack((), round(flame.unseen_ns), 0)


def folded(flame: Flame) -> Iterator[str]:
    """Yield lines of folded stacks: functions separated by semicolons, and nanoseconds."""
    for stack in stacks_of(flame):
        names = [_plain(code.function) for code in reversed(stack.codes)] or [UNSEEN]
        yield f"{';'.join(names)} {stack.ns}"


def _plain(name: str) -> str:
    return "".join(":" if sign == ";" else sign if sign.isprintable() else " " for sign in name)


class Index:
    """Numbers of values, in order of their first use.

    Args:
        first: value with number 0.
    """

    def __init__(self, first: Any) -> None:
        self.values: list[Any] = [first]
        self._places: dict[Any, int] = {first: 0}

    def place(self, value: Any) -> int:
        """Return the number of a value; it is added if needed."""
        place = self._places.setdefault(value, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


NO_CODE = Code("", "", "", 0, "", inlined=False, named=False)


def _codes(stack: Stack) -> tuple[Code, ...]:
    return stack.codes or (NO_CODE._replace(function=UNSEEN),)


def pprof(exported: Exported) -> bytes:
    """Return a profile of `go tool pprof`: compressed profile.proto, with time and samples."""
    strings, modules, functions, places = Index(""), Index(""), Index(()), Index(())
    out: list[bytes] = [
        _message(1, _number(1, strings.place(kind)) + _number(2, strings.place(unit)))
        for kind, unit in (("samples", "count"), ("time", "nanoseconds"))
    ]
    stacks = list(stacks_of(exported.flame))
    # Readers take the first module for the program: threads begin in it.
    outermost = (code.module for stack in stacks for code in reversed(stack.codes))
    modules.place(next((module for module in outermost if module and ".so" not in module), ""))
    for stack in stacks:
        ids = []
        for code in _codes(stack):
            function = functions.place((code.function, code.file))
            ids.append(places.place((modules.place(code.module), function, code.line)))
        out.append(_message(2, _packed(1, ids) + _packed(2, [stack.samples, stack.ns])))
    for number, module in enumerate(modules.values[1:], 1):
        known = b"".join(_number(flag, 1) for flag in (7, 8, 9, 10))
        name = _number(5, strings.place(module))
        # Ranges must differ, or readers take modules for one.
        span = _number(2, number << 32) + _number(3, (number + 1) << 32)
        out.append(_message(3, _number(1, number) + span + name + known))
    for number, (module, function, line) in enumerate(places.values[1:], 1):
        where = _message(4, _number(1, function) + _number(2, line))
        address = _number(3, (module << 32) + number) if module else b""
        out.append(_message(4, _number(1, number) + _number(2, module) + address + where))
    for number, (name, file) in enumerate(functions.values[1:], 1):
        named = _number(2, strings.place(name)) + _number(3, strings.place(name))
        out.append(_message(5, _number(1, number) + named + _number(4, strings.place(file))))
    label = strings.place(f"tidscope: {exported.label}")
    out += [_message(6, text.encode()) for text in strings.values]
    out += [_number(9, exported.begin_unix_ns), _number(10, exported.length_ns)]
    out += [_packed(13, [label]), _number(14, strings.place("time"))]
    return gzip.compress(b"".join(out), mtime=0)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, number: int) -> bytes:
    """Encode a field; 0 is left out."""
    return _varint(field << 3) + _varint(number) if number else b""


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _packed(field: int, numbers: Iterable[int]) -> bytes:
    return _message(field, b"".join(map(_varint, numbers)))


def otlp(exported: Exported) -> bytes:
    """Return OTLP profiles as JSON (opentelemetry-proto, profiles/v1development).

    The format is in development: collectors of other versions may refuse it.
    """
    strings, modules, functions = Index(""), Index(""), Index(("", ""))
    places, stacks = Index((0, 0, 0)), Index(())
    samples = []
    for stack in stacks_of(exported.flame):
        locations = []
        for code in _codes(stack):
            function = functions.place((code.function, code.file))
            locations.append(places.place((modules.place(code.module), function, code.line)))
        place = stacks.place(tuple(locations))
        samples.append({"stackIndex": place, "values": [str(stack.ns)]})
    dictionary = {
        "mappingTable": [{"filenameStrindex": strings.place(one)} for one in modules.values],
        "locationTable": [
            {
                "mappingIndex": module,
                "lines": [{"functionIndex": function, "line": str(line)}] if function else [],
            }
            for module, function, line in places.values
        ],
        "functionTable": [
            {"nameStrindex": strings.place(name), "filenameStrindex": strings.place(file)}
            for name, file in functions.values
        ],
        "linkTable": [{}],
        "attributeTable": [{}],
        "stackTable": [{"locationIndices": list(one)} for one in stacks.values],
    }
    profile = {
        "sampleType": {
            "typeStrindex": strings.place("time"),
            "unitStrindex": strings.place("nanoseconds"),
        },
        "samples": samples,
        "timeUnixNano": str(exported.begin_unix_ns),
        "durationNano": str(exported.length_ns),
    }
    name = {"key": "service.name", "value": {"stringValue": exported.label}}
    document = {
        "resourceProfiles": [
            {
                "resource": {"attributes": [name]},
                "scopeProfiles": [{"scope": {"name": "tidscope"}, "profiles": [profile]}],
            }
        ],
        "dictionary": {**dictionary, "stringTable": strings.values},
    }
    return json.dumps(document).encode()
