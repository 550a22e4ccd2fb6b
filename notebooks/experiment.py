"""What every notebook is run with: a size, a record of what was measured, and the claims it was measured for.

The size is `small` (seconds, the default) or `full` (the papers' sizes as far as two cores carry them), taken from
$GRAPHCLUST_NOTEBOOK_SIZE. `run.py` names a file in $GRAPHCLUST_NOTEBOOK_RECORD: then every measurement is written there
as soon as it is made, and a run that was stopped goes on where it ended. Without it nothing is written.
"""

import datetime
import hashlib
import inspect
import json
import os
import pathlib
import platform
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
import scipy
from points import available
from provenance import commit, data_read, loaded_modules, module_hashes, outdated

import graphclust

SIZE = os.environ.get("GRAPHCLUST_NOTEBOOK_SIZE", "small")
if SIZE not in ("small", "full"):
    raise ValueError(f"GRAPHCLUST_NOTEBOOK_SIZE is {SIZE!r}, expected 'small' or 'full'")

Row = dict[str, Any]


def at_size(*, small: Any, full: Any) -> Any:
    """The one of two settings that belongs to this run's size."""
    return small if SIZE == "small" else full


def machine() -> dict[str, str]:
    """Processor, memory and versions."""
    processor = platform.processor() or platform.machine()
    memory = "unknown"
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        memory = f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB"
    except (OSError, StopIteration, ValueError):
        pass
    return {
        "processor": f"{processor}, {os.cpu_count()} cores, {numba.get_num_threads()} threads",
        "memory": memory,
        "system": platform.system(),
        "versions": f"graphclust {graphclust.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, numba {numba.__version__}",
    }


class Record:
    """Measurements of one notebook, by part, its claims, and all that tells which code found them on which data.

    A record of another size, machine or code is replaced by an empty one.
    """

    def __init__(self) -> None:
        path = os.environ.get("GRAPHCLUST_NOTEBOOK_RECORD")
        self._path = pathlib.Path(path) if path else None
        self._now = {"date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "commit": commit()}
        self.contents: dict[str, Any] = {
            "size": SIZE,
            **self._now,
            "seconds": 0,
            "data": available(),
            "read": {},
            "machine": machine(),
            "seeds": {},
            "modules": {},
            "parts": {},
            "claims": [],
        }
        if self._path is not None and self._path.exists():
            kept = json.loads(self._path.read_text())
            if kept["size"] == SIZE and kept["machine"] == self.contents["machine"] and not outdated(kept):
                # Date and commit stay those of the measurements until one is repeated.
                names = ("date", "commit", "parts", "seconds", "read", "modules")
                self.contents |= {name: kept[name] for name in names}
        self._seconds_before, self._start = self.contents["seconds"], time.monotonic()

    def measure(
        self, part: str, settings: Iterable[Row], function: Callable[..., Row | list[Row]], *, needs: Iterable[Any] = ()
    ) -> list[Row]:
        """function(**setting) for every setting that is not in the record yet; all rows, each with its setting.

        What was measured by another text of `function`, or of the functions in `needs` that it calls, or with other
        values of the CONSTANTS that these name, is forgotten.
        """
        text = "".join(inspect.getsource(each) for each in (function, *needs))
        code = hashlib.sha256(text.encode()).hexdigest()[:16]
        constants = constants_of((function, *needs))
        kept = self.contents["parts"].get(part, {})
        same = kept.get("code") == code and kept.get("constants", constants) == constants
        known = kept.get("runs", {}) if same else {}
        runs: dict[str, list[Row]] = {}
        self.contents["parts"][part] = {"code": code, "constants": constants, "runs": runs}
        settings = list(settings)
        for setting in settings:
            key = json.dumps(setting)
            if key in known:
                runs[key] = known[key]
        for setting in settings:
            key = json.dumps(setting)
            if key not in runs:
                found = function(**setting)
                rows = found if isinstance(found, list) else [found]
                runs[key] = [{name: _plain(value) for name, value in row.items()} for row in rows]
                self.contents |= self._now
                self._write()
        return [{**setting, **row} for setting in settings for row in runs[json.dumps(setting)]]

    def uses(self, modules: Iterable[str]) -> None:
        """Count modules of the package that another process, which measured for this one, has loaded."""
        self.contents["modules"] |= module_hashes(modules)

    def claim(self, source: str, claim: str, here: str, holds: bool | None, *, paper: str = "") -> None:
        """Print and keep what a paper says, what was found here, and whether that is what it says.

        here : figures, each with its standard error where it is a mean.
        holds : None where the difference is too small for its standard error to tell.
        paper : the number that the paper prints, if it prints one.
        """
        verdict = "undecided" if holds is None else "reproduced" if holds else "not reproduced"
        print(f"{source}: {claim}" + (f"\n   the paper: {paper}" if paper else ""))
        print(f"   here: {here}\n   {verdict}" + (" (small size)" if SIZE == "small" else ""))
        entry = {"source": source, "claim": claim, "paper": paper, "here": here, "verdict": verdict}
        others = [kept for kept in self.contents["claims"] if (kept["source"], kept["claim"]) != (source, claim)]
        self.contents["claims"] = [*others, entry]
        self._write()

    def _write(self) -> None:
        self.contents["seconds"] = round(self._seconds_before + time.monotonic() - self._start)
        self.contents["read"] |= data_read()
        self.contents["modules"] |= module_hashes(loaded_modules())
        self.contents["seeds"] = {name: seeds_of(part["runs"]) for name, part in self.contents["parts"].items()}
        if self._path is not None:
            unfinished = self._path.with_suffix(".part")
            unfinished.write_text(as_text(self.contents))
            unfinished.replace(self._path)


def constants_of(functions: Iterable[Callable[..., Any]]) -> Row:
    """The values of the constants, names in capitals, that functions take from their notebook, as JSON has them."""
    found: Row = {}
    for function in functions:
        codes = [function.__code__]
        for code in codes:  # grows by the functions inside
            codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
            for name in code.co_names:
                if name.isupper() and name in function.__globals__:
                    found[name] = _as_json(function.__globals__[name])
    return dict(sorted(found.items()))


def seeds_of(runs: Row) -> str:
    """Seeds of the settings that were measured, such as "0-9"."""
    seeds = sorted({json.loads(key).get("seed", -1) for key in runs} - {-1})
    if len(seeds) > 1 and seeds == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(str(seed) for seed in seeds)


def as_text(contents: Row) -> str:
    """JSON with a line for each run, so that a record is short and its changes can be read."""
    heads = {key: value for key, value in contents.items() if key != "parts"}
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in heads.items()]
    parts = []
    for name, part in contents["parts"].items():
        runs = ",\n".join(f"{json.dumps(key)}: {json.dumps(rows)}" for key, rows in part["runs"].items())
        head = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in part.items() if key != "runs")
        parts.append(f'{json.dumps(name)}: {{{head}"runs": {{\n{runs}\n}}}}')
    joined = ",\n".join(parts)
    return "{\n" + ",\n".join([*lines, f'"parts": {{\n{joined}\n}}']) + "\n}\n"


def _as_json(value: Any) -> Any:
    """What JSON makes of a value; what it cannot hold is only said to be there."""
    try:
        return json.loads(json.dumps(value, default=lambda _: "not JSON"))
    except TypeError:  # keys that are no texts
        return "not JSON"


def _plain(value: Any) -> Any:
    """A number or a list as JSON has them, with six digits."""
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value.tolist()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.6g}") if isinstance(value, float) else value
