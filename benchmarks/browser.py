"""Debian's chromium over its DevTools protocol: a page, its workers, their heaps and processes."""

import asyncio
import base64
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from websockets.asyncio.client import ClientConnection, connect

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1440,900",
    "--remote-debugging-port=0",
)
START_S = 30.0


class Page:
    """A page and its workers.

    Args:
        link: connection to the browser.
        browser: first process of the browser.
    """

    def __init__(self, link: ClientConnection, browser: psutil.Process) -> None:
        self._link = link
        self.browser = browser
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self._workers = set[str]()

    async def open(self, script: str) -> None:
        """Open an empty page; the script runs before those of each address that it goes to."""
        target = await self._call("Target.createTarget", "", url="about:blank")
        attached = await self._call(
            "Target.attachToTarget", "", targetId=target["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        await self.call("Page.enable")
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        await self.call(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True
        )

    async def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol on the page."""
        return await self._call(method, self._session, **parameters)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page. Raises RuntimeError if it throws."""
        answer = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    async def emulate(self, width: int, height: int, scheme: str) -> None:
        """Change the size of the window, in CSS pixels, and the colour scheme: light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def picture(self, file: Path) -> None:
        """Save what the window shows as PNG."""
        taken = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(taken["data"]))

    async def until(self, expression: str, seconds: float = 60) -> None:
        """Wait until an expression is true in the page."""
        async with asyncio.timeout(seconds):
            while True:
                if await self.evaluate(expression):
                    return
                await asyncio.sleep(0.1)

    async def heaps(self) -> dict[str, float]:
        """Heap sizes of the page and its workers after a collection, in bytes.

        Returns:
            `page` and `workers`: objects, those of the browser's own included; `arrays`: what typed
            arrays and the like hold, of both.
        """
        found = {"page": 0.0, "workers": 0.0, "arrays": 0.0}
        for session in (self._session, *self._workers):
            await self._call("HeapProfiler.collectGarbage", session)
            usage = await self._call("Runtime.getHeapUsage", session)
            objects = usage["usedSize"] + usage["embedderHeapUsedSize"]
            found["page" if session == self._session else "workers"] += objects
            found["arrays"] += usage["backingStorageSize"]
        return found

    async def renderer(self) -> psutil.Process:
        """Return the renderer process that has used the most CPU."""
        found = (await self._call("SystemInfo.getProcessInfo", ""))["processInfo"]
        drawing = [one for one in found if one["type"] == "renderer"]
        return psutil.Process(max(drawing, key=lambda one: float(one["cpuTime"]))["id"])

    async def read(self) -> None:
        """Read the browser's messages until cancelled."""
        async for text in self._link:
            message = json.loads(text)
            if "id" in message:
                future = self._waiting.pop(message["id"], None)
                if future is None or future.done():
                    continue
                if "error" in message:
                    future.set_exception(RuntimeError(str(message["error"])))
                else:
                    future.set_result(message["result"])
                continue
            parameters = message.get("params", {})
            if message["method"] == "Target.attachedToTarget":
                if parameters["targetInfo"]["type"] == "worker":
                    self._workers.add(parameters["sessionId"])
            elif message["method"] == "Target.detachedFromTarget":
                self._workers.discard(parameters["sessionId"])

    async def _call(self, method: str, session: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        await self._link.send(json.dumps(message))
        async with asyncio.timeout(60):
            return await future


@asynccontextmanager
async def open_page(url: str, script: str = "") -> AsyncIterator[Page]:
    """Open an address in a browser of its own, which ends with the context.

    Args:
        url: address to open.
        script: runs before the page's own.
    """
    program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
        try:
            address = await _address(Path(folder) / "DevToolsActivePort")
            async with connect(address, max_size=None, ping_interval=None) as link:
                page = Page(link, psutil.Process(process.pid))
                reading = asyncio.create_task(page.read())
                try:
                    await page.open(script)
                    await page.call("Page.navigate", url=url)
                    yield page
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
        finally:
            process.terminate()
            await process.wait()


async def _address(file: Path) -> str:
    """Wait for the browser's address."""
    async with asyncio.timeout(START_S):
        while True:
            if len(lines := _lines(file)) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            await asyncio.sleep(0.05)


def _lines(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []
