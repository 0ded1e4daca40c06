"""Sums over a few classes or components, laid out for XLA on CPU.

Scores are class-major, shape (classes, rows): the long axis is innermost, so the short sum over classes
becomes a few vector operations. The textbook layout (rows, classes) is several times slower.
"""

import jax
import jax.numpy as jnp


def log_sum_exp(scores: jax.Array) -> jax.Array:
    """Log of the sum over classes of exp(scores), for scores of shape (classes, rows)."""
    top = jnp.max(jax.lax.stop_gradient(scores), axis=0)
    # Where every class is impossible the shift must stay finite, or -inf would turn into NaN.
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    return top + jnp.log(jnp.sum(jnp.exp(scores - top), axis=0))


def chosen(scores: jax.Array, labels: jax.Array) -> jax.Array:
    """Each row's score of its own class, by a mask: a gather's gradient would be a slow scatter."""
    is_label = labels == jnp.arange(scores.shape[0])[:, None]
    return jnp.sum(jnp.where(is_label, scores, 0.0), axis=0)
