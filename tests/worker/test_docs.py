"""docs/worker.md and the README's section on the endpoint: their commands exist, and go as far as
they can without an account."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import build as build_script
from tests.worker.client import MODEL, get
from tests.worker.servers import BUILT, NODE_MODULES, OFFLINE, ROOT, WORKER, Server
from tests.worker.test_wrangler import configuration

PAGE = (ROOT / "docs" / "worker.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
SECTION = README.partition("## Deploy your own endpoint\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", SECTION + PAGE, flags=re.MULTILINE | re.DOTALL)
LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").strip().splitlines()]
COMMANDS = [command for line in LINES for command in line.split(" | ")]


def starting(name: str) -> list[list[str]]:
    return [words for words in map(shlex.split, COMMANDS) if words[0] == name]


def test_every_command_is_of_a_kind_that_is_tested() -> None:
    kinds = {"python3", "curl", "cd", "npx", ".venv/bin/python", "export", "echo"}
    assert {shlex.split(command)[0] for command in COMMANDS} == kinds
    assert all(step in SECTION for step in ("--serve", "login", "deploy", "secret put", "curl "))


def test_build_commands() -> None:
    for _, script, *arguments in starting("python3"):
        assert script == "build.py"
        options, tests = build_script.parser().parse_known_args(arguments)
        assert options.target in ("worker", "test")
        assert all((ROOT / test).is_file() for test in tests)
    for _, folder in starting("cd"):
        assert ROOT / folder == WORKER


def test_measuring_prints_the_tables_rows() -> None:
    (words,) = starting(".venv/bin/python")
    done = subprocess.run(
        [sys.executable, *words[1:], "--starts", "1"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pyapp")}, timeout=300, check=True,
    )  # fmt: skip

    def names(text: str) -> list[str]:
        table = text.partition("| first request |")[2].partition("\n\n")[0]
        return re.findall(r"^\| (\w[\w ]+) \| \d", table, flags=re.MULTILINE)

    assert names(done.stdout) == names(PAGE) == ["static assets", "data modules", "snapshot"]
    assert re.search(r"largest request, 1,024 texts of 128 tokens: \d", done.stdout)


def test_it_is_too_large_for_vercel() -> None:
    """Which is why that is not supported: compressed, it is more than twice of what is allowed."""
    files = [*(BUILT / "script").iterdir(), *(BUILT / "assets").iterdir()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) > 2 * 4 * 2**20


@pytest.mark.parametrize("words", starting("npx"), ids=" ".join)
def test_wrangler_commands(words: list[str], tmp_path: Path) -> None:
    """wrangler knows each; tests/worker/test_wrangler.py takes deploy as far as its dry run."""
    assert words[1] == "wrangler"
    done = subprocess.run(
        [str(NODE_MODULES / ".bin" / "wrangler"), *words[2:], "--help"],
        cwd=WORKER, env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(tmp_path), **OFFLINE},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"wrangler {words[2]}" in done.stdout


@pytest.mark.parametrize("text", [SECTION, PAGE], ids=["README", "page"])
def test_the_key_is_made_handed_on_and_then_sent(text: str) -> None:
    before, export, after = text.partition("export API_KEY=")
    assert "$API_KEY" not in before
    making = export + after.partition("\n")[0]
    handing, sending = re.findall(r'^.*"[^"]*\$API_KEY".*$', after, re.MULTILINE)
    echo, wrangler = handing.split(" | ")
    assert wrangler == "npx wrangler secret put API_KEY"
    script = f"{making}\n{echo}"
    keys = [
        subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert all(re.fullmatch(r"[0-9a-f]{48}\n", key) for key in keys) and keys[0] != keys[1]
    assert "Authorization: Bearer $API_KEY" in sending


@pytest.mark.parametrize("words", starting("curl"), ids=lambda words: words[1].split("/")[2])
def test_curl_commands(words: list[str], server: Server) -> None:
    """Each runs as it stands but for the address, and gets vectors."""
    address = re.sub(r"^https?://[^/]+", server.url, words[1])
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--fail-with-body", address, *words[2:]],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert '"object":"list"' in done.stdout and MODEL in done.stdout


def test_settings_and_codes_are_those_of_the_code(server: Server, tmp_path: Path) -> None:
    settings = configuration(tmp_path).read_text("utf-8")
    for name in re.findall(r"^\| `([A-Z_]+)` \|", PAGE, flags=re.MULTILINE):
        assert f'"{name}"' in settings
    source = (WORKER / "errors.js").read_text("utf-8")
    in_code = dict(re.findall(r"^  (\w+): \{\s*status: (\d+)", source, flags=re.MULTILINE))
    told = {
        code: status
        for status, codes in re.findall(r"^\| (\d{3}) \| (.*) \|$", PAGE, flags=re.MULTILINE)
        for code in re.findall(r"`([a-z_]+)`", codes)
    }
    unseen = {"internal_error", "client_closed_request"}
    assert told == {code: status for code, status in in_code.items() if code not in unseen}
    for path in get(server, "/openapi.json").json()["paths"]:
        assert f"{path}`" in PAGE
