"""The M-step of the 1PL and 2PL: one Newton step for every task at once."""

from __future__ import annotations

import numpy as np

from examiner.irt.estimation.exponential import Expected
from examiner.irt.items import Floats
from examiner.irt.model import Priors

_MOST_SLOPE_STEP = 1.0
_MOST_INTERCEPT_STEP = 1.5


def newton_step(
    expected: Expected,
    slope: Floats,
    intercept: Floats,
    priors: Priors | None,
    *,
    shared_slope: bool,
) -> tuple[Floats, Floats]:
    """Return slopes and intercepts after one step up the expected log-likelihood and priors.

    With posterior mass m_q in trials at node θ_q: gradients Σ won − Σ m P and Σ won·E[θ] − Σ m θ P,
    curvatures Σ m P(1 − P) (1, θ, θ²). A slope shared by all tasks is eliminated last (Schur).
    """
    by_slope, by_intercept, h_dd, h_ad, h_aa = _derivatives(expected)
    if priors is not None:
        by_intercept -= (intercept - priors.intercept.mean) / priors.intercept.sd**2
        h_dd += 1 / priors.intercept.sd**2
    if shared_slope:
        return _shared(by_slope, by_intercept, h_dd, h_ad, h_aa, slope, intercept, priors)
    if priors is not None:
        by_slope -= (slope - priors.slope.mean) / priors.slope.sd**2
        h_aa += 1 / priors.slope.sd**2
    determinant = np.maximum(h_dd * h_aa - h_ad**2, 1e-8)
    slope_step = (h_dd * by_slope - h_ad * by_intercept) / determinant
    intercept_step = (h_aa * by_intercept - h_ad * by_slope) / determinant
    size = np.maximum(
        np.abs(slope_step) / _MOST_SLOPE_STEP, np.abs(intercept_step) / _MOST_INTERCEPT_STEP
    )
    shrink = 1.0 / np.maximum(size, 1.0)
    return slope + shrink * slope_step, intercept + shrink * intercept_step


def _derivatives(expected: Expected) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Gradients by slope and intercept, and the three curvatures, one number a task each."""
    rising, nodes = expected.rising, expected.nodes
    kind = rising.dtype
    powers = np.stack([np.ones_like(nodes), nodes, nodes**2], axis=1)
    if expected.mass.ndim == 1:
        weighted = (expected.mass[:, None] * powers).astype(kind)
        first = np.asarray(rising @ weighted[:, :2], dtype=np.float64)
        bend = np.asarray((rising - rising * rising) @ weighted, dtype=np.float64)
    else:
        at = rising * expected.mass
        first = np.asarray(at @ powers[:, :2].astype(kind), dtype=np.float64)
        at -= at * rising
        bend = np.asarray(at @ powers.astype(kind), dtype=np.float64)
    trials = expected.trials[:, None]
    first *= trials
    bend *= trials
    return (
        expected.won_ability - first[:, 1],
        expected.won - first[:, 0],
        bend[:, 0].copy(),
        bend[:, 1],
        bend[:, 2].copy(),
    )


def _shared(
    by_slope: Floats,
    by_intercept: Floats,
    h_dd: Floats,
    h_ad: Floats,
    h_aa: Floats,
    slope: Floats,
    intercept: Floats,
    priors: Priors | None,
) -> tuple[Floats, Floats]:
    h_dd = np.maximum(h_dd, 1e-8)
    gradient = float((by_slope - h_ad / h_dd * by_intercept).sum())
    curvature = float((h_aa - h_ad**2 / h_dd).sum())
    if priors is not None:  # one slope, so one prior
        gradient -= (float(slope[0]) - priors.slope.mean) / priors.slope.sd**2
        curvature += 1 / priors.slope.sd**2
    step = float(np.clip(gradient / max(curvature, 1e-8), -_MOST_SLOPE_STEP, _MOST_SLOPE_STEP))
    intercept_step = np.clip(
        (by_intercept - h_ad * step) / h_dd, -_MOST_INTERCEPT_STEP, _MOST_INTERCEPT_STEP
    )
    return slope + step, intercept + intercept_step


def log_prior(
    slope: Floats, intercept: Floats, priors: Priors | None, *, shared_slope: bool
) -> float:
    """Return the log-priors of slopes and intercepts without their constants."""
    if priors is None:
        return 0.0
    slopes = slope[:1] if shared_slope else slope
    return float(
        -0.5 * (((slopes - priors.slope.mean) / priors.slope.sd) ** 2).sum()
        - 0.5 * (((intercept - priors.intercept.mean) / priors.intercept.sd) ** 2).sum()
    )
