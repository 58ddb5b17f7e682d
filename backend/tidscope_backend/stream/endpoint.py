"""/ws/live: WebSocket of a subscriber; reads its commands and sends its pending messages."""

import asyncio
from collections import Counter
from collections.abc import Callable

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    FrameAck,
    LiveCommand,
    LiveState,
    Role,
    Subscribe,
    Unsubscribe,
)
from tidscope_wire.problems import ProblemError

from tidscope_backend.connections.connection import CloseError, close
from tidscope_backend.security.authenticator import Principal, accepted_protocol, principal_of
from tidscope_backend.security.rights import LIVE_COMMANDS, grants
from tidscope_backend.security.sessions import Session, Sessions
from tidscope_backend.settings import Settings
from tidscope_backend.stream.fanout import Fanout, Subscriber, state_text
from tidscope_backend.stream.subscription import Bounds
from tidscope_backend.text import validation_text

_COMMAND: TypeAdapter[Subscribe | Unsubscribe | FrameAck] = TypeAdapter(LiveCommand)


def live_router(
    settings: Settings, fanout: Fanout, state: Callable[[], LiveState], sessions: Sessions
) -> APIRouter:
    """Make the route; access is checked before.

    Args:
        settings: bounds and timeouts.
        fanout: adds and removes subscribers.
        state: returns the current hosts and targets.
        sessions: sessions; the end of a session closes its connections.
    """
    router = APIRouter()
    bounds = Bounds(settings.queue_frames, settings.queue_bytes, settings.merged_bytes)
    connected: Counter[Role] = Counter()

    @router.websocket("/ws/live")
    async def live(socket: WebSocket) -> None:
        principal = principal_of(socket.scope)
        await socket.accept(accepted_protocol(socket.scope))
        role = principal.role
        viewers_full = role == "viewer" and connected[role] >= settings.max_viewer_subscribers
        if viewers_full or fanout.subscribers >= settings.max_subscribers:
            pages = (
                f"{connected[role]} pages of viewers"
                if viewers_full
                else f"{fanout.subscribers} pages"
            )
            await close(socket, CloseCode.TOO_MANY, f"{pages} are connected already")
            return
        subscriber = Subscriber(bounds, principal.sees_arguments)
        connected[role] += 1
        fanout.add(subscriber)
        subscriber.enqueue_state(state_text(state(), subscriber.sees_arguments))
        writer = asyncio.create_task(_write(socket, subscriber, settings.stall_seconds))
        reader = asyncio.create_task(_read(socket, subscriber, principal, fanout))
        session = asyncio.create_task(_until_ended(principal.session, sessions))
        tasks = (writer, reader, session)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except CloseError as error:
            await close(socket, error.code, error.reason)
        except (WebSocketDisconnect, RuntimeError):
            pass  # The subscriber disconnected; a send after that raises RuntimeError.
        finally:
            connected[role] -= 1
            fanout.remove(subscriber)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return router


async def _write(socket: WebSocket, subscriber: Subscriber, stall_seconds: float) -> None:
    while True:
        message = await subscriber.next_message()
        try:
            # The server's send() waits until the transport's buffer has drained. A slow subscriber
            # blocks here, and only its queue fills.
            async with asyncio.timeout(stall_seconds):
                if isinstance(message, str):
                    await socket.send_text(message)
                else:
                    await socket.send_bytes(message)
        except TimeoutError:
            raise CloseError(
                CloseCode.STALLED, f"nothing was taken for {stall_seconds:g} s"
            ) from None


async def _until_ended(session: Session | None, sessions: Sessions) -> None:
    """Wait until the session ends; programs without a session wait for ever."""
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    if session is None:
        await ended
        return
    unsubscribe = sessions.subscribe(session.id, ended.set_result)
    try:
        # The session may have ended while the connection was accepted.
        reason = await ended if sessions.get(session.id) else "it was signed out"
    finally:
        unsubscribe()
    raise CloseError(CloseCode.UNAUTHENTICATED, f"the session has ended: {reason}")


async def _read(
    socket: WebSocket, subscriber: Subscriber, principal: Principal, fanout: Fanout
) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is None:
            raise CloseError(CloseCode.BAD_MESSAGE, "a command is text, this message was binary")
        try:
            command = _COMMAND.validate_json(text)
        except ValidationError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, validation_text(error)) from None
        if not grants(principal.grant, LIVE_COMMANDS[command.type]):
            raise CloseError(CloseCode.BAD_MESSAGE, f"{command.type} is not for this session")
        try:
            if isinstance(command, Subscribe):
                fanout.subscribe(subscriber, command.target, command.after_seq)
            elif isinstance(command, FrameAck):
                subscriber.acknowledge(command.frames)
            else:
                fanout.unsubscribe(subscriber, command.target)
        except ProblemError as refused:
            subscriber.enqueue_problem(refused.problem)
