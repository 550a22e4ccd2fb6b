"""Hours of random work against what is promised: docs/promises.md.

    python tests/benchmarks/soak.py --minutes 60                  # random graphs, options, files, edits, kills, ...
    python tests/benchmarks/soak.py --minutes 0.5 --seed "$(date +%Y%j)"
    python tests/benchmarks/soak.py --only edits --seed 7 --number 12      # one try again, as a fault names it

The tries of `soak_tries.py` take turns; each draws all that it does from the seed and its number. What it raises is a
fault, and so is a process that grows, descriptors and threads that stay, a file in the folder of temporaries, and a try
that takes five minutes. Ends with 1 where there was a fault, else with 0; prints how often each was tried.
"""

import collections
import ctypes
import faulthandler
import gc as garbage
import os
import pathlib
import platform
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from typing import NamedTuple

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[at]) for at in (2, 1)]
import conftest  # noqa: E402, F401 - where compiled loops are kept, and that all are compiled
from harness import asked  # noqa: E402

import graphclust  # noqa: E402

PATIENCE = 300.0  # seconds of one try, compiling included
SPARE = {"mib": 96.0, "descriptors": 4, "threads": os.cpu_count() or 1}  # begun late, and then kept
WARMING = 0.4  # of the tries are left for what grows once: loops, packages, buffers of the allocator
LOOK = 5  # tries from one look at what the process holds to the next, which takes as long as a try
WARM = 200  # looks, after which memory does not grow any more


class Health(NamedTuple):
    """What a process holds."""

    mib: float
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> "Health":
        """After everything that nobody holds is gone."""
        garbage.collect()
        if platform.libc_ver()[0] == "glibc":
            ctypes.CDLL(None).malloc_trim(0)
        status = pathlib.Path("/proc/self/status").read_text()
        held = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return cls(held / 1024, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))


def growth(seen: list[Health]) -> list[str]:
    """What is more in the last fifth than before: the least of each, as a try may hold something for the next."""
    first = [
        seen[at : at + max(len(seen) // 5, 1)] for at in (int(WARMING * len(seen)), len(seen) - max(len(seen) // 5, 1))
    ]
    faults = []
    for name, spare in SPARE.items():
        if name == "mib" and len(seen) < WARM:
            continue
        before, after = (min(getattr(one, name) for one in part) for part in first)
        if after > before + spare:
            faults.append(f"{name} grew from {before:.0f} to {after:.0f}")
    return faults


def attempt(name: str, seed: str, number: int, base: pathlib.Path) -> tuple[str, str]:
    """What a try did in a few words, and its fault or nothing."""
    from soak_tries import TRIES

    folder = base / f"{name}-{number}"  # which stays, and tells the try, where the process dies
    folder.mkdir()
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in (graphclust.GraphWarning, graphclust.ConvergenceWarning):
                warnings.simplefilter("ignore", category)
            said, fault = TRIES[name](random.Random(f"{seed} {name} {number}"), folder), ""
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt) and not str(problem):
            raise
        said, fault = "a fault", traceback.format_exc()
    faulthandler.cancel_dump_traceback_later()
    shutil.rmtree(folder)
    left = sorted(os.listdir(tempfile.gettempdir()))
    for one in left:
        path = pathlib.Path(tempfile.gettempdir(), one)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return said, fault or (f"temporaries were left: {left}" if left else "")


def main() -> int:
    """Read the arguments, try until the time is up, and say what came of it."""
    arguments = asked(__doc__, minutes=60.0, seed="0", only="", number={"type": int})
    from soak_tries import TRIES

    faulthandler.enable()
    names = [arguments.only] if arguments.only else list(TRIES)
    outcomes: collections.Counter[str] = collections.Counter()
    seen, n_faults, number = [], 0, arguments.number or 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphclust-soak-") as folder:
        (pathlib.Path(folder) / "temporaries").mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = f"{folder}/temporaries"
        while time.monotonic() - start < 60 * arguments.minutes:
            name = names[number % len(names)]
            said, fault = attempt(name, arguments.seed, number, pathlib.Path(folder))
            outcomes[f"{name}: {said}"] += 1
            if fault:
                n_faults += 1
                print(f"FAULT --only {name} --seed {arguments.seed} --number {number}\n{fault}", flush=True)
            if outcomes.total() % LOOK == 0:
                seen.append(Health.now())
            if arguments.number is not None:
                break
            number += len(names) if arguments.only else 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:7d}  {outcome}")
    seen = seen or [Health.now()]
    for fault in growth(seen) if len(seen) > 5 else []:
        n_faults += 1
        print(f"FAULT {fault}")
    first, last = seen[int(WARMING * len(seen))], seen[-1]
    print(
        f"{outcomes.total()} tries in {time.monotonic() - start:.0f} s, seed {arguments.seed}: {n_faults} faults; "
        f"{first.mib:.0f} -> {last.mib:.0f} MiB, {first.descriptors} -> {last.descriptors} descriptors, "
        f"{first.threads} -> {last.threads} threads"
    )
    return int(n_faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
