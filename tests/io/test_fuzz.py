"""Twenty thousand damaged files of every format that the package reads: each is refused by name, or read as it says."""

import json
import os
import pathlib
import subprocess
import sys
from itertools import pairwise

import pytest

SEED, N_FILES, SECONDS = 518, 20_000, 100
MOST_FAULTS = 20  # after so many the rest would say nothing new


@pytest.mark.slow
def test_damaged_files_of_every_format_end_in_named_errors():
    """The seed is that of GRAPHCLUST_FUZZ_SEED, if set; what is wrong is shown with the command that shows it again."""
    seed, first, faults = int(os.environ.get("GRAPHCLUST_FUZZ_SEED", SEED)), 0, []
    runner = pathlib.Path(__file__).parents[1] / "fuzz_files.py"
    print(f"seed {seed}")
    # One that compiles takes more memory than one that reads may.
    subprocess.run([sys.executable, str(runner), str(seed), "0", "0"], check=True, timeout=5 * SECONDS)
    while first < N_FILES and len(faults) < MOST_FAULTS:
        command = [sys.executable, str(runner), str(seed), str(first), str(N_FILES)]
        child = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS)
        lines = child.stdout.splitlines()
        numbers = [int(line) for line in lines if line.isdigit()]
        assert numbers, child.stderr
        for number, line in pairwise(lines):
            if line.startswith("["):
                faults.append((f"{runner} {seed} {number} {int(number) + 1}", *json.loads(line)))
        if child.returncode != 0:
            faults.append(
                (f"{runner} {seed} {numbers[-1]} {numbers[-1] + 1}", f"ended by {child.returncode}", child.stderr)
            )
        first = numbers[-1] + 1
    assert faults == []
