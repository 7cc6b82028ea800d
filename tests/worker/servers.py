"""Starts the built Worker on the real runtime: workerd alone, or under wrangler dev. Offline."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.support.free_port import free_port

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "worker"
BUILT = ROOT / "dist" / "worker"
NODE_MODULES = WORKER / "node_modules"
COMPATIBILITY_DATE = "2026-04-20"
OFFLINE = {"CLOUDFLARE_CF_FETCH_ENABLED": "false", "WRANGLER_SEND_METRICS": "false", "CI": "1"}


@dataclass
class Server:
    """A running server. `pid` is its first process; `log` the file with all it prints."""

    port: int
    pid: int
    log: Path
    inspector_port: int = 0
    folder: Path = field(default=BUILT)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def log_entries(self) -> list[dict[str, object]]:
        """The Worker's own log lines: JSON objects, one a line."""
        lines = self.log.read_text("utf-8", errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith('{"event"')]


@contextmanager
def workerd(
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    script: Path = BUILT / "script",
    assets: Path | int = BUILT / "assets",
    main: str = "worker.js",
    inspect: bool = False,
    heap_megabytes: int | None = None,
) -> Iterator[Server]:
    """workerd with the modules in `script` and the assets as a service bound to ASSETS.

    folder   for the configuration and the log
    assets   a folder, or the port of a server that has them
    main     the module that handles requests
    heap_megabytes   V8 ends the process when what lives on JavaScript's heap exceeds it
    """
    config = folder / "config.capnp"
    embedded = Path(os.path.relpath(script, folder))  # as seen from the configuration
    # The first module is the entry point.
    names = sorted((path.name for path in script.iterdir()), key=lambda name: (name != main, name))
    flags = [] if heap_megabytes is None else [f"--max-old-space-size={heap_megabytes}"]
    config.write_text(_config(embedded, names, assets, variables or {}, flags), "utf-8")
    # The program itself: npm's workerd in .bin is a script of Node around it.
    (binary,) = NODE_MODULES.glob("@cloudflare/workerd-*/bin/workerd*")
    reading, writing = os.pipe()
    command = [str(binary), "serve", str(config), f"--control-fd={writing}"]
    if inspect:
        command.append("--inspector-addr=127.0.0.1:0")
    with os.fdopen(reading, "rb") as control:
        process, log = _start(command, folder, (writing,))
        os.close(writing)
        try:
            ports = _announced_ports(control, 2 if inspect else 1)
            if ports is None:
                raise RuntimeError(f"workerd did not start:\n{log.read_text('utf-8')}")
            yield Server(ports["http"], process.pid, log, ports.get("inspector", 0))
        finally:
            _end(process)


@contextmanager
def wrangler_dev(folder: Path, config: Path, *options: str) -> Iterator[Server]:
    """`wrangler dev` on a configuration file."""
    port = free_port()
    command = [
        str(NODE_MODULES / ".bin" / "wrangler"), "dev", "--config", str(config),
        "--ip", "127.0.0.1", "--port", str(port), "--inspector-port", str(free_port()),
        "--show-interactive-dev-session=false", "--persist-to", str(folder / "state"), *options,
    ]  # fmt: skip
    with _listening(command, folder, port) as running:
        yield running


@contextmanager
def build_serve(folder: Path) -> Iterator[Server]:
    """What `build.py worker --serve` ends with: `wrangler dev` on the committed configuration."""
    port = free_port()
    script = f"import tools.worker; tools.worker.serve({port})"
    with _listening([sys.executable, "-c", script], folder, port, PYTHONPATH=str(ROOT)) as running:
        yield running


@contextmanager
def _listening(command: list[str], folder: Path, port: int, **variables: str) -> Iterator[Server]:
    process, log = _start(command, folder, variables=variables)
    try:
        _wait_for(port, process, log)
        yield Server(port, process.pid, log)
    finally:
        _end(process)


def _start(
    command: list[str],
    folder: Path,
    pass_fds: tuple[int, ...] = (),
    variables: Mapping[str, str] | None = None,
) -> tuple[subprocess.Popen[bytes], Path]:
    """Run a server in a session of its own, printing into the file that is returned with it."""
    log = folder / "server.log"
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    environment = {**os.environ, **OFFLINE, **home, **(variables or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    return process, log


def _announced_ports(control: IO[bytes], count: int) -> dict[str, int] | None:
    """The free ports that workerd took, by name; None when it ended instead."""
    ports: dict[str, int] = {}
    while len(ports) < count:
        line = control.readline()
        if not line:
            return None
        event = json.loads(line)
        if event["event"] == "listen":
            ports[event["socket"]] = event["port"]
        elif event["event"] == "listen-inspector":
            ports["inspector"] = event["port"]
    return ports


def _end(process: subprocess.Popen[bytes]) -> None:
    for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text('utf-8', errors='replace')}")


def _config(
    script: Path,
    names: list[str],
    assets: Path | int,
    variables: Mapping[str, str],
    flags: list[str],
) -> str:
    kinds = {".wasm": "wasm", ".js": "esModule", ".bin": "data", ".zip": "data"}
    modules = [
        f'(name = "{name}", {kinds[Path(name).suffix]} = embed "{script / name}")' for name in names
    ]
    bindings = ['(name = "ASSETS", service = "assets")']
    bindings += [f"(name = {json.dumps(k)}, text = {json.dumps(v)})" for k, v in variables.items()]
    if isinstance(assets, int):
        service = f'external = (address = "127.0.0.1:{assets}", http = ())'
    else:
        service = f'disk = (path = "{assets}")'
    return f"""using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = {json.dumps(flags)},
  services = [
    (name = "main", worker = .tern),
    (name = "assets", {service}),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const tern :Workerd.Worker = (
  modules = [{", ".join(modules)}],
  bindings = [{", ".join(bindings)}],
  compatibilityDate = "{COMPATIBILITY_DATE}",
  compatibilityFlags = ["enable_request_signal"],
);
"""
