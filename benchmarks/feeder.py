"""Sends a made-up program's frames to a real backend, as a collector on /ws/collector."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from made_program import MadeProgram
from tidscope_collector.uplink.sign_in import SignIn, open_link
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
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

    def __init__(self, link: ClientConnection, program: MadeProgram) -> None:
        self._link = link
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
            await self._link.send(self.program.next_frame())

    async def receive(self) -> None:
        """Read receipts until cancelled, and refuse commands: the page asks how to steer."""
        try:
            async for message in self._link:
                if '"frames_received"' in str(message):
                    received = FramesReceived.model_validate_json(message)
                    self.confirmed = received.targets.get(self.program.target.id, self.confirmed)
                    self._more.set()
                elif '"request_id"' in str(message):
                    number = json.loads(message)["request_id"]
                    refused = RefusedReply(request_id=number, problem=_MADE_UP)
                    await self._link.send(refused.model_dump_json())
        finally:
            # A sender that waits for receipts would wait forever.
            self._over = True
            self._more.set()


@asynccontextmanager
async def feeder(address: str, secret: str, program: MadeProgram) -> AsyncIterator[Feeder]:
    """Connect to a backend as the collector of a made-up host.

    Args:
        address: address of the backend, http://….
        secret: secret of its host `default`.
        program: program whose frames are sent.
    """
    url = f"{address.replace('http', 'ws', 1)}/ws/collector"
    async with open_link(url, SignIn(url, host_credential(secret))) as link:
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION, host=program.host, targets=[program.target], policies=[]
        )
        await link.send(hello.model_dump_json())
        CollectorWelcome.model_validate_json(await link.recv())
        feeding = Feeder(link, program)
        receiving = asyncio.create_task(feeding.receive())
        try:
            yield feeding
        finally:
            receiving.cancel()
            with suppress(asyncio.CancelledError):
                await receiving
