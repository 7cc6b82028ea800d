"""A static file server for development: python3 -m tools.serve FOLDER [--port N]

It answers GET and HEAD on this machine only. WebAssembly is sent as application/wasm, without which
Pyodide hangs; nothing outside the folder is reachable. Files with their hash in their name are kept
by browsers for ever, others are revalidated with an ETag. FILE.zst, FILE.br or FILE.gz is
sent for FILE to clients that take it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import posixpath
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

HOST = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
    ".whl": "application/zip",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".ts": "text/plain; charset=utf-8",
}
BINARY = "application/octet-stream"
# Coding of Accept-Encoding -> ending of the file beside. Best first: all in all zstd makes files no
# larger than Brotli does, and a browser unpacks it in a fraction of the time.
CODINGS = {"zstd": ".zst", "br": ".br", "gzip": ".gz"}
HASHED = re.compile(r"\.[0-9a-f]{16}\.\w+$")
FOR_EVER = "public, max-age=31536000, immutable"


class StaticHandler(BaseHTTPRequestHandler):
    """Serves the folder that a subclass names in `root`."""

    root: Path
    quiet = False
    protocol_version = "HTTP/1.1"
    server_version = "tern-serve"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        path = urlsplit(self.path).path
        file = self._find(path)
        if file is None or (file.is_file() and path.endswith("/")):
            self.send_error(HTTPStatus.NOT_FOUND)
        elif file.is_dir():
            if not path.endswith("/"):
                self._redirect(f"{quote(posixpath.basename(unquote(path)))}/")
            elif (file / "index.html").is_file():
                self._send_file(file / "index.html", with_body=with_body)
            else:
                self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send_file(file, with_body=with_body)

    def _find(self, url_path: str) -> Path | None:
        """The file or folder of a URL path; None when there is none inside the root."""
        path = unquote(url_path)
        if "\0" in path or "\\" in path:
            return None
        root = self.root.resolve()
        # Resolved before the check, so that neither ".." nor a link leads out.
        found = (root / path.lstrip("/")).resolve()
        if found.is_relative_to(root) and (found.is_file() or found.is_dir()):
            return found
        return None

    def _send_file(self, file: Path, *, with_body: bool) -> None:
        coding = self._coding(file)
        sent = file.with_name(file.name + CODINGS[coding]) if coding else file
        with sent.open("rb") as content:
            facts = os.fstat(content.fileno())
            length = facts.st_size
            tag = f'"{_digest(sent, facts.st_mtime_ns, length)[:32]}"'
            known = {t.strip() for t in self.headers.get("If-None-Match", "").split(",")}
            unchanged = tag in known
            self.send_response(HTTPStatus.NOT_MODIFIED if unchanged else HTTPStatus.OK)
            self.send_header("ETag", tag)
            self.send_header("Cache-Control", FOR_EVER if HASHED.search(file.name) else "no-cache")
            self.send_header("Vary", "Accept-Encoding")
            self.send_header("Last-Modified", formatdate(file.stat().st_mtime, usegmt=True))
            if not unchanged:
                self.send_header("Content-Type", TYPES.get(file.suffix, BINARY))
                self.send_header("Content-Length", str(length))
                if coding:
                    self.send_header("Content-Encoding", coding)
            self.end_headers()
            if with_body and not unchanged:
                self.connection.sendfile(content)

    def _coding(self, file: Path) -> str | None:
        """The coding that the client likes best of those that a file beside `file` has, or None."""
        taken = accepted(self.headers.get("Accept-Encoding", ""))
        weights = {coding: taken.get(coding, taken.get("*", 0.0)) for coding in CODINGS}
        # sorted() leaves those of one weight in the order of CODINGS.
        for coding in sorted(weights, key=weights.__getitem__, reverse=True):
            if weights[coding] > 0 and file.with_name(file.name + CODINGS[coding]).is_file():
                return coding
        return None

    def _redirect(self, location: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        if not self.quiet:
            super().log_message(format, *arguments)


@functools.lru_cache(maxsize=1024)
def _digest(file: Path, changed_ns: int, length: int) -> str:
    """SHA-256 of a file, hex, taken anew when its time or its length has changed."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def accepted(header: str) -> dict[str, float]:
    """Coding -> weight, of an Accept-Encoding header. What cannot be read counts as refused."""
    weights = {}
    for item in header.split(","):
        coding, _, parameter = item.partition(";")
        weight = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", parameter or "q=1")
        if coding.strip():
            weights[coding.strip().lower()] = float(weight[1]) if weight else 0.0
    return weights


class StaticServer(ThreadingHTTPServer):
    """Threads, so that a page's parallel requests do not wait for each other."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        # A page that is closed while it loads is no error.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def port_number(argument: str) -> int:
    """A port of the command line, for argparse; 0 stands for a free one."""
    port = int(argument) if argument.isdecimal() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{argument!r} is no port, which are 0 to 65535")
    return port


def make_server(root: Path, port: int = 0, *, quiet: bool = False) -> ThreadingHTTPServer:
    """A server of `root` on 127.0.0.1, bound but not running; port 0 takes a free one.

    Run it with serve_forever(); its port is server_address[1].
    """
    handler = type("Handler", (StaticHandler,), {"root": root, "quiet": quiet})
    return StaticServer((HOST, port), handler)


@contextmanager
def running(root: Path) -> Iterator[ThreadingHTTPServer]:
    """A server of `root` on a free port, quiet, which runs until the block ends."""
    with make_server(root, quiet=True) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def serve(root: Path, port: int, path: str = "/") -> None:
    """Serve `root` until interrupted, after printing the URL of `path`."""
    try:
        server = make_server(root, port, quiet=True)
    except OSError as error:
        sys.exit(f"port {port} of {HOST}: {error.strerror}; --port 0 takes a free one")
    with server:
        print(f"http://{HOST}:{server.server_address[1]}{path}  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Serve a folder on this machine.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=port_number, default=8000)
    options = parser.parse_args(arguments)
    serve(options.folder, options.port)


if __name__ == "__main__":
    main()
