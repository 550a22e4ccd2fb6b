"""Three of scikit-learn's own examples with its classes and with ours: scores, and medians of the seconds."""

import argparse
import pathlib
import sys
import time
import warnings

import numpy as np
import sklearn.cluster
from tables import write_table

import graphclust

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from sklearn_examples import EXAMPLES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.filterwarnings("ignore")
    rows = []
    for name, example in EXAMPLES.items():
        found = {}
        for whose, module in (("scikit-learn", sklearn.cluster), ("graphclust", graphclust)):
            example(module)  # compile, and read the data
            seconds = []
            for _ in range(repeats):
                start = time.perf_counter()
                scores = example(module)
                seconds.append(time.perf_counter() - start)
            found[whose] = scores | {"seconds": float(np.median(seconds))}
        rows += [
            [name, score, f"{found['scikit-learn'][score]:.3f}", f"{found['graphclust'][score]:.3f}"]
            for score in found["graphclust"]
        ]
    header = ["example", "score, higher is better", "scikit-learn", "graphclust"]
    write_table("sklearn_examples", "scikit-learn's examples with another import", header, rows)


if __name__ == "__main__":
    main()
