/** Small helpers around the document. */

/**
 * The element with an id that index.html is known to have.
 *
 * @param {string} id
 * @returns {any}
 */
export function find(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
  return element;
}

/**
 * A copy of a template's element, and its parts by selector.
 *
 * @param {string} id
 * @returns {{element: HTMLElement, part: (selector: string) => any}}
 */
export function fromTemplate(id) {
  const element = find(id).content.firstElementChild.cloneNode(true);
  return { element, part: (selector) => element.querySelector(selector) };
}

/**
 * @param {string} tag
 * @param {Record<string, unknown>} properties
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * Calls `action` once nothing was asked for `ms`.
 *
 * @param {() => void} action
 * @param {number} ms
 */
export function debounced(action, ms) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return {
    soon() {
      clearTimeout(timer);
      timer = setTimeout(action, ms);
    },
    now() {
      clearTimeout(timer);
      action();
    },
  };
}

/** @param {number} count */
export const number = (count) => count.toLocaleString("en");

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
