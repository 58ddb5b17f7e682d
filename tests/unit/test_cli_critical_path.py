"""`tidscope critical-path`: what it reads, prints and writes."""

import gzip
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from scripted_run import write_run
from tidscope_backend.cli import main
from tidscope_backend.critical_paths.exports import folded_stacks
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.spans.model import Trace
from tidscope_traces.summary.analysis import describe
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import summarise_all
from trace_builders import EPOCH_NS, MS, jaeger_document, made_span, made_trace

HOSTILE = '<script>alert("x")</script>;&'


def request(number: int, b: float, c: float = 0, *, error: bool = False) -> Trace:
    trace_id = f"{number:032x}"
    spans = [
        made_span("GET /", 0, 10 + b + c, trace_id=trace_id, error=error, span_id="a"),
        made_span("find", 5, 5 + b + c, "a", trace_id=trace_id, error=error, service="bank"),
    ]
    if c:
        spans.append(
            made_span(HOSTILE, 6, 6 + c, "find", trace_id=trace_id, error=error, span_id="c")
        )
    return made_trace(*spans)


OTHER_ENDPOINT = made_trace(
    made_span("POST /", 0, 40, trace_id=f"{99:032x}", span_id="a"),
    made_span("find", 0, 30, "a", trace_id=f"{99:032x}", service="bank"),
)
TRACES = [request(n, 20, 50 if n > 5 else 0, error=n == 10) for n in range(1, 11)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(jaeger_document(*TRACES)))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["critical-path", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(capsys, *arguments, "--json"))
    return document


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["critical-path", *map(str, arguments)]) == 1
    return capsys.readouterr().err


def test_operations_are_ranked_over_several_endpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(jaeger_document(TRACES[0], OTHER_ENDPOINT)))
    first = next(line for line in run(capsys, path).splitlines() if "over all endpoints" in line)
    assert first.split() == [
        *("over", "all", "endpoints", "mean", "share", "endpoints", "own", "time", "traces")
    ]
    ranked = as_json(capsys, path)["everywhere"]
    assert (ranked[0]["operation"], ranked[0]["endpoints"]) == ("find", 2)
    assert ranked[0]["mean_share"] == pytest.approx((20 / 30 + 30 / 40) / 2)
    assert ranked[0]["exclusive_ns"] == 50 * MS
    latency = next(one for one in run(capsys, path).splitlines() if one.startswith("latency"))
    assert latency.endswith(" 40.0 ms")
    shapes = {one["name"]: one for one in as_json(capsys, path)["shapes"]}
    assert (shapes["spans"]["most"], sum(shapes["spans"]["counts"])) == (2, 2)
    path.write_text(json.dumps(jaeger_document(TRACES[0])))
    assert "over all endpoints" not in run(capsys, path)


def test_what_people_read(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, file)
    assert text.startswith("10 requests: P50 30.0 ms, P95 80.0 ms, P99 80.0 ms\n1 request failed\n")
    rows = [re.split(r" {2,}", line) for line in text.splitlines()]
    assert rows[3][:4] == ["operation", "share", "P50 own", "P95 own"]
    assert rows[4] == [
        *(f"shop: {HOSTILE}", "45.5%", "0 µs", "50.0 ms", "5", "25.0 ms", "25.0 ms", "0 µs"),
        "20%",
    ]
    assert rows[5][:3] == ["bank: find", "36.4%", "20.0 ms"]
    chain = f"shop: GET / → bank: find → shop: {HOSTILE}"
    assert [chain, "45.5%", "25.0 ms", "5", f"{6:032x}"] in rows
    assert [chain, "1", "3", f"{10:032x}"] in rows


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, file)
    assert (found["files"], found["spans"], found["traces"], found["errors"]) == (1, 25, 10, 1)
    assert found["tree"][0] == {
        "service": "shop",
        "operation": "GET /",
        "parent": -1,
        "inclusive_ns": 550 * MS,
        "exclusive_ns": 100 * MS,
        "count": 10,
        "traces": 10,
        "exemplars": [f"{n:032x}" for n in (6, 7, 8)],
    }
    assert [row["operation"] for row in found["ranking"]] == [HOSTILE, "find", "GET /"]
    assert found["failures"][0]["exemplar"] == f"{10:032x}"
    assert found["trace_facts"][0] == {
        "trace_id": f"{1:032x}",
        "duration_ns": 30 * MS,
        "spans": 2,
        "depth": 2,
        "concurrency": 1,
        "path_contexts": 2,
    }
    assert (found["difference"], found["projected"]) == (None, None)


