/**
 * An error with a code, for what this page cannot do.
 *
 * @param {string} code
 * @param {string} message
 */
export function failure(code, message) {
  return Object.assign(new Error(message), { code });
}
