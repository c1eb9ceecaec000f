"""Chromium without a window and without a network, driven by its DevTools protocol over two pipes."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files", "--remote-debugging-pipe",
)  # fmt: skip
Message = dict[str, Any]


class Page:
    """One tab: it answers commands, and keeps the events that came meanwhile."""

    def __init__(self, write_to: int, read_from: int) -> None:
        self.out, self.input = os.fdopen(write_to, "wb"), os.fdopen(read_from, "rb")
        self.number, self.session = 0, ""
        self.events: list[Message] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def receive(self) -> Message:
        received = bytearray()
        while (byte := self.input.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium has ended")
            received += byte
        return json.loads(received)

    def send(self, method: str, **parameters: Any) -> Message:
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        self.out.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str) -> None:
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def show(self, url: str, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Load a page as a screen of this width shows it."""
        phone = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.send("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """The value of an expression in JavaScript; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors of scripts, lines that the browser logs as errors, and requests that failed or left the site."""
        found = []
        for event in self.events:
            method, given = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(given["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
            elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
                found.append(given["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = given["request"]["url"]
                if not url.startswith(("file:", "data:", "http://127.0.0.1:", "blob:")):
                    found.append(f"a request to {url}")
        return found

    def picture(self, path: Path, most: int = 16_000) -> None:
        """Write the whole page as a PNG, as far as `most` pixels down."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], most), "scale": 1}
        taken = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def open_page() -> Iterator[Page]:
    """A tab of a new browser, whose profile is deleted at the end."""
    if CHROMIUM is None:
        raise FileNotFoundError("no chromium: apt-get install chromium")
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="fastmetrics-browser-", ignore_cleanup_errors=True) as profile:
        # The browser reads from descriptor 3 and writes to descriptor 4.
        command = f'exec "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'
        browser = subprocess.Popen(
            ["bash", "-c", command, "bash", CHROMIUM, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser[0], from_browser[1]), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser[0])
        os.close(from_browser[1])
        page = Page(to_browser[1], from_browser[0])
        try:
            yield page
        finally:
            page.session = ""
            page.send("Browser.close")
            browser.wait(30)
            page.out.close()
            page.input.close()