def test_which_requests(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, file, "--endpoint", "shop:GET /")["traces"] == 10
    assert as_json(capsys, file, "--endpoint", "bank:find", "--inner")["traces"] == 10
    assert as_json(capsys, file, "--percentiles", "50-100")["traces"] == 5
    assert as_json(capsys, file, "--percentiles", "p99")["traces"] == 1
    assert as_json(capsys, file, "--tag", "span.kind=internal")["traces"] == 10
    for excluded in ("find", "bank:find"):
        found = as_json(capsys, file, "--exclude", excluded)
        assert [row["operation"] for row in found["tree"]] == ["GET /"]
    assert "none of 10 traces has that endpoint" in refusal(capsys, file, "--endpoint", "no:one")


def test_a_projection(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, file, "--less", "bank:find=15ms")["projected"]["p50_ns"] == 15 * MS
    text = run(capsys, file, "--less", "bank:find=-5ms")
    assert "if bank: find took 5.0 ms more: P50 30.0 ms → 35.0 ms" in text
    assert "no trace has bank: fin" in refusal(capsys, file, "--less", "bank:fin=1ms")


def test_a_comparison(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = tmp_path / "before.json.gz"
    base.write_bytes(gzip.compress(json.dumps(jaeger_document(*TRACES[:5])).encode()))
    found = as_json(capsys, file, "--base", base)["difference"]
    assert (found["base_traces"], found["other_traces"]) == (5, 10)
    assert found["tree"][2]["other_exclusive_ns"] == 25 * MS
    assert found["grown"] == [2]
    assert f"→ shop: {HOSTILE}   25.0 ms    0 µs  25.0 ms" in run(capsys, file, "--base", base)


def test_sets_of_files(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Comparisons differ only in the description of the base."""
    arguments = ("--percentiles", "50-100", "--base", "percentiles=0-50")
    found = as_json(capsys, file, *arguments)["difference"]
    assert (found["base_traces"], found["other_traces"]) == (5, 5)
    assert "50 to 100 % against" in run(capsys, file, *arguments)
    early = ("--until", "2023-11-14T22:13:19Z")
    assert "no traces of that time" in refusal(capsys, file, *early)
    assert as_json(capsys, file, "--since", "2023-11-14T22:13:20Z")["traces"] == 10
    assert "no traces of that time" in refusal(capsys, file, "--since", "1h")
    nothing = ("--base", "until=2023-11-14T22:13:19Z")
    assert "there are no requests to compare with (" in refusal(capsys, file, *nothing)
    assert "name a run or files" in refusal(capsys, file, "--run", "x")


def test_sets_of_stored_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests that begin a second apart, of processes 100 and 200 in turn."""
    second = 1_000_000_000
    spans = [
        span._replace(
            start_ns=span.start_ns + number * second,
            end_ns=span.end_ns + number * second,
            pid=100 if number % 2 else 200,
        )
        for number, trace in enumerate(TRACES, 1)
        for span in trace.spans
    ]
    SpanStore(lambda: tmp_path, tmp_path, SpanRetention(None, None), lambda: 1e9).add(spans)
    early, late = (
        write_run(tmp_path, number, name=name, started_unix_us=EPOCH_NS // 1000 + first * 1_000_000)
        for number, first, name in ((1, 3, "before"), (2, 7, "after"))
    )
    stored = ("--runs-dir", tmp_path, "--endpoint", "shop:GET /")
    assert as_json(capsys, *stored, "--run", "before")["traces"] == 2
    found = as_json(capsys, *stored, "--run", late.id, "--base", "run=before")["difference"]
    assert (found["base_traces"], found["other_traces"]) == (2, 2)
    assert found["tree"][2]["other_exclusive_ns"] == 50 * MS
    text = run(capsys, *stored, "--run", "after", "--base", f"run={early.id}")
    assert f"run after against run {early.id}" in text
    moment = "2023-11-14T22:13:26Z"
    arguments = (*stored, "--since", moment, "--base", f"until={moment}")
    found = as_json(capsys, *arguments)["difference"]
    assert (found["base_traces"], found["other_traces"]) == (5, 5)
    assert "no run in" in refusal(capsys, *stored, "--run", "never")
    assert "is stored" in refusal(capsys, *stored, "--since", "10m")


def test_requests_unlike_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Compared within their endpoint: those of another are not unlike these."""
    other = [made_trace(made_span("PUT /", 0, 3, trace_id=f"{n:032x}")) for n in range(100, 105)]
    typical = [request(n, 20 + n % 7) for n in range(1, 60)]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(jaeger_document(*typical, request(99, 22, 40), *other)))
    (found,) = as_json(capsys, path)["anomalies"]
    assert (found["trace_id"], found["kind"]) == (f"{99:032x}", "unseen")
    assert [step["operation"] for step in found["chain"]] == ["GET /", "find", HOSTILE]
    assert re.search(r"unseen +-?\d+\.\d +72\.0 ms +0+63\n", run(capsys, path))


def test_stored_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spans in a store to which a backend is still writing."""
    store = SpanStore(lambda: tmp_path, tmp_path, SpanRetention(None, None), lambda: 1e9)
    where = ("--runs-dir", tmp_path)
    assert "none are stored" in refusal(capsys, *where)
    store.add([span for trace in TRACES for span in trace.spans])
    assert refusal(capsys, *where).split("\n")[1:] == ["  shop:GET / (10)", ""]
    found = as_json(capsys, *where, "--endpoint", "shop:GET /")
    assert (found["files"], found["traces"], found["spans"]) == (0, 10, 25)
    assert as_json(capsys, *where, "--endpoint", "bank:find", "--inner")["traces"] == 10
    assert "no trace of bank: find is stored" in refusal(capsys, *where, "--endpoint", "bank:find")
    store.close()
    assert run(capsys, *where, "--endpoint", "shop:GET /").startswith("10 requests: P50 30.0 ms")


class Page(HTMLParser):
    """Collects the elements of a page, and attributes that refer to other files."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]


def test_files_that_it_writes(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folded, dot = (tmp_path / name for name in ("r.html", "r.folded", "r.dot"))
    text = run(capsys, file, "--html", page, "--folded", folded, "--dot", dot)
    assert text.splitlines()[-3:] == [f"wrote {path}" for path in (page, folded, dot)]
    assert folded.read_text().splitlines() == [
        "shop: GET / 100000",
        "shop: GET /;bank: find 200000",
        f"shop: GET /;bank: find;shop: {HOSTILE.replace(';', ',')} 250000",
    ]
    graph = dot.read_text()
    assert graph.startswith("digraph") and graph.endswith("}\n")
    assert graph.count("->") == 2
    assert r"alert(\"x\")" in graph
    html = page.read_text()
    shown = Page(html)
    assert shown.links == []
    assert shown.tags.count("script") == 1
    assert shown.tags.count("svg") == 10
    assert "&lt;script&gt;alert" in html
    assert "Difference: P95 against P50" in html
    assert main(["critical-path", str(file), "--html", str(tmp_path)]) == 1


def write_requests(path: Path, *sets: range, error: int = -1) -> Path:
    path.write_text(
        json.dumps(
            jaeger_document(
                *(request(n, 20 + n % 7, error=n == error) for numbers in sets for n in numbers)
            )
        )
    )
    return path


def test_anomalies_against_other_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure in ten requests says nothing by itself; none of the earlier ones failed."""
    later = write_requests(tmp_path / "later.json", range(1000, 1010), error=1004)
    earlier = write_requests(tmp_path / "earlier.json", range(1, 200))
    assert as_json(capsys, later)["anomalies"] == []
    (found,) = as_json(capsys, later, "--base", earlier)["anomalies"]
    assert (found["trace_id"], found["kind"]) == (f"{1004:032x}", "failed")
    assert found["chain"][0]["operation"] == "GET /"
    assert re.search(
        rf"failed +\d+\.\d +3\d\.0 ms  {1004:032x}", run(capsys, later, "--base", earlier)
    )
    few = write_requests(tmp_path / "few.json", range(1, 20))
    assert as_json(capsys, later, "--base", few)["anomalies"] == []
    assert "anomalies are not known: the reference takes 30 requests" in run(
        capsys, later, "--base", few
    )


def test_progress_is_shown_to_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write_requests(tmp_path / f"{number}.json", range(100 * number + 1, 100 * number + 101))
    assert main(["critical-path", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["critical-path", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    for text in ("1 of 3 files", "3 of 3 files, 300 requests", "300 of 300 requests compared"):
        assert f"\r\x1b[K{text}" in said
    assert said.endswith("\r\x1b[K")
    assert main(["critical-path", str(write_requests(tmp_path / "one.json", range(1, 251)))]) == 0
    assert "\r\x1b[K200 traces" in capsys.readouterr().err


CHAIN_SPANS = 200_000 if os.environ.get("TIDSCOPE_DEEP_TESTS") else 20_000


def test_a_long_chain_of_spans_ends() -> None:
    """With 200,000 spans, a play of the whole chain for each of a hundred operations would take
    minutes, and a line with all callers of each span 100 GB."""
    spans = [
        made_span(f"s{n % 100}", n / 1000, 500 - n / 1000, str(n - 1) if n else "", span_id=str(n))
        for n in range(CHAIN_SPANS)
    ]
    summaries = summarise_all([made_trace(*spans)], Options(potential=True, calls=True))
    (trace,) = summaries.traces
    assert trace.depth == CHAIN_SPANS
    assert trace.potential is not None
    assert 1 <= sum(trace.potential[1] > 0) < 100
    lines = list(folded_stacks(describe(summaries).tree))
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 500_000
    assert max(map(len, lines)) < 10_000


def otlp_line(trace: Trace) -> str:
    spans = [
        {
            "traceId": span.trace_id,
            "spanId": span.span_id,
            "parentSpanId": span.parent_id,
            "name": span.operation,
            "startTimeUnixNano": str(span.start_ns),
            "endTimeUnixNano": str(span.end_ns),
        }
        for span in trace.spans
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


def test_folders_of_files_of_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes read them; spans of a trace may be in different lines of OTLP."""
    for number, trace in enumerate(TRACES[:6]):
        (tmp_path / f"{number}.json").write_text(json.dumps(jaeger_document(trace)))
    late = made_trace(made_span("late", 6, 20, "find", trace_id=f"{9:032x}"))
    lines = [otlp_line(TRACES[8]), "", otlp_line(late)]
    (tmp_path / "spans.jsonl").write_text("\n".join(lines))
    (tmp_path / "notes.txt").write_text("not read")
    found = as_json(capsys, tmp_path)
    assert (found["files"], found["traces"], found["spans"]) == (7, 7, 17)
    assert sum(row["exclusive_ns"] for row in found["tree"]) == (30 * 5 + 80 * 2) * MS


def test_spans_that_are_wrong_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = jaeger_document(TRACES[0])
    document["data"][0]["spans"].append({"traceID": "/"})
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    assert "1 spans were left out: '/' is not an id" in run(capsys, path)
    document["data"][0]["spans"] = [{"traceID": "/"}]
    path.write_text(json.dumps(document))
    assert "no span could be read; the first has '/' is not an id" in refusal(capsys, path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x", "it is no JSON"),
        ('{"a": 1}', "a trace has no spans"),
        ('{"resourceSpans": []}\nx}', "line 2 is no JSON"),
        ('{"data": []}', "the files have no traces"),
        ("[1]", "a trace is no object"),
    ],
)
def test_files_that_are_no_traces(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    assert said in refusal(capsys, path)


def test_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no file that ends in .json" in refusal(capsys, tmp_path)
    assert "there is no file" in refusal(capsys, tmp_path / "none")
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(b"[]" * 1000)[:-12])
    assert "cut.json.gz" in refusal(capsys, cut)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--endpoint", "x"),
        ("--tag", "x"),
        ("--percentiles", "60-50"),
        ("--less", "a:b=5"),
        ("--roots", "all"),
        ("--since", "yesterday"),
        ("--base", "percentiles=9"),
    ],
)
def test_options_that_are_wrong(arguments: tuple[str, str], file: Path) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["critical-path", str(file), *arguments])
    assert exited.value.code == 2
