"""Importance sampling: Student t's around modes that scipy.optimize finds, fitted once more to what they draw."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp
from scipy.stats import genpareto

from benchmarks.calibration.problem import Truth

LogJoint: TypeAlias = Callable[[np.ndarray], np.ndarray]  # (draws, d) to (draws,): prior, Jacobian and likelihood
Images: TypeAlias = Callable[[np.ndarray], Iterator[np.ndarray]]  # the draws in every order of their labels
IMPORTANCE = "importance sampling"
FREEDOM = 6.0
PILOTS = 2  # fits of the proposal
SMALLEST_EFFECTIVE, LARGEST_SHAPE = 400.0, 0.7  # else the error is itself a guess
ENOUGH = 20.0  # effective draws per coordinate, to fit a covariance to


class Mode(NamedTuple):
    """A Student t of the proposal."""

    centre: np.ndarray
    covariance: np.ndarray
    log_weight: float


def importance(
    log_joint: LogJoint,
    modes: list[Mode],
    draws: int = 40_000,
    images: Images | None = None,
    seed: int = 0,
) -> Truth:
    """Log Z from draws around the modes; with `images`, around all their label images."""
    generator = np.random.default_rng(seed)
    for _ in range(PILOTS):
        points, log_weights = _weigh(log_joint, modes, max(draws // 4, 2000), images, generator)
        modes = _refit(modes, points, log_weights)
    _, log_weights = _weigh(log_joint, modes, draws, images, generator)
    log_evidence = logsumexp(log_weights) - np.log(draws)
    ratios = np.exp(log_weights - log_evidence)
    effective, shape = draws / np.mean(ratios**2), _tail_shape(ratios)
    note = f"ESS {effective:.0f} of {draws}, k {shape:.2f}, {len(modes)} modes"
    is_sound = bool(effective > SMALLEST_EFFECTIVE and shape < LARGEST_SHAPE)
    return Truth(float(log_evidence), float(ratios.std() / np.sqrt(draws)), IMPORTANCE, note, is_sound)


def mode_near(log_joint: LogJoint, start: np.ndarray) -> Mode:
    """Ascend from a start: a quasi-Newton search, then Newton steps with a Hessian by differences."""
    found = minimize(lambda point: -_one(log_joint, point), start, method="BFGS")
    centre = found.x
    steps = 0.1 * np.sqrt(np.maximum(np.diag(found.hess_inv), 1e-12))
    for _ in range(6):
        gradient, hessian = derivatives(log_joint, centre, steps)
        covariance = positive_inverse(-hessian)
        move = covariance @ gradient
        if _one(log_joint, centre + move) < _one(log_joint, centre):
            break
        centre = centre + move
        steps = 0.1 * np.sqrt(np.diag(covariance))
    return expansion(log_joint, centre, steps)


def expansion(log_joint: LogJoint, centre: np.ndarray, steps: np.ndarray) -> Mode:
    """Laplace's approximation at a mode."""
    _, hessian = derivatives(log_joint, centre, steps)
    covariance = positive_inverse(-hessian)
    volume = 0.5 * (np.linalg.slogdet(covariance)[1] + len(centre) * np.log(2 * np.pi))
    return Mode(centre, covariance, _one(log_joint, centre) + float(volume))


