"""The inverse of covariances against NumPy's, which uses LAPACK: scaled, nearly dependent and dependent columns."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.metrics.clustering.inverse_covariance import inverse_covariance
from support.cases import assert_raises, each_case


def points(dims, rows=80):
    generator = np.random.default_rng(dims)
    return generator.normal(size=(rows, dims)) @ (np.eye(dims) + 0.3 * generator.normal(size=(dims, dims)))


@each_case("dims", [1, 2, 7, 30])
@each_case("scale", [1.0, 1e-100, 1e120])
def test_inverses(dims, scale):
    x = points(dims) * scale + 5 * scale
    found = inverse_covariance(x)
    expected = np.linalg.inv(np.atleast_2d(np.cov(x.T / scale)))
    np.testing.assert_allclose(found * scale * scale, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
    assert np.array_equal(found, found.T)


def test_rows_in_any_order():
    x = points(5)
    assert inverse_covariance(x[::-1]).tobytes() == inverse_covariance(x).tobytes()


@each_case("x", [np.ones((4, 2)), np.outer(np.arange(9.0), [1, 3]), np.c_[points(3), points(3)[:, 0]]])
def test_dependent_columns(x):
    labels = np.arange(len(x)) % 2
    assert_raises(ValueError, "linearly dependent: pass VI", fm.silhouette_score, x, labels, metric="mahalanobis")


def test_a_given_inverse_is_taken():
    x, labels = points(3), np.arange(80) % 3
    found = fm.silhouette_samples(x, labels, metric="mahalanobis", VI=np.eye(3))
    np.testing.assert_allclose(found, fm.silhouette_samples(x, labels), atol=1e-12)


@each_case("w", [[1.0, 2.0], [1.0, -2.0, 1.0]])
def test_weights_of_minkowski(w):
    x, labels, options = points(3), np.arange(80) % 2, {"metric": "minkowski", "p": 3}
    assert_raises(ValueError, "w must have 3 weights", fm.silhouette_score, x, labels, **options, w=w)
    weighted = fm.silhouette_score(x, labels, **options, w=[1.0, 1.0, 1.0])
    assert weighted == pytest.approx(fm.silhouette_score(x, labels, **options))
