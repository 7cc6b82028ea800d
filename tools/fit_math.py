"""Derive the coefficients of pyapp/tern_engine/kernels/vmath.h and print their error.

    python tools/fit_math.py

exp: 2^n * p(r) with r in [-ln2/2, ln2/2] and p a polynomial of degree 6 with p(0) = p'(0) = 1.
GELU: x/2 * (1 + erf(x / sqrt 2)) = max(x, 0) - |x| * P(Z > |x|) for a standard normal Z, and
P(Z > t) = q(t)^-16 with q a polynomial of degree 6. The subtracted term is small wherever x is
large, so no digits are lost, which a quotient for erf itself does (1e-6 at |x| = 5).
Both fits are linear least squares, reweighted (Lawson) until the largest error is levelled.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def lawson(matrix: F64, target: F64, rounds: int = 300) -> F64:
    """Weighted least squares whose weights drift towards the minimax solution."""
    weights = np.full(len(target), 1.0 / len(target))
    best, best_error = np.zeros(matrix.shape[1]), math.inf
    for _ in range(rounds):
        root = np.sqrt(weights)[:, None]
        solution = np.linalg.lstsq(matrix * root, target * root[:, 0], rcond=None)[0]
        error = np.abs(matrix @ solution - target)
        if error.max() < best_error:
            best, best_error = solution, float(error.max())
        weights *= error + 1e-3 * error.max()
        weights /= weights.sum()
    return best


def fit_exp(degree: int = 6) -> F64:
    """Coefficients c[2..degree] of exp(r) = 1 + r + c2 r^2 + …, relative error levelled."""
    r = np.cos(np.linspace(0, math.pi, 2001)) * math.log(2) / 2
    powers = np.stack([r**k for k in range(2, degree + 1)], axis=1)
    return lawson(powers / np.exp(r)[:, None], (np.exp(r) - 1 - r) / np.exp(r))


def fit_tail(degree: int = 6, power: int = 16, limit: float = 5.5) -> F64:
    """q of degree `degree` with q(t)^-power = P(Z > t), the error of t * q^-power levelled."""
    t = (1 - np.cos(np.linspace(0, math.pi, 4001))) / 2 * limit
    tail = np.array([0.5 * math.erfc(float(v) * math.sqrt(0.5)) for v in t])
    root = tail ** (-1.0 / power)
    weight = np.maximum(t, 0.05) * power * tail / root
    powers = np.stack([t**k for k in range(degree + 1)], axis=1)
    return lawson(powers * weight[:, None], root * weight)


def horner32(coefficients: F64, z: NDArray[np.float32]) -> NDArray[np.float32]:
    """The kernel's evaluation, in float32, highest power first."""
    value = np.full_like(z, np.float32(coefficients[-1]))
    for c in coefficients[-2::-1]:
        value = (value * z).astype(np.float32) + np.float32(c)
    return value


def main() -> None:
    """Print the constants as C literals and the largest float32 errors."""
    e = fit_exp()
    print("exp c2..:", ", ".join(f"{np.float32(c):.9e}f" for c in e))
    r = np.linspace(-math.log(2) / 2, math.log(2) / 2, 200001).astype(np.float32)
    value = horner32(e, r) * (r * r) + r + np.float32(1)
    print(f"exp: largest relative error {np.max(np.abs(value / np.exp(r.astype(float)) - 1)):.2e}")
    q = fit_tail()
    print("tail q0..:", ", ".join(f"{np.float32(c):.9e}f" for c in q))
    x = np.linspace(-12, 12, 400001).astype(np.float32)
    t = np.abs(x)
    value = horner32(q, t)
    for _ in range(4):
        value = value * value
    gelu = np.maximum(x, np.float32(0)) - t / value
    exact = np.array([0.5 * float(v) * math.erfc(-float(v) * math.sqrt(0.5)) for v in x])
    print(f"gelu: largest absolute error {np.max(np.abs(gelu - exact)):.2e}")


if __name__ == "__main__":
    main()
