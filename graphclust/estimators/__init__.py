"""The algorithms as scikit-learn's estimators: its conventions over our functions, which do the work.

They derive from its base classes, so that this folder alone needs scikit-learn when it is imported.
"""

from graphclust.errors import derive_from_scikit_learns

try:
    import sklearn.exceptions  # noqa: F401 (so that it is loaded below)
    from sklearn.utils.validation import validate_data as validate_data  # of 1.6, the oldest version that will do
except ImportError as problem:
    raise ImportError(
        'the estimators need scikit-learn 1.6 or newer: pip install "graphclust[sklearn]"; the functions, such as '
        "kmeans and coreset_sc, do without"
    ) from problem

derive_from_scikit_learns()
