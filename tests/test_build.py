"""build.py, the ledger behind it and the development server."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

import build as build_script
from tools.ledger import Ledger, digest
from tools.serve import main as serve_command
from tools.serve import running, serve

ROOT = Path(__file__).resolve().parent.parent


def run_build(*arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "build.py"), *arguments],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip


# --- command line


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_help_lists_every_target_with_a_line(arguments: list[str]) -> None:
    done = run_build(*arguments)
    assert done.returncode == 0
    expected = ["kernels", "tables", "wheel", "tools", "web", "all", "worker", "demo", "test"]
    expected += ["bench", "clean"]
    assert list(build_script.TARGETS) == expected
    for name, target in build_script.TARGETS.items():
        assert "\n" not in target.help
        assert f"    {name:<9} {target.help}" in done.stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["wheel", "--nonsense"], ["clean", "extra"]])
def test_unknown_arguments_are_refused(arguments: list[str]) -> None:
    done = run_build(*arguments)
    assert done.returncode == 2
    assert "build.py" in done.stderr


def test_a_second_build_makes_nothing() -> None:
    first, second = run_build("web"), run_build("web")
    assert first.returncode == 0, first.stderr
    assert second.returncode == 0, second.stderr
    assert "made:" not in second.stdout
    assert "dist/web/manifest.json" in second.stdout
    model = digest(ROOT / "assets" / "model-int4.bin")
    told = f"dist/web, dist/npm: model model-int4.bin, fingerprint {model}"
    assert second.stdout.splitlines()[-1] == told


def test_a_model_of_another_format_is_refused_with_its_code(tmp_path: Path) -> None:
    model = ROOT / "assets" / "model-int4.bin"
    done = run_build("wheel", "--embedding", "int8", "--model", str(model), "--out", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("MODEL_OTHER_BUILD: tern-engine: ")
    assert "int4" in done.stderr and "int8" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_model_is_refused_with_its_code(tmp_path: Path) -> None:
    content = bytearray((ROOT / "assets" / "model-int4.bin").read_bytes())
    content[5000] ^= 1
    model = tmp_path / "damaged.bin"
    model.write_bytes(content)
    done = run_build("wheel", "--model", str(model), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.startswith("MODEL_CHECKSUM: tern-engine: ")


def test_clean_removes_ignored_files_only(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "build.py", tmp_path / "build.py")
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    shutil.copyfile(ROOT / ".gitignore", tmp_path / ".gitignore")
    committed = ["README.md", "pyapp/tern_engine/engine.py", "web/tern-engine.js"]
    built = [
        "build/kernels/kernels-int4.wasm", "dist/web/manifest.json",
        "pyapp/tern_engine/data/model.bin", "pyapp/tern_engine/_build_int4.py",
    ]  # fmt: skip
    installed = [
        ".venv/pyvenv.cfg", "node_modules/pyodide/package.json", "worker/node_modules/a/b.js",
    ]  # fmt: skip
    for name in committed + built + installed:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("content")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    kept = git(tmp_path, "ls-files").split()
    assert set(committed) <= set(kept)
    assert not set(built + installed) & set(kept)

    assert run_build("clean", root=tmp_path).returncode == 0
    assert all((tmp_path / name).exists() for name in [*kept, *installed])
    assert not any((tmp_path / name).exists() for name in built)

    assert run_build("clean", "--all", root=tmp_path).returncode == 0
    assert all((tmp_path / name).exists() for name in kept)
    assert git(tmp_path, "status", "--porcelain", "--ignored=matching").count("!!") == 0


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


# --- ledger


class Step:
    """A step that copies its input to its output and counts how often it did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source, self.target = folder / "source", folder / "out" / "target"
        self.source.write_text("one")
        self.runs = 0

    def run(self, extra: str = "") -> bool:
        """In a ledger read afresh, as each run of build.py does."""
        ledger = Ledger(self.folder / "ledger.json", self.folder)
        return ledger.step("copy", [self.source], [self.folder / "out"], self._make, extra=extra)

    def _make(self) -> None:
        self.runs += 1
        self.target.parent.mkdir(exist_ok=True)
        shutil.copyfile(self.source, self.target)


@pytest.fixture
def step(tmp_path: Path) -> Step:
    return Step(tmp_path)


def test_a_step_runs_once_for_the_same_content(step: Step) -> None:
    assert step.run()
    assert not step.run()
    os.utime(step.source, (1, 1))
    assert not step.run()
    assert step.runs == 1


def test_a_step_runs_again_when_its_input_changes(step: Step) -> None:
    step.run()
    step.source.write_text("two")
    assert step.run()
    assert step.target.read_text() == "two"


def test_a_step_runs_again_when_its_output_is_gone_or_changed(step: Step) -> None:
    step.run()
    step.target.unlink()
    assert step.run()
    step.target.write_text("changed by hand")
    assert step.run()
    assert step.target.read_text() == "one"
    (step.folder / "out" / "stray").touch()
    assert step.run()


def test_a_step_runs_again_when_its_setting_changes(step: Step) -> None:
    step.run("a")
    assert step.run("b")
    assert not step.run("b")


