"""The built engine in a page's main thread: golden results, and every way a load can fail."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import tern_engine
from playwright.sync_api import Page

from tests.browser.site import (
    ROOT,
    SITE,
    Answer,
    Handler,
    Site,
    content,
    file_path,
    missing,
    stalled,
)
from tools.serve import BINARY, FOR_EVER, TYPES

MODEL = (SITE / file_path("model")[1:]).read_bytes() if SITE.exists() else b""
HTML = b"<!doctype html><title>Not found</title>"
STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

# Loads with `options`, embeds, and says what happened: floats as hex, or the error.
LOAD = """async ({options = {}, abortAt}) => {
    const {load, TernError} = await import("/tern-engine.js");
    const controller = new AbortController();
    const onProgress = (event) => event.file === abortAt && event.loaded > 0 && controller.abort();
    try {
        const engine = await load({...options, signal: controller.signal, onProgress});
        const vector = engine.embed("a text");
        engine.dispose();
        return {length: vector.length};
    } catch (error) {
        const known = error instanceof TernError;
        return {code: known ? error.code : String(error), message: error.message,
                cause: error.cause?.name};
    }
}"""


def load(page: Page, abort_at: str | None = None, **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = page.evaluate(LOAD, {"options": options, "abortAt": abort_at})
    return result


def test_500_texts_have_the_same_bits_on_cpython_and_in_chromium(
    page: Page, site: Site, golden: dict[str, Any]
) -> None:
    site.headers["Content-Security-Policy"] = STRICT
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async (texts) => {
            const {load} = await import("/tern-engine.js");
            const {sha256} = await import("/sha256.js");
            const engine = await load();
            const join = (vectors) => {
                const all = new Float32Array(engine.dim * vectors.length);
                vectors.forEach((vector, i) => all.set(vector, i * engine.dim));
                return sha256(new Uint8Array(all.buffer));
            };
            return {
                single: await join(texts.map((text) => engine.embed(text))),
                batch: await join(engine.embedBatch(texts)),
                fingerprint: engine.fingerprint,
            };
        }""",
        golden["texts"],
    )
    native = hashlib.sha256()
    for text in golden["texts"]:
        native.update(bytes(tern_engine.embed(text)))
    assert native.hexdigest() == golden["sha256"]
    assert found["single"] == found["batch"] == golden["sha256"]
    assert found["fingerprint"] == golden["model"]


def test_golden_ids_and_vectors(page: Page, site: Site, golden: dict[str, Any]) -> None:
    # As JSON text: what carries arguments into the page does not keep lone surrogates.
    tokens = (ROOT / "tests/golden/tokens.json").read_text("utf-8")
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async ([tokens, vectors]) => {
            const {load, similarity} = await import("/tern-engine.js");
            const engine = await load();
            const wrong = [];
            for (const {text, repeat = 1, ids} of JSON.parse(tokens).texts) {
                const found = engine.tokenize(text.repeat(repeat));
                if (found.join() !== ids.join()) wrong.push([text, [...found]]);
            }
            for (const {text, ids, vector} of JSON.parse(vectors).cases) {
                if (engine.tokenize(text).join() !== ids.join()) wrong.push([text, "ids"]);
                const found = engine.embed(text);
                const close = found.every((x, i) => Math.abs(x - vector[i]) <= 2e-3);
                if (!close || similarity(found, vector) < 0.9999) wrong.push([text, "vector"]);
            }
            return {wrong, texts: JSON.parse(tokens).texts.length};
        }""",
        [tokens, json.dumps(golden)],
    )
    assert found["wrong"] == []
    assert found["texts"] > 50


def test_a_kept_vector_stays_and_dispose_ends(page: Page, site: Site) -> None:
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async () => {
            const {load} = await import("/tern-engine.js");
            const engine = await load();
            const kept = engine.embed("kept");
            const copy = kept.slice();
            engine.embedBatch(Array.from({length: 200}, (_, i) => "many words ".repeat(60) + i));
            const same = kept.every((x, i) => x === copy[i]);
            engine.dispose();
            try { engine.embed("kept"); } catch (error) { return {same, code: error.code}; }
        }"""
    )
    assert found == {"same": True, "code": "DISPOSED"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Security-Policy": STRICT},
        {
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
        },
    ],
    ids=["strict-csp", "isolated"],
)
def test_under_strict_headers(page: Page, site: Site, headers: dict[str, str]) -> None:
    """Also where nothing is to time out: no timer takes 2³¹ ms."""
    site.headers |= headers
    page.goto(f"{site.url}blank.html")
    assert load(page, timeoutMs=2**31) == {"length": 384}


def test_from_a_bare_module_script_in_another_folder(page: Page, site: Site) -> None:
    script = f"""<!doctype html><script type=module>
        import {{ load }} from "../../tern-engine.js";
        const engine = await load({{ model: "../..{file_path("model")}" }});
        document.title = String(engine.embed("a text").length);
    </script>"""
    site.answers["/some/where/page.html"] = content(script.encode(), "text/html")
    page.goto(f"{site.url}some/where/page.html")
    page.wait_for_function("document.title === '384'")


def test_wasm_that_the_page_forbids(page: Page, site: Site) -> None:
    site.headers["Content-Security-Policy"] = "script-src 'self'; connect-src 'self'"
    page.goto(f"{site.url}blank.html")
    result = load(page)
    assert result["code"] == "WASM_BLOCKED"
    assert "wasm-unsafe-eval" in result["message"]
    assert "/manifest.json" not in site.requests


