"""Run the notebooks and keep what they found.

    python notebooks/run.py [NAME ...] [--size full] [--again]
    python notebooks/run.py --pages

NAME is the beginning of a notebook's name, such as 05; all are run without one. Each is run from top to bottom, stored
with its outputs, its measurements in results/NAME.json (written as they are made: a run that is stopped goes on where
it ended), its first picture in pictures/NAME.png; README.md and HEADLINES.md are then made from these. One that has
been run as it stands, at that size, with the data sets that are there and by the package's present code, is left
alone; --again runs it from the start and measures everything again. Where the full size is stored, a run at the small
size prints its verdicts and stores nothing. A record is stale where a module of the package that the measurement loaded
has other code now (comments and docstrings aside), or a table that it read has changed.
"""

import argparse
import base64
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import sys
from typing import Any

import nbformat
from experiment import as_text
from points import available
from provenance import outdated
from reasons import reviewed

HERE = pathlib.Path(__file__).parent
RESULTS, PICTURES = HERE / "results", HERE / "pictures"
LARGEST_PICTURE = 60_000  # bytes: pictures are kept in the repository
SIZES = ("small", "full")
# What no stored output may hold: where this machine keeps its files.
OF_THE_MACHINE = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt|Users|var|private)/|\bC:\\\\")

README = """# Notebooks

One question each. Opened in Jupyter they run in seconds, at a small size; what is stored here was run at the size named
under each picture. `HEADLINES.md` says for each headline of the papers whether it was reproduced.

```
pip install ".[notebooks,neighbors]"
python notebooks/run.py            # all at full size, resumable; how long each takes stands in the table
python notebooks/run.py 05 --again # one of them, measured again
python notebooks/run.py 05 --size small # in seconds: prints its verdicts, and stores nothing over the full size
python notebooks/run.py --pages    # this page and HEADLINES.md from results/ alone
```

$GRAPHCLUST_DATA names a folder with the papers' data sets; without it scikit-learn's digits stand in for them, and
`points.fetch_points("mnist_784")` asks the network. `results/` keeps what was measured, with the commit, the seeds,
hashes of the data and of the package's modules that were loaded, machine and versions. A record that is older than the
code of these modules is *stale*: `run.py` measures it again, and a slow test in `tests/test_notebooks.py` fails.
`experiment.py`, `provenance.py`, `curves.py` and `points.py` are what the notebooks share: the record, where it comes
from, the drawing of means with their spread, the reading of points. `recipes/` has short pages for users of
another library."""
HEADLINES = """# The papers' headlines: reproduced or not, and by how much

Made by `run.py` from `results/`: every verdict is a comparison of measured numbers, written down in the notebook named.
`±` is the standard error of a mean over runs; "undecided" means that a difference lies within two standard errors, or
that there are too few runs to tell (`reasons.py`, which holds the reasons beside the verdicts too). Two standard errors
leave one difference of twenty to chance, and there are 177 verdicts: no correction is made for their number.
"Truncated loses nothing" is tested on centers that are renormalized, this package's default. As printed, with `tau=200`
and the rate of Schwartzman 2023, truncated has the higher ARI of the two forms on digits (0.643 against 0.582,
p = 0.048) and letter (0.140 against 0.130, p = 0.006); on pendigits and satellite it is undecided.
"stale" means that the package's code has changed since the measurement. Times are of one machine; the papers' are of
theirs. What has been run at the small size only is open: there the verdict is about the small experiment.

Not measured: the real graphs of Figure 2 of coreset spectral clustering (graphs that are generated with their sizes and
degrees stand in, named "-like"; Friendster's size is beyond the notebook, and is in the package's benchmarks), HAR,
INFMNIST, STL10P, KDDC98 and RCV1, which are not among the data (MNIST and made-up documents stand in), and Table 1 of
nested mini-batch k-means, which times other implementations."""


COMPILING = "graphclust: compiling its loops"  # said once, where loops are not at hand yet


def notebooks() -> list[pathlib.Path]:
    return sorted(HERE.glob("[0-9][0-9]_*.ipynb"))


