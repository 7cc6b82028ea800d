"""docs/worker.md: its commands exist, and go as far as they can without an account."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

import build as build_script
from tests.worker.client import MODEL, get
from tests.worker.servers import NODE_MODULES, OFFLINE, ROOT, WORKER, Server
from tests.worker.test_wrangler import configuration

PAGE = (ROOT / "docs" / "worker.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    command for block in BLOCKS for command in block.replace("\\\n", " ").strip().splitlines()
]


def starting(name: str) -> list[list[str]]:
    return [words for words in map(shlex.split, COMMANDS) if words[0] == name]


def test_every_command_is_of_a_kind_that_is_tested() -> None:
    assert {shlex.split(command)[0] for command in COMMANDS} == {"python3", "curl", "cd", "npx"}


def test_build_commands() -> None:
    for _, script, *arguments in starting("python3"):
        assert script == "build.py"
        assert build_script.parser().parse_args(arguments).target == "worker"
    for _, folder in starting("cd"):
        assert ROOT / folder == WORKER


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


@pytest.mark.parametrize("words", starting("curl"), ids=lambda words: str(words[1]))
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
