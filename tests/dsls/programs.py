"""Programs in OptiML, as a user writes them, each beside plain NumPy that computes the same."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np

import parloom as pm
from parloom.dsls import optiml as ml

# k-means.


def kmeans_step(x: Any, mu: Any) -> Any:
    """One step: x : [n, d], mu : [k, d] -> [k, d]; an empty cluster's centroid becomes 0."""
    label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))

    def mean_of(j: Any) -> Any:
        total = ml.sum_rows_if(x, label == j)
        count = label.count(lambda l: l == j)
        return total / np.maximum(count, 1)

    return pm.range(mu.shape[0]).map(mean_of)


def kmeans_masks(x: Any, mu: Any) -> Any:
    """The same step with a boolean mask."""
    label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))

    def mean_of(j: Any) -> Any:
        return x[label == j].sum(axis=0) / np.maximum(label.count(lambda l: l == j), 1)

    return pm.range(mu.shape[0]).map(mean_of)


def kmeans_groups(x: Any, mu: Any) -> Any:
    """The step with group_by: an empty cluster's centroid is NaN."""
    label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))
    return x.rows.group_by(label, size=mu.shape[0]).mean()


def kmeans(x: Any, mu: Any, tol: Any, max_iter: Any) -> Any:
    """The whole job."""
    return ml.until_converged(mu, lambda m: kmeans_step(x, m), tol=tol, max_iter=max_iter)


def numpy_kmeans_step(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The step in NumPy."""
    label = ((x[:, None, :] - mu[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    totals = [x[label == j].sum(axis=0) / max((label == j).sum(), 1) for j in range(len(mu))]
    return np.array(totals)


# Logistic regression: the gradient of the log-likelihood, x : [n, d], y : [n] of 0 and 1, w : [d].


def logistic_gradient_rows(x: Any, y: Any, w: Any) -> Any:
    """As a sum over rows."""
    error_times_row = lambda row, label: (ml.sigmoid(ml.dot(row, w)) - label) * row
    return ml.sum(x.rows.zip(y), error_times_row)


def logistic_gradient_matrix(x: Any, y: Any, w: Any) -> Any:
    """As products of matrices."""
    return x.T @ (ml.sigmoid(x @ w) - y)


def numpy_logistic_gradient(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """In NumPy."""
    return np.asarray(x.T @ (1 / (1 + np.exp(-(x @ w))) - y))


# Gaussian discriminant analysis: x : [n, d], y : [n] of 0 and 1 -> phi, mu0, mu1, sigma : [d, d].


def gda_rows(x: Any, y: Any) -> Any:
    """As sums over rows."""
    n = x.shape[0]
    ones = y.count(lambda label: label == 1)
    mu0 = ml.sum_rows_if(x, y == 0) / (n - ones)
    mu1 = ml.sum_rows_if(x, y == 1) / ones

    def scatter(row: Any, label: Any) -> Any:
        away = row - np.where(label == 1, mu1, mu0)
        return ml.outer(away, away)

    sigma = ml.sum(x.rows.zip(y), scatter) / n
    return ones / n, mu0, mu1, sigma


def gda_matrix(x: Any, y: Any) -> Any:
    """As products of matrices."""
    n = x.shape[0]
    ones = y.sum()
    mu0 = ((1 - y) @ x) / (n - ones)
    mu1 = (y @ x) / ones
    away = x - np.where(y[:, None] == 1, mu1, mu0)
    return ones / n, mu0, mu1, away.T @ away / n


def numpy_gda(x: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    """In NumPy."""
    mu0, mu1 = x[y == 0].mean(axis=0), x[y == 1].mean(axis=0)
    away = x - np.where(y[:, None] == 1, mu1, mu0)
    return (y == 1).mean(), mu0, mu1, away.T @ away / len(x)
