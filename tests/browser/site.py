"""Serves dist/web to the browser tests, with answers that a test can break one at a time."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tools.serve import HOST, StaticHandler, StaticServer

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = ROOT / "dist" / "web"
BLANK = b"<!doctype html><meta charset=utf-8><title>blank</title><link rel=icon href=data:,>"


def file_path(role: str) -> str:
    """The site's path of a file that manifest.json lists: "/files/model-int4.….bin"."""
    manifest = json.loads((SITE / "manifest.json").read_text("utf-8"))
    return f"/{manifest['files'][role]['path']}"


Answer = Callable[["Handler"], None]


class Handler(StaticHandler):
    root = SITE
    quiet = True
    site: Site

    def do_GET(self) -> None:
        self.path = self.path.removeprefix(self.site.prefix)
        path = urlsplit(self.path).path
        self.site.requests.append(path)
        answer = self.site.answers.get(path)
        if answer is None:
            super().do_GET()
        else:
            answer(self)

    def end_headers(self) -> None:
        for name, value in self.site.headers.items():
            self.send_header(name, value)
        super().end_headers()


class Site:
    """A running server of a folder.

    `answers` by path, `headers` of every answer and `prefix`, a path that the site seems to lie
    under, are the test's to set.
    """

    def __init__(self, root: Path = SITE) -> None:
        self.prefix = ""
        self.answers: dict[str, Answer] = {"/blank.html": content(BLANK, "text/html")}
        self.headers: dict[str, str] = {}
        self.requests: list[str] = []
        self.ended = threading.Event()
        handler = type("SiteHandler", (Handler,), {"site": self, "root": root})
        self.server: ThreadingHTTPServer = StaticServer((HOST, 0), handler)
        self.url = f"http://{HOST}:{self.server.server_address[1]}/"


@contextmanager
def running_site(root: Path = SITE) -> Iterator[Site]:
    site = Site(root)
    thread = threading.Thread(target=site.server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        site.ended.set()
        site.server.shutdown()
        thread.join()
        site.server.server_close()


def content(body: bytes, kind: str, announced: int | None = None) -> Answer:
    """200 with a body; where `announced` is more than it has, the connection then ends."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(announced or len(body)))
        handler.send_header("Cache-Control", "no-store")
        handler.end_headers()
        handler.wfile.write(body)
        if announced:
            handler.close_connection = True

    return answer


def stalled(body: bytes, announced: int) -> Answer:
    """200 and the start of a body, then nothing until the test ends."""

    def answer(handler: Handler) -> None:
        content(body, "application/octet-stream", announced)(handler)
        handler.wfile.flush()
        handler.site.ended.wait()

    return answer


def missing(handler: Handler) -> None:
    handler.send_error(404)
