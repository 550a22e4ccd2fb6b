"""Three of scikit-learn's own examples with its classes and with ours: means over random states, in turn."""

import pathlib
import sys

import numpy as np
import sklearn.cluster
from harness import asked, write_table
from tools import spread_over_seeds, timed

import graphclust

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from sklearn_examples import EXAMPLES

MODULES = {"scikit-learn": sklearn.cluster, "graphclust": graphclust}


NOTES = "Means over the seeds, of milliseconds the median; spread is half the range."


def main() -> None:
    seeds = range(asked(__doc__, seeds=50).seeds)
    rows = []
    for name, example in EXAMPLES.items():
        found: dict[str, list[dict[str, float]]] = {whose: [] for whose in MODULES}
        for module in MODULES.values():
            example(module)  # compile, and read the data
        for seed in seeds:
            for whose, module in MODULES.items():
                seconds, scores = timed(example, module, seed)
                found[whose].append(scores | {"milliseconds": 1000 * seconds})
        for score in found["graphclust"][0]:
            of_seeds = {whose: [run[score] for run in runs] for whose, runs in found.items()}
            shown = "{:.0f}" if score == "milliseconds" else "{:.4f}"
            middle = np.median if score == "milliseconds" else np.mean
            spreads = [shown.format(spread_over_seeds(values)) for values in of_seeds.values()]
            rows.append([name, score, *(shown.format(middle(values)) for values in of_seeds.values()), *spreads])
    header = ["example", "score, higher is better", *MODULES, *(f"spread: {whose}" for whose in MODULES)]
    write_table("sklearn_examples", "scikit-learn's examples with another import", header, rows, NOTES)


if __name__ == "__main__":
    main()
