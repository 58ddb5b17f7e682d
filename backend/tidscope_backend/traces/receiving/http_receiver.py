"""OTLP over HTTP: POST /v1/traces, as protobuf or JSON, plain or compressed with gzip.

Answers are those of the specification (OTLP/HTTP): 200 with what was rejected, 400 for what never
fits, 429 and 503 with Retry-After for what may be sent again.
"""

import zlib
from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from tidscope_traces.spans.reading import BadTracesError, ReadSpans
from tidscope_wire.problems import ProblemError

from tidscope_backend.traces.documents import read_document
from tidscope_backend.traces.receiving.intake import (
    MAX_REQUEST_BYTES,
    RETRY_SECONDS,
    FullError,
    Intake,
)
from tidscope_backend.traces.receiving.protobuf import read_protobuf
from tidscope_backend.traces.receiving.sender import is_sender, rejection_text

PATH = "/v1/traces"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
READERS: dict[str, Callable[[bytes], ReadSpans]] = {PROTOBUF: read_protobuf, JSON: read_document}


class _RefusalError(Exception):
    """An answer that is not 200."""

    def __init__(self, status: int, text: str, *, again: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.again = again


class _Kind(NamedTuple):
    """Media type of a request, and of its answer."""

    media_type: str

    def answer(self, message: Message, status: int = 200, *, again: bool = False) -> Response:
        is_json = self.media_type == JSON
        content = MessageToJson(message, indent=None) if is_json else message.SerializeToString()
        headers = {"Retry-After": str(RETRY_SECONDS)} if again else {}
        return Response(content, status, headers, self.media_type)


def make_app(intake: Intake, token: str) -> Starlette:
    """Make the app.

    Args:
        intake: takes the bodies.
        token: that senders show as bearer.
    """

    async def export(request: Request) -> Response:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        kind = _Kind(media_type if media_type in READERS else PROTOBUF)
        try:
            if not is_sender(request.headers.get("authorization"), token):
                raise _RefusalError(401, "show the token as `authorization: Bearer TOKEN`")
            if media_type not in READERS:
                raise _RefusalError(415, f"send {PROTOBUF} or {JSON}, not {media_type[:80]!r}")
            intake.check(0)
            body = await _body(request)
            read = await intake.take(body, READERS[media_type])
        except _RefusalError as refused:
            status = Status(message=str(refused))
            return kind.answer(status, refused.status, again=refused.again)
        except FullError:
            return kind.answer(Status(message="too many spans wait already"), 429, again=True)
        except BadTracesError as error:
            return kind.answer(Status(message=str(error)), 400)
        except ProblemError as error:
            return kind.answer(Status(message=error.problem.detail), 503, again=True)
        except ClientDisconnect:
            return Response(status_code=400)
        answer = ExportTraceServiceResponse()
        if read.rejected:
            answer.partial_success.rejected_spans = read.rejected
            answer.partial_success.error_message = rejection_text(read)
        return kind.answer(answer)

    return Starlette(routes=[Route(PATH, export, methods=["POST"])])


async def _body(request: Request) -> bytes:
    """The body, unpacked. Neither form of it may exceed the bound."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise _RefusalError(415, f"content encoding {encoding[:80]!r}: send gzip or none")
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding == "gzip" else None
    parts: list[bytes] = []
    received = size = 0
    async for chunk in request.stream():
        received += len(chunk)
        part = chunk
        if unpack is not None:
            try:
                part = unpack.decompress(chunk, MAX_REQUEST_BYTES + 1 - size)
            except zlib.error as error:
                raise _RefusalError(400, f"the body is not gzip: {error}") from None
        parts.append(part)
        size += len(part)
        if size > MAX_REQUEST_BYTES or received > MAX_REQUEST_BYTES:
            raise _RefusalError(
                413, f"a request has at most {MAX_REQUEST_BYTES} bytes, unpacked too"
            )
    if unpack is not None and not unpack.eof:
        raise _RefusalError(400, "the compressed body ends too early")
    return b"".join(parts)
