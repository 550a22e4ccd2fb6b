"""Masses of nodes and clusters: a number each, (n,), or several where a graph has layers, (n, n_masses).

What an array has is known when a loop is compiled, so that loops over single numbers are what they would be alone.
"""

import numpy as np

from graphclust.compiled.runtime.loops import INLINED, loop


@loop(**INLINED)
def add_mass(masses, c, mass, times):
    if masses.ndim == 1:
        masses[c] += times * mass
    else:
        for i in range(masses.shape[1]):
            masses[c, i] += times * mass[i]


@loop(**INLINED)
def copy_mass(masses, c, others, other):
    if masses.ndim == 1:
        masses[c] = others[other]
    else:
        for i in range(masses.shape[1]):
            masses[c, i] = others[other, i]


@loop(**INLINED)
def clear_mass(masses, c):
    if masses.ndim == 1:
        masses[c] = 0.0
    else:
        for i in range(masses.shape[1]):
            masses[c, i] = 0.0


@loop(**INLINED)
def size_of_mass(masses, u):
    """The mass of u, or the sum of the sizes of its masses."""
    if masses.ndim == 1:
        return masses[u]
    else:
        total = 0.0
        for i in range(masses.shape[1]):
            total += abs(masses[u, i])
        return total


@loop()
def typical_product(masses, layers):
    """The square of the mean mass; of several, the mean over the nodes of the sum of penalties times squares."""
    total, n = 0.0, len(masses)
    if len(layers) == 0:
        for u in range(n):
            total += masses[u]
        return (total / n) ** 2
    else:
        for u in range(n):
            for i in range(len(layers[0])):
                total += abs(layers[0][i]) * masses[u, i] * masses[u, i]
        return total / n


@loop()
def no_masses(like, k):
    if like.ndim == 1:
        return np.zeros(k)
    else:
        return np.zeros((k, like.shape[1]))


@loop()
def several_masses(masses):
    """A copy of masses that are several of each node; nothing where each node has one."""
    if masses.ndim == 1:
        return np.empty(0)
    else:
        return masses.copy()
