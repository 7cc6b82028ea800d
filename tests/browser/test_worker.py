"""`load({worker})` in a page: golden bits from a pool, few requests, and every way it can end."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.site import Site, content, file_path, missing
from tests.browser.test_engine import STRICT

ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}

# Loads with `worker`, and says what calls give, or the error.
USE = """async (options) => {
    const {load, TernError, WorkerEngine} = await import("./tern-engine.js");
    try {
        const engine = await load(options);
        if (!(engine instanceof WorkerEngine)) return "not in a worker";
        const vector = await engine.embed("a text");
        await engine.dispose();
        return {length: vector.length, isolated: crossOriginIsolated};
    } catch (error) {
        return {code: error instanceof TernError ? error.code : String(error),
                message: error.message};
    }
}"""


def wait_for_no_workers(page: Page) -> None:
    """Playwright hears of a worker's end a moment later."""
    while page.workers:
        page.wait_for_timeout(20)


@pytest.mark.parametrize("headers", [{}, ISOLATED], ids=["plain", "isolated"])
def test_a_pool_has_the_golden_bits_and_fetches_each_file_once(
    page: Page, site: Site, golden: dict[str, Any], headers: dict[str, str]
) -> None:
    site.headers |= {"Content-Security-Policy": STRICT} | headers
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async (texts) => {
            const {load} = await import("/tern-engine.js");
            const {sha256} = await import("/sha256.js");
            const files = new Set();
            const onProgress = ({file, status}) => files.add(file || status);
            const engine = await load({worker: {pool: 2}, onProgress});
            const vectors = await engine.embedBatch(texts);
            const all = new Float32Array(engine.dim * vectors.length);
            vectors.forEach((vector, i) => all.set(vector, i * engine.dim));
            const ids = await engine.tokenize("a text");
            const summary = JSON.parse(await engine.config_summary());
            await engine.dispose();
            return {hash: await sha256(new Uint8Array(all.buffer)), ids: [...ids],
                    workers: engine.workers, cores: navigator.hardwareConcurrency,
                    fingerprint: summary.fingerprint, files: [...files].sort()};
        }""",
        golden["texts"],
    )
    assert found["hash"] == golden["sha256"]
    assert found["ids"] == [101, 1037, 3793, 102]
    assert found["workers"] == min(2, found["cores"])
    assert found["fingerprint"] == golden["model"]
    roles = ["kernels", "model", "package", "pyodide.asm.mjs", "pyodide.asm.wasm"]
    roles += ["snapshot"]
    assert found["files"] == sorted([*roles, "starting", "ready"])
    for role in roles:
        assert site.requests.count(file_path(role)) == 1, role


def test_a_batch_can_be_aborted_and_the_engine_goes_on(page: Page, site: Site) -> None:
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async () => {
            const {load} = await import("/tern-engine.js");
            const engine = await load({worker: true});
            const texts = Array.from({length: 5000}, (_, i) => `text ${i} `.repeat(20));
            const controller = new AbortController();
            let most = 0;
            const onProgress = (done) => { most = done; controller.abort(); };
            const {code, cause} = await engine
                .embedBatch(texts, {signal: controller.signal, onProgress})
                .catch((error) => error);
            const single = await engine.embed("after");
            const pending = engine.embedBatch(texts).catch((error) => error.code);
            await engine.dispose();
            return {code, cause: cause.name, most, length: single.length, pending: await pending};
        }"""
    )
    assert found["most"] < 100
    del found["most"]
    assert found == {"code": "ABORTED", "cause": "AbortError", "length": 384, "pending": "DISPOSED"}


def test_errors_keep_their_codes_and_the_next_load_works(page: Page, site: Site) -> None:
    page.goto(f"{site.url}blank.html")
    site.answers["/short"] = content(b"x" * 20, "application/octet-stream")
    assert page.evaluate(USE, {"worker": True, "model": "/short"})["code"] == "MODEL_TOO_SHORT"
    site.answers[file_path("model")] = missing
    assert page.evaluate(USE, {"worker": True})["code"] == "LOAD_HTTP"
    del site.answers[file_path("model")]
    result = page.evaluate(USE, {"worker": {"url": "/absent.js"}})
    assert result["code"] == "WORKER_FAILED"
    assert "/absent.js" in result["message"]
    assert page.evaluate(USE, {"worker": True}) == {"length": 384, "isolated": False}


def test_workers_that_the_page_forbids(page: Page, site: Site) -> None:
    site.headers["Content-Security-Policy"] = f"{STRICT}; worker-src 'none'"
    page.goto(f"{site.url}blank.html")
    assert page.evaluate(USE, {"worker": True})["code"] == "WORKER_FAILED"


def test_in_a_frame_and_under_a_path(page: Page, site: Site) -> None:
    """Both in the page's thread and in a worker."""
    site.prefix = "/some/path"
    site.headers["Content-Security-Policy"] = f"{STRICT}; frame-src 'self'"
    script = b"""
        import { load } from "./tern-engine.js";
        const here = await load();
        const there = await load({ worker: true });
        const [one, other] = [here.embed("a text"), await there.embed("a text")];
        document.body.textContent = `${one.length} ${one.join() === other.join()}`;
    """
    inner = b"<!doctype html><body><script type=module src=inner.js></script>"
    site.answers["/inner.js"] = content(script, "text/javascript")
    site.answers["/inner.html"] = content(inner, "text/html")
    outer = b"<!doctype html><iframe src=inner.html></iframe>"
    site.answers["/outer.html"] = content(outer, "text/html")
    page.goto(f"{site.url}some/path/outer.html")
    page.frame_locator("iframe").get_by_text("384 true").wait_for()


