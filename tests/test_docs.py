"""Every command and snippet of the README runs, and its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest
from safetensors.numpy import save_file
from tern_engine.format import Header

from tests.support.models import random_tensors

ROOT = Path(__file__).resolve().parent.parent
# tests/browser/test_add_to_site.py follows that section, word by word.
SITE_SECTION = re.compile(r"^## Add it to your site\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
README = SITE_SECTION.sub("", (ROOT / "README.md").read_text("utf-8"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("training/**/*.md")]
    if "node_modules" not in path.parts
)


def blocks(language: str) -> list[str]:
    return [body for found, body in FENCE.findall(README) if found == language]


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line.split("  #")[0].strip() for line in lines if line.strip()]


def test_every_command_has_a_test_below() -> None:
    kinds = (
        "python3 build.py",
        "pip install 'dist/",
        ".venv/bin/python -m training.pack",
        "export",
        # Run by tests/worker/test_docs.py.
        "curl http",
        "cd worker",
        'echo "$API_KEY" | npx wrangler',
        "npx wrangler",
    )
    assert [line for line in commands() if not line.startswith(kinds)] == []


@pytest.mark.parametrize("line", [c for c in commands() if c.startswith("python3 build.py")])
def test_build_commands_parse(line: str) -> None:
    """What they do is tested in test_build.py and test_wheels.py, test and demo by running them."""
    parser: ArgumentParser = runpy.run_path(str(ROOT / "build.py"))["parser"]()
    assert parser.parse_args(shlex.split(line)[2:]).target


def test_the_installed_wheel_is_built() -> None:
    """test_wheels_installed.py installs it."""
    (line,) = (c for c in commands() if c.startswith("pip install"))
    path, extra = shlex.split(line)[2].split("[")
    assert (ROOT / path).is_file()
    assert extra == "native]"


def test_python_snippet() -> None:
    (snippet,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pyapp")},
    )
    assert done.returncode == 0, done.stderr
    ids, summary = done.stdout.splitlines()
    assert ids == "[101, 1037, 6251, 102] (4, False)"
    assert json.loads(summary)["build"] == "int4"


def test_node_snippet() -> None:
    (snippet,) = blocks("js")
    node = shutil.which("node")
    assert node
    done = subprocess.run(
        [node, "--input-type=module"], input=snippet, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("384\n{ tokens: 4, truncated: false }\n")
    assert done.stdout.index("'banking'") < done.stdout.index("'gardening'")


def test_packing_commands(tmp_path: Path) -> None:
    header = Header("int4", 30522, 12, 1, 2, 16, 8, 32)
    tensors = random_tensors(header, 1)
    save_file(tensors, tmp_path / "weights.safetensors", {"n_heads": "2", "max_seq_len": "32"})
    lines = [c for c in commands() if c.startswith(".venv/bin/python -m training.pack")]
    assert len(lines) == 3
    for line in lines:
        done = subprocess.run(
            [sys.executable, *shlex.split(line)[1:]],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'pyapp'}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "model-int8.bin").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    local = [target for target in targets if not target.startswith(("http:", "https:"))]
    assert [target for target in local if not (page.parent / target).exists()] == []
