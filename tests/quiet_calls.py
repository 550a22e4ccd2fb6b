"""coreset_sc without its warnings, for tests of what it returns."""

import warnings

from graphclust import ConvergenceWarning, GraphWarning, coreset_sc

PAPER = {"method": "paper"}


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", GraphWarning)
        return coreset_sc(*args, **options)
