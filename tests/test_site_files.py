"""dist/web as servers see it: names for ever, compressed siblings; tools/serve.py sends them."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import zstandard

from tools.compress import compress
from tools.ledger import digest
from tools.serve import accepted, running

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist" / "web"
SHIM = (
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "snapshot",
    "package",
    "model",
    "kernels",
)


def path_of(role: str) -> str:
    manifest = json.loads((SITE / "manifest.json").read_text("utf-8"))
    path: str = manifest["files"][role]["path"]
    return path


@pytest.mark.parametrize("role", SHIM)
def test_what_the_shim_loads_has_its_hash_in_its_name(role: str) -> None:
    path = path_of(role)
    assert path.startswith("files/")
    assert path.split(".")[-2] == digest(SITE / path)[:16]


def test_files_holds_nothing_else() -> None:
    names = {path.name for path in (SITE / "files").iterdir()}
    wanted = {path_of(role).removeprefix("files/") for role in SHIM}
    assert {name for name in names if not name.endswith((".zst", ".br", ".gz"))} == wanted


def test_compressed_siblings_hold_the_same_and_are_smaller() -> None:
    siblings = [path for path in SITE.rglob("*") if path.suffix == ".gz"]
    for path in siblings:
        original = path.with_suffix("")
        assert gzip.decompress(path.read_bytes()) == original.read_bytes(), path
        assert original.with_name(original.name + ".br").is_file(), path
        zstd = original.with_name(original.name + ".zst")
        with zstandard.open(zstd, "rb") as content:
            assert content.read() == original.read_bytes(), zstd
        # Clients need not keep more.
        assert zstandard.get_frame_parameters(zstd.read_bytes()).window_size <= 1 << 23, zstd
        assert path.stat().st_size < original.stat().st_size
    compressed = {path.with_suffix("").relative_to(SITE).as_posix() for path in siblings}
    assert {path_of(role) for role in SHIM} <= compressed
    assert {"tern-engine.js", "manifest.json", "demo/index.html"} <= compressed
    brotli = """
        import { readFileSync } from "node:fs";
        import { brotliDecompressSync } from "node:zlib";
        for (const path of process.argv.slice(1)) {
            const whole = brotliDecompressSync(readFileSync(`${path}.br`));
            if (!whole.equals(readFileSync(path))) throw new Error(path);
        }
    """
    paths = sorted(str(SITE / path) for path in compressed)
    subprocess.run(["node", "--input-type=module", "-e", brotli, *paths], check=True)


def test_a_copy_of_the_site_elsewhere_works_in_node(tmp_path: Path) -> None:
    """Outside of a folder whose package.json says that .js is ES modules."""
    copy = tmp_path / "copy"
    shutil.copytree(
        SITE, copy, ignore=shutil.ignore_patterns("*.zst", "*.br", "*.gz", "demo", "pyodide")
    )
    program = (
        f'import {{ load }} from "{(copy / "tern-engine.js").as_uri()}";'
        'console.log((await load()).embed("a text").length)'
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("384\n", "")


# --- server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    for name, body in {
        "app.js": b"plain",
        "app.js.zst": b"zstd",
        "app.js.br": b"brotli",
        "app.js.gz": b"gzip",
        "only.js": b"plain",
        "only.js.gz": b"gzip",
        "model.0123456789abcdef.bin": b"model",
    }.items():
        (tmp_path / name).write_bytes(body)
    with running(tmp_path) as server:
        yield server


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Message
    body: bytes


def ask(server: ThreadingHTTPServer, path: str, **headers: str) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    with contextlib.closing(connection):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"Accept-Encoding": "identity"} | names)
        answer = connection.getresponse()
        return Reply(answer.status, answer.headers, answer.read())


@pytest.mark.parametrize(
    ("path", "accepts", "coding", "body"),
    [
        ("/app.js", "gzip, deflate, br, zstd", "zstd", b"zstd"),
        ("/app.js", "gzip, deflate, br", "br", b"brotli"),
        ("/app.js", "gzip", "gzip", b"gzip"),
        ("/app.js", "br;q=0, gzip;q=0.5", "gzip", b"gzip"),
        ("/app.js", "zstd;q=0.1, br;q=0.8, gzip;q=0.8", "br", b"brotli"),
        ("/app.js", "zstd;q=0.1, *", "br", b"brotli"),
        ("/app.js", "*", "zstd", b"zstd"),
        ("/app.js", "*;q=0, gzip", "gzip", b"gzip"),
        ("/app.js", "identity", None, b"plain"),
        ("/app.js", "br;q=x", None, b"plain"),
        ("/only.js", "br, gzip", "gzip", b"gzip"),
        ("/model.0123456789abcdef.bin", "br, gzip", None, b"model"),
    ],
)
def test_the_server_negotiates(
    server: ThreadingHTTPServer, path: str, accepts: str, coding: str | None, body: bytes
) -> None:
    answer = ask(server, path, Accept_Encoding=accepts)
    assert answer.headers["Content-Encoding"] == coding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Content-Length"] == str(len(body))
    assert answer.body == body
    if path.endswith(".js"):
        assert answer.headers["Content-Type"].startswith("text/javascript")


def test_each_coding_has_a_tag_of_its_own(server: ThreadingHTTPServer) -> None:
    tags = {
        ask(server, "/app.js", Accept_Encoding=c).headers["ETag"]
        for c in ("zstd", "br", "gzip", "")
    }
    assert len(tags) == 4
    for tag in tags:
        answer = ask(server, "/app.js", Accept_Encoding="br", If_None_Match=tag)
        assert answer.status in (200, 304)
        assert (answer.status == 304) == (answer.headers["ETag"] == tag)


def test_a_file_that_changed_has_another_tag(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    before = ask(server, "/only.js").headers["ETag"]
    assert ask(server, "/only.js").headers["ETag"] == before
    (tmp_path / "only.js").write_bytes(b"other")  # of the same length
    assert ask(server, "/only.js").headers["ETag"] != before


def test_hashed_names_are_for_ever_and_others_are_asked_for(server: ThreadingHTTPServer) -> None:
    hashed = ask(server, "/model.0123456789abcdef.bin").headers["Cache-Control"]
    assert hashed == "public, max-age=31536000, immutable"
    assert ask(server, "/app.js").headers["Cache-Control"] == "no-cache"


def test_what_came_compressed_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "app.js").write_bytes(b"plain" * 1000)
    (folder / "table.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1000))
    compress(folder, tmp_path / "cache")
    names = {path.name for path in folder.iterdir()}
    assert names == {"app.js", "app.js.zst", "app.js.br", "app.js.gz", "table.csv.gz"}


def test_accept_encoding_is_read() -> None:
    assert accepted("") == {}
    assert accepted("GZIP ; q=0.3,br") == {"gzip": 0.3, "br": 1.0}
    assert accepted("gzip;level=9") == {"gzip": 0.0}