def derivatives(log_joint: LogJoint, centre: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian by central differences, in one call."""
    d = len(centre)
    first, second = np.triu_indices(d)
    unit = np.diag(steps)
    corners = [centre + a * unit[first] + b * unit[second] for a in (1, -1) for b in (1, -1)]
    values = log_joint(np.concatenate([*corners, centre + unit, centre - unit]))
    up_up, up_down, down_up, down_down = values[: 4 * len(first)].reshape(4, -1)
    plus, minus = values[4 * len(first) :].reshape(2, -1)
    hessian = np.zeros((d, d))
    hessian[first, second] = (up_up - up_down - down_up + down_down) / (4 * steps[first] * steps[second])
    return (plus - minus) / (2 * steps), hessian + np.triu(hessian, 1).T


def positive_inverse(precision: np.ndarray) -> np.ndarray:
    """The inverse, with directions that are flat or curved the wrong way made wide, not infinite."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(precision)), 1e-12))
    values, vectors = np.linalg.eigh(precision / np.outer(scale, scale))
    return (vectors / np.maximum(np.abs(values), 1e-4)) @ vectors.T / np.outer(scale, scale)


def _one(log_joint: LogJoint, point: np.ndarray) -> float:
    return float(log_joint(point[None])[0])


def _weigh(
    log_joint: LogJoint, modes: list[Mode], draws: int, images: Images | None, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    points = _draw(modes, draws, generator)
    if images is None:
        log_proposal = _density(modes, points)
    else:
        densities = [_density(modes, image) for image in images(points)]
        log_proposal = logsumexp(densities, axis=0) - np.log(len(densities))
    log_weights = log_joint(points) - log_proposal
    return points, np.where(np.isnan(log_weights), -np.inf, log_weights)


def _draw(modes: list[Mode], draws: int, generator: np.random.Generator) -> np.ndarray:
    counts = generator.multinomial(draws, np.exp(_shares(modes)))
    parts = []
    for mode, count in zip(modes, counts, strict=True):
        normal = generator.normal(size=(count, len(mode.centre))) @ np.linalg.cholesky(mode.covariance).T
        parts.append(mode.centre + normal * np.sqrt(FREEDOM / generator.chisquare(FREEDOM, size=(count, 1))))
    return np.concatenate(parts)


def _density(modes: list[Mode], points: np.ndarray) -> np.ndarray:
    return np.asarray(logsumexp(log_proposals(modes, points), axis=0))


def log_proposals(modes: list[Mode], points: np.ndarray) -> np.ndarray:
    """Log share times log density of every Student t at every point."""
    d = points.shape[1]
    logs = []
    for mode, share in zip(modes, _shares(modes), strict=True):
        root = np.linalg.cholesky(mode.covariance)
        distances = np.square(np.linalg.solve(root, (points - mode.centre).T)).sum(axis=0)
        constant = gammaln((FREEDOM + d) / 2) - gammaln(FREEDOM / 2) - 0.5 * d * np.log(FREEDOM * np.pi)
        constant -= np.log(np.diag(root)).sum()
        logs.append(share + constant - 0.5 * (FREEDOM + d) * np.log1p(distances / FREEDOM))
    return np.array(logs)


def _shares(modes: list[Mode]) -> np.ndarray:
    """Of the draws: as the modes' evidence has it, but none below a hundredth."""
    logs = np.array([mode.log_weight for mode in modes])
    shares = np.maximum(np.exp(logs - logsumexp(logs)), 0.01)
    return np.log(shares / shares.sum())


def _refit(modes: list[Mode], points: np.ndarray, log_weights: np.ndarray) -> list[Mode]:
    """Each Student t moves to the mean and covariance of the draws that are its own, where these are enough."""
    logs = log_proposals(modes, points)
    own = np.exp(logs - logsumexp(logs, axis=0) + log_weights - logsumexp(log_weights))
    fitted = []
    for mode, weights in zip(modes, own, strict=True):
        mass = weights.sum()
        if mass == 0 or mass**2 / np.square(weights).sum() < ENOUGH * points.shape[1]:
            fitted.append(mode)
            continue
        centre = weights @ points / mass
        apart = points - centre
        fitted.append(Mode(centre, (weights[:, None] * apart).T @ apart / mass, float(np.log(mass))))
    # Weights of fitted and unfitted ones must be on one scale.
    return [fit._replace(log_weight=float(np.log(own[i].sum() + 1e-300))) for i, fit in enumerate(fitted)]


def _tail_shape(ratios: np.ndarray) -> float:
    """Pareto's k of the largest weights; above 0.7 their mean is not to be trusted."""
    count = int(min(0.2 * len(ratios), 3 * np.sqrt(len(ratios))))
    ordered = np.sort(ratios)
    return float(genpareto.fit(ordered[-count:] - ordered[-count - 1], floc=0)[0])
