/** The page at "/": what the endpoint is, for people, with a box to try it. */
import script from "./page/page.client.js";
import style from "./page/page.css";
import html from "./page/page.html";

/**
 * @param {import("./app.js").Build} build
 * @returns {Response}
 */
export function page(build) {
  const nonce = crypto.randomUUID();
  const { name, version, dim } = build;
  const parts = { style, script, nonce, name, version, dim: String(dim) };
  const text = html.replaceAll(/\{\{(\w+)\}\}/g, (_, part) => parts[part]);
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return new Response(text, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "cache-control": "no-store",
    },
  });
}
