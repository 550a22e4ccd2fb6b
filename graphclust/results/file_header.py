"""The header of files of labels, models and hierarchies: what a file is, and how what it holds came about.

It is an object of JSON: `format` is "graphclust labels", "graphclust model" or "graphclust hierarchy"; `format_version`
is that of the form of the file; `version` (of graphclust), `file`, `k`, `seed` and `options` are as in
`Clustering.origin`. In files of labels the header is called "origin", or is the description of the graph; in those of
models it is the array "header", and in those of hierarchies the file itself, both with more keys. In version 1 labels
had neither format nor version, and models the version of the form as "version" and the rest in "origin".
"""

from typing import Any

from graphclust.io.formats.array_files import check_version

VERSION = 2
ORIGIN = ("version", "file", "k", "seed", "options")
MISFIT = "its parts do not fit together"


def header_of(kind: str, origin: dict[str, Any]) -> dict[str, Any]:
    """The header of a file that is written now; kind : "labels", "model" or "hierarchy"."""
    return {"format": f"graphclust {kind}", "format_version": VERSION, **origin}


def read_header(held: dict[str, Any], kind: str) -> dict[str, Any]:
    """How what the file holds came about. ValueError for another kind or version, and for what is none."""
    is_old_model = "format_version" not in held
    version, known = (held["version"], (1,)) if is_old_model else (held["format_version"], (1, VERSION))
    check_version(held["format"], f"graphclust {kind}", version, *known)
    told = held.get("origin") or {} if is_old_model else held
    origin = {name: told[name] for name in ORIGIN if name in told}
    if not isinstance(origin.get("options", {}), dict) or type(origin.get("k")) not in (int, type(None)):
        raise ValueError(MISFIT)
    return origin