def read(path: pathlib.Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_of(notebook: Any) -> str:
    """A hash of the code cells: what was measured by other code is not what this notebook finds."""
    text = "\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def record_of(path: pathlib.Path) -> dict[str, Any]:
    """What results/ has of a notebook, or nothing."""
    file = RESULTS / f"{path.stem}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def is_done(path: pathlib.Path, size: str) -> bool:
    record = record_of(path)
    if record.get("code") != code_of(read(path)) or not set(available()) <= set(record["data"]) or outdated(record):
        return False
    return record["size"] == size


def execute(notebook: Any, size: str, record: pathlib.Path | None = None) -> None:
    """Run all cells in this folder, in place; what a cell raises is raised."""
    from nbclient import NotebookClient

    setting = {
        "GRAPHCLUST_NOTEBOOK_SIZE": size,
        "GRAPHCLUST_NOTEBOOK_RECORD": str(record) if record else "",
        # The package beside the notebooks, whatever else is installed.
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    before = {name: os.environ.get(name) for name in setting}
    os.environ.update(setting)
    try:
        resources = {"metadata": {"path": str(HERE)}}
        NotebookClient(notebook, timeout=None, resources=resources, record_timing=False).execute()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def clean(notebook: Any) -> None:
    """Leave of the outputs what every run of the same results has: no counts, no times of execution, no metadata."""
    notebook.metadata = nbformat.from_dict({
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    })  # fmt: skip
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        cell.outputs = join_streams([output for output in cell.outputs if COMPILING not in str(output.get("text", ""))])
        for output in cell.outputs:
            output.pop("execution_count", None)
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})
            if "image/png" in output.get("data", {}):
                output.data = nbformat.from_dict({"image/png": compact(output.data["image/png"])})
            if output.output_type == "execute_result":  # one that has no count is no valid result of one
                output.output_type = "display_data"


def join_streams(outputs: list[Any]) -> list[Any]:
    """The outputs with what was printed in a row as one: where it is cut depends on the moment it was sent."""
    kept: list[Any] = []
    for output in outputs:
        if kept and output.get("name", "") and output.get("name") == kept[-1].get("name"):
            kept[-1].text += output.text
        else:
            kept.append(output)
    return kept


def compact(picture: str) -> str:
    """The same PNG in base64, in 256 colors and without what a program wrote about itself."""
    from PIL import Image  # matplotlib needs it too

    stored = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        image.convert("RGB").quantize(256).save(stored, "png", optimize=True)
    return base64.b64encode(stored.getvalue()).decode()


def pictures(notebook: Any) -> list[bytes]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    found = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(picture) for picture in found]


def unclean(notebook: Any) -> list[str]:
    """What is wrong with stored outputs, one sentence each."""
    wrong = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if cell.execution_count is not None:
            wrong.append(f"cell {cell.id} has an execution count")
        if cell.metadata:
            wrong.append(f"cell {cell.id} has metadata {dict(cell.metadata)}")
        for output in cell.outputs:
            data = {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}
            text = json.dumps([output.get("text", ""), data, output.get("traceback", "")])
            if output.output_type == "error" or output.get("name") == "stderr":
                wrong.append(f"cell {cell.id} complains: {text[:300]}")
            if OF_THE_MACHINE.search(text):
                wrong.append(f"cell {cell.id} names a folder of the machine: {text[:300]}")
    wrong += [f"a picture has {len(picture)} bytes" for picture in pictures(notebook) if len(picture) > LARGEST_PICTURE]
    return wrong