def test_a_broken_file_is_a_typed_error_and_the_next_load_works(page: Page, site: Site) -> None:
    wasm = file_path("pyodide.asm.wasm")
    breakages: list[tuple[str, Answer, str]] = [
        (file_path("model"), missing, "LOAD_HTTP"),
        ("/manifest.json", missing, "LOAD_HTTP"),
        (file_path("pyodide.asm.mjs"), missing, "LOAD_HTTP"),
        (file_path("model"), content(HTML, "text/html"), "LOAD_CONTENT"),
        ("/manifest.json", content(HTML, "text/html"), "LOAD_CONTENT"),
        (wasm, content(HTML, "application/wasm"), "LOAD_CONTENT"),
        (file_path("model"), content(MODEL[:9999], "", len(MODEL)), "LOAD_TRUNCATED"),
        (file_path("model"), content(MODEL[:9999], ""), "LOAD_TRUNCATED"),
        (file_path("model"), content(bytes(len(MODEL)), ""), "LOAD_INTEGRITY"),
        (file_path("model"), stalled(MODEL[:9999], len(MODEL)), "LOAD_TIMEOUT"),
    ]
    # Otherwise a file that an earlier, broken load had fetched whole comes from the HTTP cache.
    site.headers["Cache-Control"] = "no-store"
    page.goto(f"{site.url}blank.html")
    for path, answer, code in breakages:
        site.answers[path] = answer
        result = load(page, timeoutMs=1500 if code == "LOAD_TIMEOUT" else 30_000)
        assert (path, result["code"]) == (path, code)
        assert result["message"].startswith("tern-engine: ")
        del site.answers[path]
    assert load(page) == {"length": 384}


@pytest.mark.parametrize("role", ["model", "pyodide.asm.mjs", "pyodide.asm.wasm", "snapshot"])
def test_a_broken_file_that_the_http_cache_was_told_to_keep(
    page: Page, site: Site, role: str
) -> None:
    path = file_path(role)
    body = bytes((SITE / path[1:]).stat().st_size)

    def broken(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", TYPES.get(Path(path).suffix, BINARY))
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Cache-Control", FOR_EVER)
        handler.end_headers()
        handler.wfile.write(body)

    page.goto(f"{site.url}blank.html")
    site.answers[path] = broken
    assert load(page)["code"] == "LOAD_INTEGRITY"
    assert site.requests.count(path) == 2
    del site.answers[path]
    page.reload()  # a page that knows nothing of it
    assert load(page) == {"length": 384}
    page.reload()
    assert load(page) == {"length": 384}
    assert site.requests.count(path) == 3
    assert not any(asked.endswith((".br", ".gz")) for asked in site.requests)


@pytest.mark.parametrize("policy", ["", STRICT], ids=["plain", "strict-csp"])
@pytest.mark.parametrize("second", ["another script", "silence"])
def test_a_script_that_is_another_one_the_second_time(
    page: Page, site: Site, second: str, policy: str
) -> None:
    """Without an HTTP cache the browser asks again for what it is to import: it gets no trust."""
    path = file_path("pyodide.asm.mjs")
    whole = content((SITE / path[1:]).read_bytes(), "text/javascript")
    other = content(b"export default async () => { document.title = 'wrong'; };", "text/javascript")
    page.goto(f"{site.url}blank.html")
    if policy:
        site.headers["Content-Security-Policy"] = policy
        page.reload()
    answers = [whole, other if second == "another script" else stalled(b"export", 99_999)]
    site.answers[path] = lambda handler: answers[min(site.requests.count(path), 2) - 1](handler)
    result = load(page, timeoutMs=1000)
    code = "LOAD_INTEGRITY" if second == "another script" else "LOAD_TIMEOUT"
    assert result.get("code") == (code if policy else None)
    assert page.title() == "blank"
    assert site.requests.count(path) == 2
    del site.answers[path]
    assert load(page) == {"length": 384}


def test_a_model_url_of_the_users_own(page: Page, site: Site) -> None:
    site.answers |= {
        "/html": content(HTML, "text/html"),
        "/short": content(b"x" * 20, "application/octet-stream"),
        "/int8": content(MODEL[:6] + b"\1" + MODEL[7:], "application/octet-stream"),
        "/changed": content(MODEL[:-1] + b"x", "application/octet-stream"),
    }
    page.goto(f"{site.url}blank.html")
    codes = {
        name: load(page, model=f"/{name}").get("code", "")
        for name in ("none", "html", "short", "int8", "changed", file_path("model")[1:])
    }
    assert codes == {
        "none": "LOAD_HTTP",
        "html": "LOAD_CONTENT",
        "short": "MODEL_TOO_SHORT",
        "int8": "MODEL_OTHER_BUILD",
        "changed": "MODEL_CHECKSUM",
        file_path("model")[1:]: "",
    }


def test_an_abort_in_mid_download_then_a_load(page: Page, site: Site) -> None:
    site.answers[file_path("model")] = stalled(MODEL[:99_999], len(MODEL))
    page.goto(f"{site.url}blank.html")
    result = load(page, abort_at="model")
    assert (result["code"], result["cause"]) == ("ABORTED", "AbortError")
    del site.answers[file_path("model")]
    assert load(page) == {"length": 384}


def test_servers_that_give_files_a_wrong_type(page: Page, site: Site) -> None:
    """Pyodide's own loader hangs on a wasm that is not application/wasm; this one needs no type."""
    for name, kind in (("pyodide.asm.wasm", "text/plain"), ("pyodide.asm.mjs", "text/plain")):
        path = file_path(name)
        site.answers[path] = content((SITE / path[1:]).read_bytes(), kind)
    page.goto(f"{site.url}blank.html")
    assert load(page) == {"length": 384}
