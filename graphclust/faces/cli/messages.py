"""Messages of the library with arguments in the form of the shell: `--weights abs` for `weights="abs"`."""

import re

# How the library speaks, and how a shell does: `weights="abs"` is `--weights abs`, `bipartite=True` is `--bipartite`.
KEYWORD = re.compile(
    r"\b(weights|format|symmetrize|bipartite|kind|layer_weights|normalize|method|objective|resolution|effort|components|memory_limit|time_budget"
    r"|max_bytes|min_size|max_size|small|node_weight|n_probes|metric|to|levels|rng|source|target|weight|header|drop_loops|round_weights|missing|duplicates|encoding)=(True\b|False\b|'[^']*'|\"[^\"]*\"|)|\b(memory_limit|max_bytes|min_size|max_size)\b"
)
CORESET = re.compile(r"coreset=Coreset\(size=(\d+)\)")
IN_THE_SHELL = {
    "pass overwrite=True": "overwrite it with --force", "overwrite=True": "--force", "path=": "-o ",
    "a larger --memory-limit, a smaller Coreset(size=...) or": "a smaller --coreset-size or",  # the file's limit
    "expected Coreset(size=...)": "expected --coreset-size",
    "or another method": "or another --method",
    "constraint=": "--constraint ",
    "ks holds": "--from and --to ask for k =",
    "n_neighbors=": "-k ", "name=": "", "max_imbalance=": "--imbalance ", "max_imbalance": "--imbalance",
    "min_imbalance=": "--min-imbalance ", "min_imbalance": "--min-imbalance",
}  # fmt: skip


def in_the_shell(text: str) -> str:
    """The text with the names of Python's arguments replaced by the names of the options."""
    text = KEYWORD.sub(_as_option, CORESET.sub(r"--coreset-size \1", text))
    for python, shell in IN_THE_SHELL.items():
        text = text.replace(python, shell)
    return text


def _as_option(keyword: re.Match[str]) -> str:
    name, value = keyword[1] or keyword[3], keyword[2]
    option = "--seed" if name == "rng" else "--" + name.replace("_", "-")
    if value == "False":
        return option.replace("--", "--no-")
    if value == "" and keyword.string[keyword.end() : keyword.end() + 1] in (*" ,;)", ""):
        return option
    return option if value in (None, "True") else f"{option} {value[1:-1]}"
