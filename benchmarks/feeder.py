"""Sends a made-up program's frames to a real backend, as a collector does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from made_program import MadeProgram
from tidscope_collector.uplink.commands import parse
from tidscope_collector.uplink.frames import FRAMES
from tidscope_collector.uplink.sign_in import SignIn, open_link
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorHello,
    CollectorWelcome,
    FramesReceived,
    RefusedReply,
)
from tidscope_wire.problems import make_problem
from tidscope_wire.proof import host_credential
from websockets.asyncio.client import ClientConnection

_MADE_UP = make_problem("not-steerable", "the program is made up", "Steer a real one.")


class Feeder:
    """Sends a made-up program's frames.

    Attributes:
        program: program whose frames are sent.
        confirmed: number of the last frame that the backend has.
    """

    def __init__(
        self, control: ClientConnection, frames: ClientConnection, program: MadeProgram
    ) -> None:
        self._control, self._frames = control, frames
        self.program = program
        self.confirmed = 0
        self._more = asyncio.Event()
        self._over = False

    async def send(self, frames: int, ahead: int = 64) -> None:
        """Send the next frames; never more than `ahead` beyond what the backend has confirmed."""
        for _ in range(frames):
            while self.program.seq - self.confirmed >= ahead:
                if self._over:
                    raise SystemExit("the backend closed the connection: nobody confirms frames")
                self._more.clear()
                await self._more.wait()
            await self._frames.send(self.program.next_frame())

    async def receive(self) -> None:
        """Read receipts until cancelled."""
        try:
            async for message in self._frames:
                received = parse(message)
                if not isinstance(received, FramesReceived):
                    continue
                self.confirmed = received.targets.get(self.program.target.id, self.confirmed)
                self._more.set()
        finally:
            # A sender that waits for receipts would wait forever.
            self._over = True
            self._more.set()

    async def refuse(self) -> None:
        """Refuse commands until cancelled: the page asks how to steer."""
        async for message in self._control:
            number = json.loads(message)["request_id"]
            refused = RefusedReply(request_id=number, problem=_MADE_UP)
            await self._control.send(refused.model_dump_json())


@asynccontextmanager
async def feeder(address: str, secret: str, program: MadeProgram) -> AsyncIterator[Feeder]:
    """Connect to a backend as the collector of a made-up host.

    Args:
        address: address of the backend, http://….
        secret: secret of its host `default`.
        program: program whose frames are sent.
    """
    url = f"{address.replace('http', 'ws', 1)}/ws/collector"
    credential = host_credential(secret)
    async with open_link(url, SignIn(url, credential)) as control:
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION, host=program.host, targets=[program.target], policies=[]
        )
        await control.send(hello.model_dump_json())
        welcome = CollectorWelcome.model_validate_json(await control.recv())
        assert welcome.frames is not None
        data = url + FRAMES
        async with open_link(data, SignIn(data, credential)) as frames:
            opening = CollectorFrames(
                protocol=PROTOCOL_VERSION, host=program.host.id, ticket=welcome.frames
            )
            await frames.send(opening.model_dump_json())
            CollectorWelcome.model_validate_json(await frames.recv())
            feeding = Feeder(control, frames, program)
            tasks = [asyncio.create_task(one) for one in (feeding.receive(), feeding.refuse())]
            try:
                yield feeding
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
