/** What an interpreter that goes on from a snapshot must not share with all others. */

/**
 * Every interpreter that goes on from a snapshot would draw the same numbers. The seed of Python's
 * hashes stays, since every dict relies on it; each build draws another.
 *
 * @param {import("../web/pyodide-boot.js").Interpreter} python
 */
export function reseed(python) {
  const random = python.pyimport("random");
  random.seed(); // from the host's entropy
  random.destroy();
}
