"""A counter in what a program serves to Prometheus."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from tidscope_collector.confinement.children import ENDED, ChildError, LimitedChildren, Reply
from tidscope_collector.steering.loop.signals import (
    Count,
    IntervalMeter,
    PrometheusSignal,
    SignalLostError,
    SignalRefusedError,
)
from tidscope_policies.contract import Bounds, CoreShare
from tidscope_wire.generated.models import PrometheusCounter
from tidscope_wire.prometheus_text import (
    PrometheusTextError,
    Sample,
    add_up,
    read_samples,
)

TEXT = """# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{code="200"} 1200
http_requests_total{code="500"} 34
# TYPE other_total counter
other_total 7
"""
PIECES = [
    b"{",
    b"}",
    b'a="',
    b'"',
    b",",
    b" 1",
    b"\\",
    b"\n# TYPE x counter\n",
    b"\nx_total",
    b" 1e999",
]


def allowed() -> str:
    """No reason not to ask the port."""
    return ""


def test_samples_of_all_labels_are_added_up() -> None:
    assert add_up(TEXT.encode(), "http_requests_total") == 1234
    assert add_up(TEXT.encode(), "other_total") == 7
    assert add_up(TEXT.encode(), "http_requests") is None


@given(st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(PIECES)), max_size=12))
def test_whatever_a_program_serves_is_read_or_refused(pieces: list[bytes]) -> None:
    with suppress(PrometheusTextError):
        add_up(b"x_total" + b"".join(pieces), "x_total")


def test_a_counter_without_the_ending_has_it() -> None:
    text = b"# TYPE jobs counter\njobs 5\n# TYPE size gauge\nsize 6\n"
    assert add_up(text, "jobs_total") == add_up(text, "jobs") == 5
    assert add_up(text, "size_total") is None


@pytest.mark.parametrize(
    "text",
    [
        'x_total{code="200" 1',
        "x_total nonsense",
        "x_total NaN",
        "x_total +Inf",
        "x_total -1",
        'x_total 1\nx_total{a="b"} -Inf',
    ],
)
def test_what_is_no_count_is_an_error(text: str) -> None:
    with pytest.raises(PrometheusTextError):
        add_up(f"# TYPE x_total counter\n{text}\n".encode(), "x_total")


LABEL_VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=8)
SAMPLES = st.lists(
    st.tuples(
        st.sampled_from(["x_total", "x", "x_total_more", "y"]),
        # Names that begin with two underscores are reserved: prometheus_client refuses them.
        st.dictionaries(st.from_regex(r"_?[a-z][a-z0-9_]{0,3}", fullmatch=True), LABEL_VALUES),
        st.floats(),
    ),
    max_size=8,
)


@given(SAMPLES)
def test_samples_are_those_that_other_parsers_read(
    samples: list[tuple[str, dict[str, str], float]],
) -> None:
    lines = []
    for name, labels, value in samples:
        pairs = (
            '{}="{}"'.format(key, text.replace("\\", "\\\\").replace('"', '\\"'))
            for key, text in labels.items()
        )
        lines.append(f"{name}{{{','.join(pairs)}}} {value!r} 1700000000000\n")
    text = "".join(lines)
    found = list(read_samples(text.encode(), ["x_total", "y"]))
    other = [
        Sample(one.name, one.labels, one.value)
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if one.name in ("x_total", "y")
    ]
    assert sorted(map(repr, found)) == sorted(map(repr, other))


class Served(HTTPServer):
    """Serves what the test says."""

    status = 200
    text = TEXT
    asked = 0


class Handler(BaseHTTPRequestHandler):
    """Answers every path."""

    def do_GET(self) -> None:
        assert isinstance(self.server, Served)
        self.server.asked += 1
        body = self.server.text.encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served() -> Iterator[Served]:
    with Served(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def signal_of(server: Served, metric: str = "http_requests_total") -> PrometheusSignal:
    where = PrometheusCounter(port=server.server_port, path="/metrics", metric=metric)
    return PrometheusSignal(where, allowed)


def test_it_is_read_from_the_program(served: Served) -> None:
    signal = signal_of(served)
    first = signal.read()
    served.text = TEXT.replace("1200", "1210")
    second = signal.read()
    assert (first.ops, second.ops) == (1234, 1244)
    assert second.at_s > first.at_s
    assert second.wait_s is None


def test_a_counter_that_is_not_there_is_refused_by_name(served: Served) -> None:
    with pytest.raises(SignalRefusedError, match="has no metric nonsense_total"):
        signal_of(served, "nonsense_total")


def test_errors_of_the_program_are_reported(served: Served) -> None:
    signal = signal_of(served)
    served.status = 503
    with pytest.raises(SignalLostError, match="503"):
        signal.read()
    served.status, served.text = 200, "x" * (5 << 20)
    with pytest.raises(SignalLostError, match="more than"):
        signal.read()


def test_a_program_that_does_not_answer_is_lost(served: Served) -> None:
    where = PrometheusCounter(port=1, path="/metrics", metric="x_total")
    with pytest.raises(SignalLostError, match="does not answer"):
        PrometheusSignal(where, allowed)


def test_a_port_that_is_not_the_programs_any_more_is_not_asked(served: Served) -> None:
    where = PrometheusCounter(port=served.server_port, path="/", metric="http_requests_total")
    reasons = iter(["", "", "", "It belongs to another process."])
    signal = PrometheusSignal(where, lambda: next(reasons))
    asked = served.asked
    # Taken between the first reading and the connection.
    with pytest.raises(SignalRefusedError, match="another process"):
        signal.read()
    assert served.asked == asked


def test_too_many_labels_and_endless_ones_are_not_parsed() -> None:
    many = "".join(f'x_total{{a="{number}"}} 1\n' for number in range(10_001))
    for text in (many, 'x_total{a="' + "b" * 9000 + '"} 1\n'):
        with pytest.raises(PrometheusTextError, match="labels"):
            add_up(text.encode(), "x_total")
    assert add_up(f"y_total 3\n{many}".encode(), "y_total") == 3


def test_the_collector_itself_parses_nothing_of_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal = signal_of(served)

    def ended(*_: object, **__: object) -> Reply:
        raise ChildError(ENDED)

    monkeypatch.setattr(LimitedChildren, "ask", ended)
    with pytest.raises(SignalLostError, match="restart the collector"):
        signal.read()


def test_an_answer_that_is_no_text_of_prometheus_is_lost(served: Served) -> None:
    signal = signal_of(served)
    served.text = 'http_requests_total{code="200" 1\n'
    with pytest.raises(SignalLostError, match="a label is cut off"):
        signal.read()


BOUNDS = Bounds(1, 8)


def test_an_interval_is_what_was_counted_in_it_over_its_real_time() -> None:
    meter = IntervalMeter(Count(100.0, 5000), size=4)
    meter.add_part(Count(100.25, 5010))
    meter.add_part(Count(100.75, 5040))
    seen = meter.end(4, BOUNDS)
    assert (seen.ops, seen.elapsed_s, seen.size, seen.at_s) == (40, 0.75, 4, 100.75)
    assert [(part.seconds, part.ops) for part in seen.parts] == [(0.25, 10), (0.5, 30)]
    assert seen.progress == pytest.approx(40 / 0.75)
    assert not seen.moved_by_other
    assert not seen.paused
    assert seen.mean_wait_s is None


def test_another_hand_on_the_knob_is_seen() -> None:
    meter = IntervalMeter(Count(0, 0), size=4)
    meter.add_part(Count(1, 1))
    seen = meter.end(3, BOUNDS)
    assert (seen.moved_by_other, seen.size) == (True, 3)


def test_a_counter_that_starts_again_invalidates_the_interval() -> None:
    meter = IntervalMeter(Count(0, 1000), size=4)
    meter.add_part(Count(1, 10))
    meter.add_part(Count(2, 20))
    seen = meter.end(4, BOUNDS)
    assert seen.paused
    assert seen.ops == 0
    assert [part.ops for part in seen.parts] == [10]


def test_nothing_counted_is_an_interval_without_length() -> None:
    seen = IntervalMeter(Count(7, 3), size=2).end(2, BOUNDS, paused=True)
    assert (seen.elapsed_s, seen.ops, seen.parts, seen.paused) == (0, 0, (), True)


@pytest.mark.parametrize(
    ("last", "mean", "jobs"),
    [
        (Count(1, 9, wait_s=12.0, jobs=14), 0.5, 4),
        (Count(1, 9, wait_s=10.0, jobs=10), 0.0, 0),
        (Count(1, 9), None, 0),
    ],
)
def test_the_mean_time_that_jobs_waited(last: Count, mean: float | None, jobs: int) -> None:
    meter = IntervalMeter(Count(0, 0, wait_s=10.0, jobs=10), size=1)
    meter.add_part(last)
    seen = meter.end(1, BOUNDS)
    assert (seen.mean_wait_s, seen.jobs) == (mean, jobs)


def test_cores_that_the_program_used() -> None:
    meter = IntervalMeter(Count(10.0, 0), size=4, cpu_s=3.0)
    meter.add_part(Count(12.0, 100))
    assert meter.end(4, BOUNDS, cores=CoreShare(2, 1), cpu_s=4.5).cores == CoreShare(2, 1, 0.75)
    assert meter.end(4, BOUNDS, cores=CoreShare(2, 1)).cores == CoreShare(2, 1)
    assert meter.end(4, BOUNDS, cpu_s=4.5).cores is None
