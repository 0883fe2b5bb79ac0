# SPDX-License-Identifier: ISC
"""A headless Chromium, driven by chromedriver through the WebDriver protocol, with nothing but the standard library."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# Nothing of these is wanted by a test: a profile of its own that talks to nobody.
ARGUMENTS = [
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--hide-scrollbars",
    "--force-color-profile=srgb",
]


class Browser:
    """One session; use it as a context."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="oncewrap-browser.")
        self.driver = None
        self.session = None
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._call("DELETE", "")
        except OSError:
            pass
        if self.driver:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _start(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.base = f"http://127.0.0.1:{int(line.strip().rstrip('.').split()[-1])}"
                break
        else:
            raise RuntimeError("chromedriver has not started")
        arguments = ARGUMENTS + [f"--user-data-dir={self.profile}"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
        answer = self._call("POST", None, {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "perfLoggingPrefs": {"enableNetwork": True}},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        self.session = answer["sessionId"]
        self.open("about:blank")  # and not the browser's own first page
        self.console()
        self.requests()

    def _call(self, method, path, body=None):
        url = f"{self.base}/session" + ("" if path is None else f"/{self.session}{path}")
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def devtools(self, command, **parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, scheme="light", width=1280, height=900, zoom=1):
        """As on a window of that size, where the reader has zoomed in: as a browser does it, with fewer CSS pixels."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.devtools("Emulation.setDeviceMetricsOverride", width=width // zoom, height=height // zoom,
                      deviceScaleFactor=zoom, mobile=False)

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def console(self):
        """Every message so far; each is given once."""
        return self._call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """The addresses of all requests so far; each is given once."""
        messages = [json.loads(entry["message"])["message"] for entry in self._call("POST", "/se/log", {"type": "performance"})]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def picture(self, path):
        """The whole page as a PNG file."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                             clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
