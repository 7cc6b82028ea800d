"""How each artifact is made from which files. build.py is the command line above this."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from tools import compress, demo_site, npm_package, website, worker
from tools.kernels import TABLES, compile_kernel, kernel_inputs
from tools.ledger import ROOT, Ledger, digest, empty_folder, files_under
from tools.payload import DEFAULT_MODEL, PACKAGE, TOKENIZER, model_table, write_payload
from tools.sizes import report, short

BUILD = ROOT / "build"
DIST = ROOT / "dist"
TOOLS = ROOT / "packaging" / "tern-tools"
GENERATORS = {
    "unicode": ("pyapp/tern_engine/_unicode.py",),
    "errors": ("web/errors-list.js", "web/errors-list.d.ts"),
    "ops": ("pyapp/tern_engine/kernels/ops.h", "pyapp/tern_engine/kernels/_ops.py"),
}


class Recipes:
    """Makes artifacts, each step only when needed, and prints what it did.

    model   what the site, the npm package and the Worker are built of, in its own table format;
            None: the committed int4 model
    """

    def __init__(self, model: Path | None = None) -> None:
        self._chosen = model
        self._ledger = Ledger(BUILD / "ledger.json")
        self.made: list[Path] = []
        self._of_the_model: list[Path] = []

    def report(self) -> None:
        """Print the sizes of everything asked for, made now or before, and the model in it."""
        report(self.made, BUILD / "sizes.json")
        if self._of_the_model:
            model = self._chosen or DEFAULT_MODEL
            names = ", ".join(map(short, self._of_the_model))
            print(f"{names}: model {model.name}, fingerprint {digest(model)}")

    def tables(self) -> None:
        """Regenerate the committed generated files, and say which changed."""
        for name, targets in GENERATORS.items():
            script = ROOT / "tools" / f"generate_{name}.py"
            outputs = [ROOT / target for target in targets]
            inputs = [script, PACKAGE / "errors.py", ROOT / "requirements" / "test.txt"]
            before = [path.read_bytes() if path.exists() else b"" for path in outputs]
            self._step(
                f"tables {name}", inputs, outputs, lambda script=script: run_python(str(script))
            )
            for path, content in zip(outputs, before, strict=True):
                if path.read_bytes() != content:
                    print(f"  changed: {path.relative_to(ROOT)}")

    def kernel(self, table: str) -> Path:
        out = BUILD / "kernels" / f"kernels-{table}.wasm"
        self._step(f"kernel {table}", kernel_inputs(), [out], lambda: compile_kernel(table, out))
        return self._made(out)

    def model(self, table: str) -> Path:
        """A copy of the committed model in this table format, or what the int4 one makes of it."""
        out = BUILD / "models" / f"model-{table}.bin"
        committed = DEFAULT_MODEL.with_name(f"model-{table}.bin")
        if committed.is_file():
            self._step(f"model {table}", [committed], [out], lambda: _copy(committed, out))
            return self._made(out)
        pack = [ROOT / "training" / "pack", ROOT / "pyapp" / "tern_tools" / "models"]
        inputs = [DEFAULT_MODEL, *pack, PACKAGE / "format.py", PACKAGE / "embeddings"]
        self._step(f"model {table}", inputs, [out], lambda: _convert(table, out))
        return self._made(out)

    def in_place(self) -> None:
        """Make pyapp/tern_engine itself the int4 build."""
        outputs = [PACKAGE / "data", PACKAGE / "_build_int4.py"]
        kernel = self.kernel("int4")
        version = _project()["project"]["version"]
        inputs = [DEFAULT_MODEL, TOKENIZER, kernel, *_payload_code()]

        def make() -> None:
            for other in PACKAGE.glob("_build_*.py"):
                other.unlink()
            empty_folder(PACKAGE / "data")
            write_payload("int4", version, DEFAULT_MODEL, PACKAGE, kernel)

        self._step("pyapp as the int4 build", inputs, outputs, make, extra=version)

    def wheel(self, table: str, model: Path | None = None, out: Path | None = None) -> Path:
        """The wheel of one table format. Raises a TernError when the model is of another."""
        out = out or DIST
        if model is None:
            model = DEFAULT_MODEL if table == "int4" else self.model(table)
        kernel = self.kernel(table)
        project = _project()
        name = f"tern_engine_emb_{table}-{project['project']['version']}-py3-none-any.whl"
        inputs = [*_package_sources(), *_payload_code(), TOKENIZER, model, kernel]
        inputs += [ROOT / name for name in ("pyproject.toml", "hatch_build.py", "README.md")]
        inputs += [ROOT / name for name in website.LICENSES]
        self._step(
            f"wheel {table} in {out}",
            inputs,
            [out / name],
            lambda: _build_wheel(project, table, model, kernel, out),
        )
        return self._made(out / name)

    def tools_wheel(self) -> Path:
        """The wheel of tern_tools, which any engine wheel goes beside."""
        version = _project()["project"]["version"]
        out = DIST / f"tern_tools-{version}-py3-none-any.whl"
        inputs = [TOOLS, ROOT / "pyapp" / "tern_tools", PACKAGE / "embeddings", ROOT / "LICENSE"]
        self._step("wheel tern-tools", inputs, [out], _build_tools_wheel)
        return self._made(out)

    def package(self, table: str) -> Path:
        """A format's wheel, unpacked: a folder for PYTHONPATH."""
        return self._unpacked(table, self.wheel(table), BUILD / "packages" / table)

    def _unpacked(self, name: str, wheel: Path, out: Path) -> Path:
        def make() -> None:
            empty_folder(out)
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(out)

        self._step(f"package {name}", [wheel], [out], make)
        return out

    def site(self) -> Path:
        """dist/web, with everything in it made first. Raises a TernError for a refused model."""
        if self._chosen is None:
            table = "int4"
            wheel, package = self.wheel(table), self.package(table)
        else:  # apart from dist's wheels, of which one has the same name and the committed model
            table, folder = model_table(self._chosen), BUILD / "chosen"
            wheel = self.wheel(table, self._chosen, folder)
            package = self._unpacked("of the chosen model", wheel, folder / "package")
        demo_index = self._demo_index(package)
        parts = website.Parts(
            table=table,
            wheel=wheel,
            package=package,
            runtime=self._runtime(),
            bytecode=self._bytecode(wheel),
            micropip=BUILD / "micropip",
            demo_index=demo_index,
            demo_map=self._demo_map(demo_index),
        )
        code, out = ROOT / "tools" / "website.py", DIST / "web"
        self._step(
            "micropip", [code], [parts.micropip], lambda: website.download_micropip(parts.micropip)
        )
        inputs = [code, wheel, parts.micropip, parts.demo_index, parts.demo_map]
        inputs += [ROOT / "tools" / "demo_site.py", *demo_site.vendored_sources()]
        inputs += [parts.runtime, *parts.bytecode.glob("*.zip"), *parts.bytecode.glob("snapshot.*")]
        inputs += [*website.site_sources(), *compress.sources(), website.BUNDLE]
        self._step("site", inputs, [out], lambda: website.assemble(out, parts))
        self._of_the_model.append(out)
        return self._made(out)

    def npm_package(self) -> Path:
        """dist/npm, and the tarball that `npm publish` would send, with everything made first."""
        site, out = self.site(), DIST / "npm"
        tarball = DIST / f"{npm_package.NAME}-{_project()['project']['version']}.tgz"
        inputs = [ROOT / "tools" / "npm_package.py", ROOT / "package.json", site]
        inputs += website.site_sources()
        self._step("npm package", inputs, [out], lambda: npm_package.assemble(out, site))
        self._step("npm tarball", [out], [tarball], lambda: npm_package.pack(out, tarball))
        self._of_the_model.append(out)
        return self._made(tarball)

    def _runtime(self) -> Path:
        """A folder with Pyodide's runtime, lean."""
        out = BUILD / "runtime"
        self._step("runtime", website.runtime_sources(), [out], lambda: website.make_lean(out))
        return out

    def _bytecode(self, wheel: Path) -> Path:
        """A folder with the standard library and the wheel's package, compiled."""
        out, source = BUILD / "bytecode", BUILD / "package.zip"
        code = [ROOT / "tools" / "precompile.mjs", ROOT / "tools" / "precompile_inside.py"]
        code.append(website.PYODIDE / "package.json")
        self._step(
            "package.zip",
            [wheel, ROOT / "tools" / "website.py"],
            [source],
            lambda: website.zip_package(wheel, source),
        )
        self._step(
            "standard library",
            code,
            [out / "python_stdlib.zip"],
            lambda: website.precompile("stdlib", source, out),
        )
        self._step(
            "bytecode",
            [*code, source],
            [out / "python_stdlib_engine.zip", out / "package.zip"],
            lambda: website.precompile("engine", source, out),
        )
        runtime = self._runtime()
        taken_of = [runtime, out / "python_stdlib_engine.zip", out / "package.zip"]
        self._step(
            "snapshot",
            [*website.snapshot_sources(), *taken_of],
            [out / "snapshot.bin", out / "snapshot.json"],
            lambda: website.take_snapshot(runtime, out),
        )
        return out

    def _demo_index(self, package: Path) -> Path:
        """The demo corpus embedded by the build in the folder `package`."""
        out, corpus = BUILD / "demo-index.bin", ROOT / "assets" / "demo-corpus.json"
        script, tools = ROOT / "tools" / "build_demo_index.py", ROOT / "pyapp" / "tern_tools"
        command = [str(script), "--corpus", str(corpus), "--out", str(out)]
        self._step(
            "demo index",
            [script, corpus, package, *tools.glob("*.py")],
            [out],
            lambda: run_python(*command, python_path=package),
        )
        return out

    def _demo_map(self, index: Path) -> Path:
        """The demo corpus on a plane, from its vectors."""
        out, script = BUILD / "demo-map.json", ROOT / "tools" / "build_demo_map.mjs"
        code = [ROOT / "web" / "demo" / name for name in ("layout.js", "index-vectors.js")]
        library = demo_site.NODE_MODULES / "umap-js" / "package.json"
        command = ["node", str(script), str(index), str(out)]
        self._step(
            "demo map",
            [script, *code, library, index],
            [out],
            lambda: subprocess.run(command, cwd=ROOT, check=True),
        )
        return out

    def worker(self) -> Path:
        """dist/worker, with everything in it made first."""
        site, out = self.site(), DIST / "worker"
        inputs = [ROOT / "tools" / "worker.py", site, *worker.sources()]
        self._step("worker", inputs, [out], lambda: worker.assemble(out, site))
        self._of_the_model.append(out)
        return self._made(out)

    def engines(self) -> None:
        """An importable engine of each table format; no npm is needed for them."""
        self.in_place()
        for table in TABLES:
            self.package(table)

    def everything(self) -> None:
        self.tables()
        self.engines()
        self.model("int4")
        self.tools_wheel()
        self.npm_package()

    def _made(self, path: Path) -> Path:
        if path not in self.made:
            self.made.append(path)
        return path

    def _step(self, name: str, *arguments: Any, **options: Any) -> None:
        if self._ledger.step(name, *arguments, **options):
            print(f"made: {name}", flush=True)