def test_in_a_sandboxed_frame_that_has_no_origin(page: Page, site: Site) -> None:
    """The engine works there, also in a worker; what cannot be stored is a typed error."""
    site.headers["Access-Control-Allow-Origin"] = "*"
    script = b"""
        import { load } from "./tern-engine.js";
        import { openIndexStore } from "./search.js";
        const here = (await load()).embed("a text");
        const there = await (await load({ worker: true })).embed("a text");
        const { code } = await openIndexStore().catch((error) => error);
        const facts = [origin, here.length, here.join() === there.join(), code];
        document.body.textContent = facts.join(" ");
    """
    inner = b"<!doctype html><body><script type=module src=inner.js></script>"
    site.answers["/inner.js"] = content(script, "text/javascript")
    site.answers["/inner.html"] = content(inner, "text/html")
    outer = b"<!doctype html><iframe sandbox=allow-scripts src=inner.html></iframe>"
    site.answers["/outer.html"] = content(outer, "text/html")
    page.goto(f"{site.url}outer.html")
    expected = "null 384 true STORAGE_UNAVAILABLE"
    page.frame_locator("iframe").get_by_text(expected).wait_for()


def test_a_worker_that_dies_at_work(page: Page, site: Site) -> None:
    """Everything pending and everything later is rejected with a typed error; a new load works."""
    script = b"""
        import "./engine.worker.js";
        addEventListener("message", ({ data: { args: [texts] } }) => {
            if (texts?.[0] === "die") setTimeout(() => { throw new RangeError("out of luck"); });
        });
    """
    site.answers["/fragile.js"] = content(script, "text/javascript")
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async () => {
            const {load, TernError} = await import("/tern-engine.js");
            const engine = await load({worker: {url: "/fragile.js"}});
            const texts = Array.from({length: 999}, (_, i) => `text ${i}`);
            const batch = engine.embedBatch(texts);
            engine.embed("die").catch(() => {}); // it may get its answer just before
            const calls = [batch, batch.catch(() => engine.embed("late"))];
            const reasons = (await Promise.allSettled(calls)).map(({reason}) => reason);
            return reasons.map((error) => [error instanceof TernError, error?.code,
                                           error?.message.includes("out of luck")]);
        }"""
    )
    assert found == [[True, "WORKER_FAILED", True]] * 2
    wait_for_no_workers(page)
    assert page.evaluate(USE, {"worker": True}) == {"length": 384, "isolated": False}
    wait_for_no_workers(page)


@pytest.mark.parametrize("worker", [False, True], ids=["here", "worker"])
def test_an_abort_at_any_stage_then_a_load(page: Page, site: Site, worker: bool) -> None:
    """In mid download, between files, when Python starts, while it starts, and at the very end."""
    page.goto(f"{site.url}blank.html")
    found = page.evaluate(
        """async (worker) => {
            const {load} = await import("/tern-engine.js");
            const stages = {
                "first bytes": () => true,
                "a file is here": ({file}) => file === "package",
                "last file": ({progress}) => progress === 1,
                "starting": ({status}) => status === "starting",
                "ready": ({status}) => status === "ready",
            };
            if (worker) { // while Python starts; in the page's own thread that leaves no gap
                stages.later = ({status}, abort) => {
                    if (status === "starting") setTimeout(abort, 20);
                };
            }
            const codes = {};
            for (const [name, isNow] of Object.entries(stages)) {
                const controller = new AbortController();
                const abort = () => controller.abort();
                const onProgress = (event) => isNow(event, abort) && abort();
                codes[name] = await load({worker, signal: controller.signal, onProgress})
                    .then(() => "loaded", ({code}) => code);
            }
            const engine = await load({worker});
            const {length} = await engine.embed("a text");
            await engine.dispose();
            return {codes: [...new Set(Object.values(codes))], length};
        }""",
        worker,
    )
    assert found == {"codes": ["ABORTED"], "length": 384}
    wait_for_no_workers(page)


def test_the_engine_of_another_origin(page: Page, site: Site) -> None:
    """A page whose files lie on another host, as on one for static files."""
    site.headers["Access-Control-Allow-Origin"] = "*"
    page.goto(f"{site.url.replace('127.0.0.1', 'localhost')}blank.html")
    found = page.evaluate(
        """async (url) => {
            const {load} = await import(url);
            const here = (await load()).embed("a text");
            const there = await (await load({worker: true})).embed("a text");
            const absent = new URL("absent.js", url);
            const {code} = await load({worker: {url: absent}}).catch((error) => error);
            return [here.join() === there.join(), here.length, code];
        }""",
        f"{site.url}tern-engine.js",
    )
    assert found == [True, 384, "WORKER_FAILED"]