def run(path: pathlib.Path, size: str, again: bool) -> None:
    """Execute a notebook; store it clean, with record and picture. If a larger size is stored, print verdicts."""
    RESULTS.mkdir(exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    kept, working = RESULTS / f"{path.stem}.json", RESULTS / f".{path.stem}.{size}.json"
    if again:
        working.unlink(missing_ok=True)
    elif not working.exists() and kept.exists():
        working.write_text(kept.read_text())
    notebook = read(path)
    execute(notebook, size, working)
    record = json.loads(working.read_text())
    stored = record_of(path).get("size", size)
    if SIZES.index(stored) > SIZES.index(size):
        for claim in record["claims"]:
            print(f"{claim['claim']}\n   here: {claim['here']}\n   {claim['verdict']} ({size} size)")
        print(f"not stored: what is kept of {path.stem} is of {stored} size")
        working.unlink()
        return
    clean(notebook)
    wrong = unclean(notebook)
    if wrong:
        sys.exit(f"{path.name} is not stored: " + "; ".join(wrong))
    kept.write_text(as_text({"code": code_of(notebook), **record}))
    working.unlink()
    nbformat.write(notebook, path)
    (PICTURES / f"{path.stem}.png").write_bytes(pictures(notebook)[0])
    write_pages()


def question_of(notebook: Any) -> str:
    """The heading of the first cell."""
    return notebook.cells[0].source.splitlines()[0].lstrip("# ")


def how_measured(record: dict[str, Any]) -> str:
    """One line: size, date, machine, versions, commit, seeds."""
    if not record:
        return "not run yet"
    machine = record["machine"]
    parts = [f"{record['size']} size", record.get("date", ""), f"{machine['processor']}, {machine['memory']}"]
    parts += [machine["versions"], f"commit {record.get('commit', 'unknown')}"]
    seeds = dict.fromkeys(seeds for seeds in record.get("seeds", {}).values() if seeds)
    return "; ".join(filter(None, [*parts, f"seeds {', '.join(seeds)}" if seeds else ""]))


def durations() -> str:
    """A table of how long each notebook took, and all of them."""
    lines, total = ["| notebook | size | minutes |", "| --- | --- | --- |"], 0
    for path in notebooks():
        record = record_of(path)
        seconds = record.get("seconds", 0)
        total += seconds
        lines.append(f"| {path.stem} | {record.get('size', 'not run')} | {seconds / 60:.1f} |")
    return "\n".join([*lines, f"| all | | {total / 60:.0f} |"])


def readme() -> str:
    """The list of the notebooks, with a picture each."""
    parts = [README, durations()]
    for path in notebooks():
        parts.append(f"## [{path.stem}]({path.name}): {question_of(read(path))}")
        if (PICTURES / f"{path.stem}.png").exists():
            parts.append(f"![{question_of(read(path))}](pictures/{path.stem}.png)")
        parts.append(f"{how_measured(record_of(path))}")
    return "\n\n".join(parts) + "\n"


STALE = "stale; "


def verdict_of(claim: dict[str, Any], record: dict[str, Any]) -> str:
    """The verdict, marked as open where it is of the small size and as stale where the code is another now."""
    full = record["size"] == "full"
    verdict = (
        reviewed(f"{claim['source']}: {claim['claim']}", claim["verdict"])
        if full
        else f"open; at small size {claim['verdict']}"
    )
    return STALE + verdict if outdated(record) else verdict


def headlines() -> str:
    """What the papers claim and print, what was found, and the verdict that the notebook computed from it."""
    parts = [HEADLINES]
    records = [(path, record_of(path)) for path in notebooks()]
    claims = [(path, record, claim) for path, record in records for claim in record.get("claims", [])]
    sources = dict.fromkeys(claim["source"].split(",")[0] for _, _, claim in claims)
    for source in sorted(sources, key=lambda source: source == "This package"):  # the papers first
        parts.append(f"## {source}")
        lines = ["| claim | the paper's number | here | verdict | notebook, size |", "| --- | --- | --- | --- | --- |"]
        for path, record, claim in claims:
            if claim["source"].split(",")[0] == source:
                place = claim["source"].removeprefix(source).lstrip(", ")
                sentence = f"{place}: {claim['claim']}" if place else claim["claim"]
                cells = (sentence, claim.get("paper") or "-", claim["here"], verdict_of(claim, record))
                escaped = " | ".join(cell.replace("|", r"\|") for cell in cells)
                lines.append(f"| {escaped} | [{path.stem[:2]}]({path.name}), {record['size']} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def write_pages() -> None:
    (HERE / "README.md").write_text(readme())
    (HERE / "HEADLINES.md").write_text(headlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--again", action="store_true", help="measure everything again")
    parser.add_argument("--pages", action="store_true", help="only write README.md and HEADLINES.md")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; what was measured is kept, the same command goes on"))
    unknown = [name for name in options.names if not any(path.stem.startswith(name) for path in notebooks())]
    if unknown:
        parser.error(
            f"no notebook begins with {', '.join(unknown)}; there are {', '.join(p.stem for p in notebooks())}"
        )
    for path in [] if options.pages else notebooks():
        if options.names and not any(path.stem.startswith(name) for name in options.names):
            continue
        if not options.again and is_done(path, options.size):
            print(f"{path.stem}: done before", flush=True)
            continue
        print(f"{path.stem} ...", flush=True)
        run(path, options.size, options.again)
    if options.pages:
        write_pages()


if __name__ == "__main__":
    main()
