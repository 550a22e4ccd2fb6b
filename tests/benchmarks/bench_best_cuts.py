"""How far is our normalized cut from the smallest one known? Ratios over graphs and k, at normal and at high effort.

    python bench_best_cuts.py [--repeats 3] [--only NAME ...]

Records, over many seeds and methods, are read from bench/best_known_cuts.json beside the folder that $GRAPHCLUST_DATA
names; without that file there is nothing to compare with. What a tool finds below a record takes its place. Largest
components; medians over the seeds.
"""

import json
import sys

import numpy as np
from harness import asked, is_wanted, shown, write_table
from peers_data import graphs_folder, planted, real
from tools import METIS, SMALLEST_CUT, measure, ours, percent

HIGH_EFFORT = ours("high effort", objective="normalized_cut", effort="high")
TOOLS = {"normal effort": SMALLEST_CUT, "high effort": HIGH_EFFORT, "METIS": METIS}


def main() -> None:
    options = asked(__doc__, repeats=3, only=[])
    figures = graphs_folder().parents[1] / "bench" / "best_known_cuts.json"
    if not figures.exists():
        sys.exit(f"{figures} is not there: no best known cuts to compare with")
    for tool in (SMALLEST_CUT, HIGH_EFFORT):
        tool.run(planted("5x200:10:1")[0], 5, 0)  # compile
    rows, ratios, n_renewed = [], [], 0
    for name, cuts in json.loads(figures.read_text())["cuts"].items():
        if not is_wanted(name, options.only):
            continue
        matrix, classes = real(name)
        for k, record in sorted((int(k), cut) for k, cut in cuts.items()):
            found = [measure(tool, matrix, k, classes, options.repeats) for tool in TOOLS.values()]
            reached = [one.cut if one.parts == k else np.inf for one in found]
            smallest = min(record, *reached)
            n_renewed += smallest < 0.98 * record
            ratios.append([cut / smallest for cut in reached])
            seconds = [f"{one.seconds:.3f}" for one in found]
            spreads = [percent(one.spread, one.cut) for one in found]
            over = [f"{ratio:.3f}" for ratio in ratios[-1]]
            rows.append(shown([name, str(k), f"{smallest:.5f}", *over, *seconds, *spreads]))
    summaries = {
        "geometric mean": [f"{value:.3f}" for value in np.exp(np.log(ratios).mean(axis=0))],
        "worst": [f"{value:.3f}" for value in np.max(ratios, axis=0)],
        "within 2 %": [f"{value:.0%}" for value in (np.array(ratios) <= 1.02).mean(axis=0)],
        "smallest known": [f"{value:.0%}" for value in (np.array(ratios) < 1.0005).mean(axis=0)],
    }
    rows += [[name, "", "", *cells, *[""] * (2 * len(TOOLS))] for name, cells in summaries.items()]
    header = ["graph", "k", "smallest known NCut/k", *(f"{name} / smallest" for name in TOOLS)]
    header += [*(f"{name} s" for name in TOOLS), *(f"spread: {name}, %" for name in TOOLS)]
    notes = (
        f"{len(ratios)} pairs of graph and k. The smallest known cut is the least of a record over many seeds and "
        f"methods and of the three columns; {n_renewed} lie more than 2 % below the record. Records are rounded to "
        "five digits. Spread is half the range of the cut over the seeds, in per cent of its median."
    )
    write_table("best_cuts", "Normalized cuts over the smallest known", header, rows, notes, not options.only)


if __name__ == "__main__":
    main()