def test_a_step_that_failed_runs_again(step: Step) -> None:
    step.run()
    source = step.source.read_bytes()
    step.source.write_text("two")
    make = step._make

    def fail() -> None:
        raise RuntimeError("no space")

    step._make = fail  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="no space"):
        step.run()
    step._make = make  # type: ignore[method-assign]
    step.source.write_bytes(source)
    assert not step.run()  # as before the failure: the old output is that of the old input
    step.source.write_text("two")
    assert step.run()


def test_a_step_that_leaves_an_output_out_is_an_error(step: Step) -> None:
    ledger = Ledger(step.folder / "ledger.json", step.folder)
    with pytest.raises(FileNotFoundError, match="made no"):
        ledger.step("nothing", [step.source], [step.folder / "absent"], lambda: None)


def test_a_damaged_ledger_is_started_anew(step: Step) -> None:
    step.run()
    (step.folder / "ledger.json").write_text('{"copy": {"inp')
    assert step.run()
    assert set(json.loads((step.folder / "ledger.json").read_text())) == {"copy"}


# --- server


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    root = tmp_path / "site"
    (root / "demo").mkdir(parents=True)
    (root / "a b.js").write_text("export {};")
    (root / "kernel.wasm").write_bytes(b"\0asm")
    (root / "demo" / "index.html").write_text("<!doctype html><title>é</title>", "utf-8")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    with running(root) as server:
        yield server


def ask(
    server: ThreadingHTTPServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """(status, headers with lower-case names, body). The path is sent as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    with contextlib.closing(connection):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=names)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, answer.read()


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/kernel.wasm", "application/wasm"),
        ("/a%20b.js", "text/javascript; charset=utf-8"),
        ("/demo/", "text/html; charset=utf-8"),
        ("/demo/index.html?query=1", "text/html; charset=utf-8"),
    ],
)
def test_files_are_served_with_their_type(
    site: ThreadingHTTPServer, path: str, content_type: str
) -> None:
    status, headers, body = ask(site, path)
    assert status == 200
    assert headers["content-type"] == content_type
    assert int(headers["content-length"]) == len(body) > 0
    assert headers["cache-control"] == "no-cache"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/absent", "/", "/demo/absent", "/../secret.txt", "/%2e%2e/secret.txt",
        "/demo/../../secret.txt", "/..%2fsecret.txt", "/..\\secret.txt", "//../secret.txt",
        "/link.txt", "/demo/index.html/", "/kernel.wasm%00.js",
    ],
)  # fmt: skip
def test_what_is_not_in_the_folder_is_404(site: ThreadingHTTPServer, path: str) -> None:
    status, _, body = ask(site, path)
    assert status == 404
    assert b"secret" not in body.replace(b"secret.txt", b"")


def test_an_etag_saves_the_body(site: ThreadingHTTPServer) -> None:
    tag = ask(site, "/kernel.wasm")[1]["etag"]
    status, headers, body = ask(site, "/kernel.wasm", If_None_Match=f'"other", {tag}')
    assert (status, body) == (304, b"")
    assert headers["etag"] == tag
    assert ask(site, "/kernel.wasm", If_None_Match='"other"')[0] == 200


def test_head_has_the_headers_and_no_body(site: ThreadingHTTPServer) -> None:
    status, headers, body = ask(site, "/kernel.wasm", "HEAD")
    assert (status, headers["content-length"], body) == (200, "4", b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_refused(site: ThreadingHTTPServer, method: str) -> None:
    assert ask(site, "/kernel.wasm", method)[0] == 501


def test_a_folder_without_its_slash_is_redirected(site: ThreadingHTTPServer) -> None:
    status, headers, _ = ask(site, "/demo")
    assert (status, headers["location"]) == (301, "demo/")


def test_the_server_listens_on_this_machine_only(site: ThreadingHTTPServer) -> None:
    assert site.server_address[0] == "127.0.0.1"


def test_a_port_in_use_is_a_message(site: ThreadingHTTPServer, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--port 0 takes a free one"):
        serve(tmp_path, site.server_address[1])


@pytest.mark.parametrize("port", ["65536", "-1", "99999", "x", "8.5", ""])
def test_no_port_is_a_message_before_anything_is_done(
    port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, arguments in (
        (serve_command, [str(tmp_path)]),
        (build_script.main, ["demo"]),
        (build_script.main, ["worker", "--serve"]),
    ):
        with pytest.raises(SystemExit) as ended:
            command([*arguments, f"--port={port}"])
        assert ended.value.code == 2
        assert f"{port!r} is no port, which are 0 to 65535" in capsys.readouterr().err
    for good in (0, 8000, 65535):
        assert build_script.parser().parse_args(["demo", "--port", str(good)]).port == good


def test_a_client_that_leaves_early_does_no_harm(
    site: ThreadingHTTPServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", site.server_address[1])) as client:
        client.sendall(b"GET /kernel.wasm HTTP/1.1\r\nHost: a\r\n")
    assert ask(site, "/kernel.wasm")[0] == 200
    assert "Traceback" not in capfd.readouterr().err
