"""The engine starts once, in the first request that needs it, whatever becomes of that request."""

from __future__ import annotations

import json
import shutil
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.worker.client import MODEL, embed, get, post
from tests.worker.servers import BUILT, Server, workerd

REQUEST = {"model": MODEL, "input": "a small boat"}


def starts(server: Server) -> int:
    return sum(entry["event"] == "engine_started" for entry in server.log_entries())


def test_what_needs_no_engine_starts_none(tmp_path: Path) -> None:
    with workerd(tmp_path) as server:
        for path in ("/", "/health", "/openapi.json", "/v1/models", f"/v1/models/{MODEL}", "/nope"):
            get(server, path)
        post(server, "/v1/embeddings", {"model": MODEL, "input": 1})
        post(server, "/similarity", {"a": [1], "b": [1]})
        assert get(server, "/health").json() == {"status": "ok", "engine": "cold"}
        assert starts(server) == 0


def test_an_aborted_first_request_and_many_after_it_share_one_start(tmp_path: Path) -> None:
    body = json.dumps(REQUEST).encode()
    head = b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with workerd(tmp_path) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as leaver:
            leaver.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(0.1)  # the start takes longer
        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(lambda _: embed(server, ["a small boat"]), range(8)))
        assert all(vector == vectors[0] for vector in vectors)
        assert starts(server) == 1


class HeldBack(SimpleHTTPRequestHandler):
    """Serves the assets, the model only from when it may."""

    asked = threading.Event()
    may_go = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/model.bin":
            self.asked.set()
            self.may_go.wait(60)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


def test_a_client_that_leaves_while_the_model_is_read_takes_nothing_with_it(
    tmp_path: Path,
) -> None:
    """The start goes on without its request; the next one finds it under way."""
    handler = partial(HeldBack, directory=str(BUILT / "assets"))
    body = json.dumps(REQUEST).encode()
    head = b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as source:
        threading.Thread(target=source.serve_forever, daemon=True).start()
        with workerd(tmp_path, assets=source.server_address[1]) as server:
            with socket.create_connection(("127.0.0.1", server.port)) as leaver:
                # Closing resets the connection: its mere end might be that of the sending only.
                leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                leaver.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                assert HeldBack.asked.wait(60)
            time.sleep(1)  # time for workerd to notice
            assert get(server, "/health").json()["engine"] == "starting"
            HeldBack.may_go.set()
            assert len(embed(server, ["a small boat"])) == 1
            assert starts(server) == 1
        source.shutdown()


def test_a_failed_start_is_retried(tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    with workerd(tmp_path, assets=assets) as server:
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda _: post(server, "/v1/embeddings", REQUEST), range(4)))
        for reply in replies:
            assert (reply.status, reply.error()["code"]) == (503, "engine_unavailable")
            assert "LOAD_HTTP" in reply.error()["message"]
            assert int(reply.headers["retry-after"]) > 0
        assert get(server, "/health").json()["engine"] == "cold"

        shutil.copy(BUILT / "assets" / "python.zip", assets)
        content = (BUILT / "assets" / "model.bin").read_bytes()
        for damaged, code in (
            (content[:-1], "MODEL_LENGTH"),
            (content[:-1] + bytes([content[-1] ^ 1]), "MODEL_CHECKSUM"),
            (b"XXXX" + content[4:], "MODEL_MAGIC"),
        ):
            (assets / "model.bin").write_bytes(damaged)
            reply = post(server, "/v1/embeddings", REQUEST)
            assert (reply.status, reply.error()["code"]) == (503, "engine_unavailable")
            assert code in reply.error()["message"]

        (assets / "model.bin").write_bytes(content)
        assert post(server, "/v1/embeddings", REQUEST).status == 200
        assert starts(server) == 1
