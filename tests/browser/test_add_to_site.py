"""The README's section "Add it to your site", followed word by word in an empty folder."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import ROOT
from tests.support.free_port import free_port

SECTION = re.compile(r"^## Add it to your site\n(.*?)^## ", re.MULTILINE | re.DOTALL)
# What stands before a block, and the block.
BLOCK = re.compile(r"(.*?)^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BIN = ROOT / "node_modules" / ".bin"


@dataclass(frozen=True)
class Step:
    """Commands, or a file to write: the last name in code letters before its block."""

    commands: tuple[str, ...] = ()
    file: str = ""
    content: str = ""


def steps(part: str) -> list[Step]:
    """What a part of the section says to do, in order; "" for what comes before the first part."""
    (section,) = SECTION.findall((ROOT / "README.md").read_text("utf-8"))
    parts = dict(zip(["", *re.findall(r"^### (.*)$", section, re.M)],
                     re.split(r"^### .*$", section, flags=re.M), strict=True))  # fmt: skip
    found = []
    for before, language, body in BLOCK.findall(parts[part]):
        if language == "sh":
            found.append(Step(commands=tuple(body.splitlines())))
        else:
            (*_, file) = re.findall(r"`([\w./-]+\.(?:html|js))`", before)
            found.append(Step(file=file, content=body))
    return found


@contextmanager
def served(command: list[str | Path], folder: Path, url: str) -> Iterator[None]:
    """A server that a command starts, from when it answers."""
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        for _ in range(600):
            assert server.poll() is None, f"{command} ended with {server.returncode}"
            try:
                with urllib.request.urlopen(url):
                    break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


class Reader:
    """Does what the README says, in a folder beside which `dist` is what was built.

    It does without a network: where packages come from a registry, from the checkout's instead.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "dist").symlink_to(ROOT / "dist")

    def do(self, step: Step) -> None:
        if step.file:
            (self.folder / step.file).write_text(step.content, "utf-8")
        for line in step.commands:
            words = shlex.split(line)
            if words[0] == "cd":
                self.folder /= words[1]
            elif words[:2] == ["npm", "install"]:
                self._install(words[2:])
            else:
                command = [BIN / words[1], *words[2:]] if words[0] == "npx" else words
                done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
                assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"

    def _install(self, packages: list[str]) -> None:
        tarball, *others = packages
        # From the tarball itself: what npm remembers of one with this name may be an older one.
        command = ["npm", "install", "--offline", "--ignore-scripts", tarball]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        for name in others:
            source = ROOT / "node_modules" / name
            (self.folder / "node_modules" / name).symlink_to(source, target_is_directory=True)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_the_build_command() -> None:
    """What it does is tested in test_build.py."""
    (step,) = steps("")
    (line,) = step.commands
    parser = runpy.run_path(str(ROOT / "build.py"))["parser"]()
    assert line.startswith("python3 build.py ")
    assert parser.parse_args(shlex.split(line)[2:]).target == "web"


def test_a_page_without_a_bundler(page: Page, reader: Reader) -> None:
    *doing, serving = steps("A page without a bundler")
    for step in [*doing, *doing]:  # again, as after a newer build
        reader.do(step)
    built = ROOT / "dist" / "npm"
    copied = reader.folder / "my-site" / "tern"
    assert {path.name for path in copied.iterdir()} == {path.name for path in built.iterdir()}
    (line,) = serving.commands
    words = shlex.split(line)
    assert words[0] == "python3"
    words[-1] = str(free_port())
    url = f"http://127.0.0.1:{words[-1]}/"
    with served([*words, "--bind", "127.0.0.1"], reader.folder, url):
        page.goto(url)
        expect(page.get_by_role("status")).to_have_text("2 texts to search.")
        page.get_by_label("Search").fill("boat departure")
        expect(page.get_by_role("listitem").first).to_have_text("The ferry leaves at nine.")
        page.get_by_label("Search").fill("cooking vegetables")
        expect(page.get_by_role("listitem").first).to_have_text("Boil the beets for an hour.")


def test_with_vite(page: Page, reader: Reader) -> None:
    """Built and previewed, and on the development server."""
    *doing, building = steps("With Vite")
    for step in doing:
        reader.do(step)
    build, preview = building.commands
    reader.do(Step(commands=(build,)))
    vite = shutil.which("vite", path=str(BIN))
    assert vite
    assert preview == "npx vite preview"
    for mode in ("preview", "dev"):
        port = str(free_port())
        command: list[str | Path] = [vite, mode, "--host", "127.0.0.1", "--port", port]
        with served(command, reader.folder, f"http://127.0.0.1:{port}/"):
            page.goto(f"http://127.0.0.1:{port}/")
            expect(page.locator("#score")).to_have_text(re.compile(r"^0\.[2-9]\d$"))