def run_python(*arguments: str, python_path: Path = ROOT / "pyapp") -> None:
    """Run this interpreter from the repository's root, with tern_engine from `python_path`."""
    environment = {**os.environ, "PYTHONPATH": str(python_path)}
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True)


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _package_sources() -> list[Path]:
    """The package's committed files."""
    return [
        path
        for path in files_under([PACKAGE])
        if path.parent != PACKAGE / "data" and not path.name.startswith("_build_")
    ]


def _payload_code() -> list[Path]:
    return [ROOT / "tools" / "payload.py", PACKAGE / "format.py", PACKAGE / "embeddings"]


def _copy(path: Path, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(path.read_bytes())


def _convert(table: str, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    run_python("-m", "training.pack", "convert", str(DEFAULT_MODEL), str(out), "--embedding", table)


def _build_tools_wheel() -> None:
    from hatchling.builders.wheel import WheelBuilder

    list(WheelBuilder(str(TOOLS)).build(directory=str(DIST), versions=["standard"]))


def _build_wheel(project: dict[str, Any], table: str, model: Path, kernel: Path, out: Path) -> None:
    """Build with the committed pyproject.toml, but for the name and the hook's two files."""
    from hatchling.builders.wheel import WheelBuilder

    project["project"]["name"] = f"tern-engine-emb-{table}"
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    hook |= {"model": str(model.resolve()), "kernel": str(kernel.resolve())}
    builder = WheelBuilder(str(ROOT), config=project)
    list(builder.build(directory=str(out), versions=["standard"]))
