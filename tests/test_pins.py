"""Exact versions of all that is used, the project's own, and the recipe for Pyodide's builder."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE_JSON = json.loads((ROOT / "package.json").read_text("utf-8"))
VERSION = PROJECT["project"]["version"]
RECIPE = ROOT / "recipes" / "tern-engine-emb-int4" / "meta.yaml"
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_exact_versions(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+]+", line) for line in lines)
    names = [line.split("==")[0].lower().replace("_", "-") for line in lines]
    assert len(names) == len(set(names))


def pins(*files: str) -> dict[str, str]:
    """Normalized name -> version of requirements/<file>.txt, all together."""
    lines = [
        line
        for name in files
        for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    found = (line.split("==") for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_what_is_installed_is_what_is_pinned_and_complete() -> None:
    """Each pinned package is there in its version, and so is all that it needs."""
    from packaging.requirements import Requirement

    pinned = pins("build", "test", "tools", "python", "adapters", "bench")
    for name, version in pinned.items():
        distribution = importlib.metadata.distribution(name)
        assert distribution.version == version, name
        for line in distribution.requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                key = re.sub(r"[-_.]+", "-", needed.name).lower()
                assert key in pinned, f"{name} needs {line}"
                assert needed.specifier.contains(pinned[key], prereleases=True), (name, line)


def test_the_build_backend_is_pinned_as_in_the_requirements() -> None:
    pinned = pins("build")
    required = dict(line.split("==") for line in PROJECT["build-system"]["requires"])
    assert required == {name: pinned[name] for name in ("hatchling", "ziglang")}


def test_npm_versions_are_exact_and_the_lock_names_no_registry() -> None:
    for folder in (ROOT, ROOT / "worker", ROOT / "bench"):
        package = json.loads((folder / "package.json").read_text("utf-8"))
        wanted = package.get("dependencies", {}) | package.get("devDependencies", {})
        assert wanted
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
        text = (folder / "package-lock.json").read_text("utf-8")
        lock = json.loads(text)
        assert "resolved" not in text
        for name, version in wanted.items():
            entry = lock["packages"][f"node_modules/{name}"]
            assert entry["version"] == version
            assert entry["integrity"].startswith("sha512-")


def test_the_version_is_the_same_everywhere() -> None:
    assert PACKAGE_JSON["version"] == VERSION
    assert yaml.safe_load(RECIPE.read_text())["package"]["version"] == VERSION


def test_pyodide_build_accepts_the_recipe(tmp_path: Path) -> None:
    """By its own schema. Its pydantic is an older one than ours, so it gets a folder of its own."""
    packages = ["pyodide-build==0.25.1", "pydantic==1.10.27", "typing_extensions==4.16.0"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--target", str(tmp_path), *packages, "PyYAML==6.0.4"], check=True)
    code = """
import sys
from pathlib import Path
from pyodide_build.io import MetaConfig
recipe = MetaConfig.from_yaml(Path(sys.argv[1]))
print(recipe.package.name, recipe.package.version, recipe.source.path.resolve())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(RECIPE)],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [PROJECT["project"]["name"], VERSION, str(ROOT)]
