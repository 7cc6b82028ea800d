#!/usr/bin/env python3
"""Builds and tests the Tern engine: python3 build.py TARGET.

Needs Python 3.11 or newer, Node 20 or newer and npm. The rest is installed, in exact versions, into
.venv and node_modules on the first run. Each run makes again only what changed since the last.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools import environment
from tools.serve import port_number

if TYPE_CHECKING:
    from tools.recipes import Recipes

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VENV_PYTHON = environment.python_of(VENV)
VENV_TRAINING = ROOT / ".venv-training"
FORMATS = ("int4", "int8", "ternary", "fp32")


@dataclass(frozen=True)
class Target:
    """What `build.py NAME` does.

    help     one line
    needs    names of requirements/<name>.txt to install, and "npm", "npm worker" and
             "npm bench" for what package.json there lists
    run      options -> exit code
    """

    help: str
    needs: tuple[str, ...]
    run: Callable[[argparse.Namespace], int]


def kernels(options: argparse.Namespace) -> int:
    return _make(lambda recipes: [recipes.kernel(table) for table in FORMATS])


def tables(options: argparse.Namespace) -> int:
    return _make(lambda recipes: recipes.tables())


def wheel(options: argparse.Namespace) -> int:
    return _make(lambda recipes: recipes.wheel(options.embedding, options.model, options.out))


def tools(options: argparse.Namespace) -> int:
    return _make(lambda recipes: recipes.tools_wheel())


def web(options: argparse.Namespace) -> int:
    return _make(lambda recipes: recipes.npm_package(), options.model)


def everything(options: argparse.Namespace) -> int:
    return _make(lambda recipes: recipes.everything())


def demo(options: argparse.Namespace) -> int:
    code = web(options)
    if code == 0:
        from tools.serve import serve

        serve(ROOT / "dist" / "web", options.port, "/demo/")
    return code


def worker(options: argparse.Namespace) -> int:
    code = _make(lambda recipes: recipes.worker(), options.model)
    if code == 0 and options.snapshot:
        from tools.worker import assemble

        # Not a step of the ledger: its result differs each time. The next build undoes it.
        assemble(ROOT / "dist" / "worker", ROOT / "dist" / "web", snapshot=True)
    if code == 0 and options.serve:
        from tools.worker import serve

        return serve(options.port)
    return code


def test(options: argparse.Namespace) -> int:
    if options.training:
        return training(options)
    code = everything(options) or _make(lambda recipes: recipes.worker())
    if code != 0:
        return code
    if options.full:
        environment.ensure_python_packages(VENV, ["spark"])
    _ensure_chromium()
    arguments = ["-m", "pytest", *(["--full"] if options.full else []), *options.rest]
    commands = [[str(VENV_PYTHON), *arguments]]
    if not options.rest:  # else certain Python tests were asked for
        scripts = sorted(map(str, (ROOT / "tests" / "js").rglob("*.test.mjs")))
        commands.insert(0, ["node", "--test", "--test-reporter=spec", *scripts])
    # All of them, also after a failure; the worst result counts.
    return max([abs(_run(command, PYTHONPATH=str(ROOT / "pyapp"))) for command in commands])


def training(options: argparse.Namespace) -> int:
    """The tests of training/ alone, on torch, with an engine of each format to score models in."""
    code = _make(lambda recipes: recipes.engines())
    if code != 0:
        return code
    environment.ensure_python_packages(VENV_TRAINING, ["training", "teacher"])
    python = str(environment.python_of(VENV_TRAINING))
    commands = [
        [python, "-m", "mypy", "training", "tests/training"],
        [python, "-m", "pytest", "tests/training", *options.rest],
    ]
    # OpenMP's threads wait for each other asleep: this may be a machine with other work to do.
    return max([abs(_run(command, OMP_WAIT_POLICY="PASSIVE")) for command in commands])


def bench(options: argparse.Namespace) -> int:
    code = everything(options)
    if code == 0:
        _ensure_chromium()
        command = [sys.executable, "-m", "bench", *options.rest]
        code = _run(command, PYTHONPATH=str(ROOT / "pyapp"))
    return code


def clean(options: argparse.Namespace) -> int:
    package = ROOT / "pyapp" / "tern_engine"
    paths = [ROOT / "build", ROOT / "dist", package / "data", *package.glob("_build_*.py")]
    if options.all:
        paths += [VENV, VENV_TRAINING]
        paths += [folder / "node_modules" for folder in (ROOT, ROOT / "worker", ROOT / "bench")]
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        else:
            continue
        print(f"removed: {path.relative_to(ROOT)}")
    return 0


TARGETS = {
    "kernels": Target("compile the C kernels, one module a table format", ("build",), kernels),
    "tables": Target("regenerate the committed generated files", ("build", "test"), tables),
    "wheel": Target("build the wheel of one table format", ("build",), wheel),
    "tools": Target("build the wheel of tern-tools", ("build",), tools),
    "web": Target(
        "assemble dist/web, engine, Pyodide and pages, and the npm package", ("build", "npm"), web
    ),
    "all": Target("all of the above, in all formats", ("build", "test", "npm"), everything),
    "worker": Target(
        "assemble dist/worker, the Cloudflare Worker", ("build", "npm", "npm worker"), worker
    ),
    "demo": Target("build what the demo page needs and serve it", ("build", "npm"), demo),
    "test": Target(
        "build everything and run all tests",
        (
            *("build", "test", "tools", "python", "adapters", "bench", "worker"),
            *("npm", "npm worker", "npm bench"),
        ),
        test,
    ),
    "bench": Target(
        "measure the engine beside its peers", ("build", "test", "bench", "npm", "npm bench"), bench
    ),
    "clean": Target("remove what was built; --all also what was installed", (), clean),
}


def _file(argument: str) -> Path:
    path = Path(argument)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{path} is no file")
    return path


def parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = command.add_subparsers(dest="target", required=True, metavar="TARGET")
    parsers = {
        name: commands.add_parser(name, help=target.help, description=target.help)
        for name, target in TARGETS.items()
    }
    option = parsers["wheel"].add_argument
    option("--embedding", choices=FORMATS, default="int4", help="table format (default: int4)")
    option("--model", type=_file, help="a .bin of that format (default: the committed model)")
    option("--out", type=Path, default=ROOT / "dist", help="folder (default: dist)")
    for name in ("web", "demo", "worker"):
        parsers[name].add_argument(
            "--model", type=_file, help="a .bin of any table format (default: the committed model)"
        )
    parsers["demo"].add_argument(
        "--port", type=port_number, default=8000, help="0 takes a free one"
    )
    parsers["worker"].add_argument("--serve", action="store_true", help="run it with wrangler dev")
    parsers["worker"].add_argument("--snapshot", action="store_true", help="start from a snapshot")
    parsers["worker"].add_argument("--port", type=port_number, default=8787, help="for --serve")
    parsers["test"].add_argument("--full", action="store_true", help="exhaustive and soak runs too")
    parsers["test"].add_argument(
        "--training", action="store_true", help="the tests of training/ instead (installs torch)"
    )
    parsers["clean"].add_argument("--all", action="store_true", help=".venv and node_modules too")
    for name, what in (("test", "pytest"), ("bench", "the benchmark")):
        parsers[name].epilog = f"Further arguments are passed on to {what}."
    return command


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this may run before anything is checked
        sys.exit("build.py needs Python 3.11 or newer")
    if not arguments or arguments[0] == "help":
        parser().print_help()
        return 0
    options, rest = parser().parse_known_args(arguments)
    if rest and options.target not in ("test", "bench"):
        parser().error(f"unknown arguments: {' '.join(rest)}")
    options.rest = rest
    target = TARGETS[options.target]
    # The tests of training/ bring their own packages.
    needs = ("build",) if getattr(options, "training", False) else target.needs
    groups = [need for need in needs if not need.startswith("npm")]
    if groups:
        anew = environment.ensure_python_packages(VENV, groups)
        if anew or Path(sys.prefix).resolve() != VENV.resolve():
            command = [str(VENV_PYTHON), str(Path(__file__).resolve()), *arguments]
            if os.name == "posix":  # in this process's place, so that Ctrl-C has one to end
                sys.stdout.flush()
                os.execv(command[0], command)
            return _run(command)
    npm = {"npm": ROOT, "npm worker": ROOT / "worker", "npm bench": ROOT / "bench"}
    for need, folder in npm.items():
        if need in needs:
            environment.ensure_npm_packages(folder)
    return target.run(options)


def _make(recipe: Callable[[Recipes], object], model: Path | None = None) -> int:
    """Run a recipe and print its artifacts; a refused model is a message and exit code 1.

    model   what the site and the Worker are built of; None: the committed model
    """
    from tools.lock import build_lock
    from tools.recipes import Recipes

    with build_lock():
        recipes = Recipes(model)
        try:
            recipe(recipes)
        except Exception as error:
            if not hasattr(error, "code"):
                raise
            print(f"{error.code}: {error}", file=sys.stderr)
            return 1
        recipes.report()
    return 0


def _ensure_chromium() -> None:
    """Install a Chromium for the browser tests where there is none."""
    from tools.chromium import executable

    if executable() is not None:
        return
    if shutil.which("apt-get") and getattr(os, "geteuid", lambda: 1)() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def _run(command: list[str], **variables: str) -> int:
    """Run a command from the repository's root; its exit code."""
    sys.stdout.flush()
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, check=False
    ).returncode


def _package_build() -> None:
    """Run the PyPI package `build`, which `python -m build` in this folder means.

    Python finds this file first under that name.
    """
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != ROOT]
    runpy.run_module("build", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if __spec__ is not None:
        _package_build()
    else:
        sys.exit(main(sys.argv[1:]))
