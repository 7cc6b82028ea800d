"""The packed npm package in fresh projects: built by each bundler, opened in Chromium."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import ROOT, running_site
from tests.browser.test_engine import STRICT
from tests.browser.test_examples import PACKAGE_README, snippets

PROJECTS = Path(__file__).resolve().parent / "projects"
VERSION = json.loads((ROOT / "package.json").read_text("utf-8"))["version"]
TARBALL = ROOT / "dist" / f"tern-engine-{VERSION}.tgz"
PAGES = {
    "index.html": '<!doctype html><body><script type="module" src="/main.js"></script>',
    "webpack.html": '<!doctype html><body><script src="main.js"></script>',
    "esbuild.html": '<!doctype html><body><script type="module" src="app.js"></script>',
}
EXPECTED = {"same": True, "near": True, "best": "ferry", "code": "MODEL_TOO_SHORT"}


def run(command: list[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with nothing but the package in its node_modules, installed without a network."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    run(["npm", "install", "--offline", "--ignore-scripts", TARBALL], folder)
    assert [path.name for path in (folder / "node_modules").glob("[!.]*")] == ["tern-engine"]
    (folder / "main.js").write_bytes((PROJECTS / "main.js").read_bytes())
    for name, page in PAGES.items():
        (folder / name).write_text(page)
    return folder


def result_of(page: Page, url: str) -> Any:
    page.goto(url)
    expect(page.locator("body")).to_have_attribute("data-result", re.compile("."))
    return json.loads(page.locator("body").get_attribute("data-result") or "")


@pytest.mark.parametrize("bundler", ["vite", "vite-path", "webpack", "esbuild"])
def test_a_project_that_a_bundler_built(page: Page, project: Path, bundler: str) -> None:
    """Under a strict policy, and from a path of its own where the bundler's output allows it."""
    shutil.rmtree(project / "dist", ignore_errors=True)
    printed = run(["node", PROJECTS / "build.mjs", bundler], project)
    assert "warn" not in printed.lower()
    dist = project / "dist"
    wasm = [path for path in dist.rglob("*.wasm") if path.stat().st_size > 1_000_000]
    assert len(wasm) == 1, "Python's runtime is there once"
    with running_site(dist) as site:
        site.headers["Content-Security-Policy"] = STRICT
        site.prefix = "" if bundler == "vite" else "/a/path"
        assert result_of(page, f"{site.url[:-1]}{site.prefix}/index.html") == EXPECTED
        assert "/manifest.json" not in site.requests


@pytest.mark.parametrize("bundler", ["vite", "webpack", "esbuild"])
def test_what_is_not_imported_is_left_out(project: Path, tmp_path: Path, bundler: str) -> None:
    """A page that compares vectors takes neither engine nor files along."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").symlink_to(project / "node_modules")
    program = 'import { similarity } from "tern-engine"; console.log(similarity([1], [2]));'
    (tmp_path / "main.js").write_text(program)
    for name, page in PAGES.items():
        (tmp_path / name).write_text(page)
    run(["node", PROJECTS / "build.mjs", bundler], tmp_path)
    html = (tmp_path / "dist" / "index.html").read_text("utf-8")
    (source,) = re.findall(r'src="/?([^"]+)"', html)
    script = tmp_path / "dist" / source
    # Vite lays files beside whose names it has read, and build.mjs some for esbuild; the page asks
    # for none of them.
    assert not re.search(r"\.wasm|\.bin|engine\.worker", script.read_text("utf-8"))
    if bundler == "webpack":
        assert {path.suffix for path in (tmp_path / "dist").rglob("*.*")} == {".html", ".js"}
    assert script.stat().st_size < 8_000


def test_esbuild_by_the_commands_of_the_packages_readme(
    page: Page, project: Path, tmp_path: Path
) -> None:
    (block,) = snippets(PACKAGE_README, "sh")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.js").write_bytes((PROJECTS / "main.js").read_bytes())
    (tmp_path / "node_modules").symlink_to(project / "node_modules")
    environment = {**os.environ, "PATH": f"{ROOT / 'node_modules/.bin'}:{os.environ['PATH']}"}
    for line in block.splitlines():
        subprocess.run(shlex.split(line), cwd=tmp_path, env=environment, check=True)
    shutil.copyfile(project / "esbuild.html", tmp_path / "dist" / "index.html")
    with running_site(tmp_path / "dist") as site:
        assert result_of(page, f"{site.url}index.html") == EXPECTED


def test_vites_development_server(page: Page, project: Path) -> None:
    """With the configuration that the package's README gives."""
    (config,) = (body for body in snippets(PACKAGE_README, "js") if "vite.config.js" in body)
    (project / "vite.config.js").write_text(config)
    server = subprocess.Popen(
        ["node", PROJECTS / "build.mjs", "vite-dev"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin and server.stdout
    with server:
        url = server.stdout.readline().strip()
        assert result_of(page, url) == EXPECTED
        server.stdin.close()
    assert server.returncode == 0


def test_in_node(project: Path) -> None:
    """The README's programs, but for the one that needs IndexedDB."""
    programs = [body for body in snippets(PACKAGE_README, "js") if "await load(" in body]
    printed = []
    for i, program in enumerate(programs):
        if "openIndexStore" not in program:
            (project / f"program{i}.mjs").write_text(program)
            printed.append(run(["node", f"program{i}.mjs"], project).strip())
    near, pool, best = printed
    assert 0.2 < float(near) < 1
    assert pool in ("2 1", "2 2")
    assert best == "1"


def test_in_a_worker_of_cloudflares_it_says_what_to_do(project: Path) -> None:
    program = """
        import { load, similarity } from "tern-engine";
        console.log(similarity([1, 0], [1, 0]), await load().catch((error) => error.code));
    """
    command: list[str | Path] = ["node", "--conditions=workerd", "--input-type=module", "-e"]
    assert run([*command, program], project) == "1 WASM_BLOCKED\n"


@pytest.mark.parametrize("resolution", ["nodenext", "bundler"])
def test_types_of_the_installed_package(project: Path, resolution: str) -> None:
    module = "nodenext" if resolution == "nodenext" else "esnext"
    (project / "use.ts").write_bytes((PROJECTS / "use.ts").read_bytes())
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    flags = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom"]
    flags += ["--module", module, "--moduleResolution", resolution]
    run(["node", compiler, *flags, "use.ts"], project)


def test_publint_and_attw_find_nothing() -> None:
    bin_folder = ROOT / "node_modules" / ".bin"
    run([bin_folder / "publint", "run", "--strict", "--pack", "false", "dist/npm"], ROOT)
    run([bin_folder / "attw", TARBALL, "--profile", "esm-only"], ROOT)


def test_the_package_holds_what_it_should_and_depends_on_nothing() -> None:
    package = json.loads((ROOT / "dist/npm/package.json").read_text("utf-8"))
    assert package["name"] == "tern-engine"
    assert "private" not in package
    assert "dependencies" not in package
    conditions = list(package["exports"]["."])
    assert conditions[0] == "types"
    assert set(conditions) == {"types", "node", "browser", "workerd", "default"}
    assert conditions[-1] == "default"
    names = {path.name for path in (ROOT / "dist/npm").iterdir()}
    assert {"LICENSE", "THIRD_PARTY_NOTICES.md", "README.md", "files", "manifest.json"} <= names
    assert not names & {"demo", "examples", "pyodide", "sw.js"}
