"""Fill the measured tables of README and of docs/benchmarks.md from those under results/: no figure is copied by hand.

    python readme_tables.py [NAME ...]

On a page stands `<!-- measured: NAME -->`, then what is written here, then `<!-- end -->`. Without a name all are
filled; a table that has not been measured is an error, and the pages stay as they were.
"""

import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from harness import RESULTS, aligned

ROOT = pathlib.Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")
OURS, CUT = "graphclust", "graphclust, normalized_cut"
Row = dict[str, str]


def read_rows(name: str) -> list[Row]:
    """The rows of the first table of results/<name>.md, by the names of the columns."""
    table = (RESULTS / f"{name}.md").read_text().split("\n| ", 1)[1].split("\n\n")[0]
    lines = f"| {table}".splitlines()
    header, _, *rows = [
        [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
    ]
    return [dict(zip(header, row, strict=True)) for row in rows]


def by_graph(name: str) -> dict[tuple[str, str], dict[str, Row]]:
    """(graph, k) -> tool -> row; what a tool's name has in brackets is left out."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in read_rows(name):
        found.setdefault((row["graph"], row["k"]), {})[row["tool"].split(" (")[0]] = row
    return found


def side_by_side(pairs: dict[tuple[str, str], dict[str, Row]], columns: Sequence[tuple[str, str, str]]) -> str:
    """One line for each graph and k; columns are (heading, tool, column of that tool's row), blank where it is none."""
    header = ["graph", "k", *(heading for heading, _, _ in columns)]
    lines = [
        [*pair, *(tools.get(tool, {}).get(column, "") for _, tool, column in columns)] for pair, tools in pairs.items()
    ]
    return aligned(header, lines)


def recognition() -> str:
    tools = (("graphclust", OURS), ("normalized_cut", CUT), ("METIS", "METIS"), ("Leiden at k", "Leiden at k"))
    columns = [(f"ARI: {tools[0][0]}", tools[0][1], "ARI"), *((name, tool, "ARI") for name, tool in tools[1:])]
    pairs = by_graph("recognition")
    (mean,) = (pair for pair in pairs if pair[0].startswith("mean"))
    means = pairs.pop(mean)
    table = side_by_side(
        pairs, [*columns, ("seconds: graphclust", OURS, "seconds"), ("Leiden at k", "Leiden at k", "seconds")]
    )
    summary = aligned(
        [mean[0], "ARI", "NMI", "seconds in all"],
        [[name, *(means[tool][column] for column in ("ARI", "NMI", "seconds"))] for name, tool in tools],
    )
    return f"{summary}\n\n{table}"


def communities() -> str:
    *graphs, means = read_rows("communities_modularity_1")
    tools = ("graphclust", "Leiden, 2 iterations", "Leiden, converged", "NetworKit")
    rows = []
    for place, tool in enumerate(tools):
        split = sum(int(row["not connected"].split("/")[place]) for row in graphs)
        rows.append([tool, means[f"value: {tool}"], means[f"s: {tool}"], str(split)])
    return aligned(["tool", f"mean of {len(graphs)}, below the best", "seconds in all", "clusters not connected"], rows)


def effort() -> str:
    """Shortfalls from the best known, by effort and by time."""
    *graphs, means = read_rows("communities_effort")
    tools = [column.removeprefix("% below: ") for column in means if column.startswith("% below: ")]
    rows = [[tool, *means[f"% below: {tool}"].split(", worst "), means[f"s: {tool}"]] for tool in tools]
    table = aligned(["tool", f"mean of {len(graphs)}, % below the best known", "worst", "mean seconds"], rows)
    return f"{table}\n\nAbove the best known on {means['new best']} graphs."


def best_cuts() -> str:
    names = ("normal effort", "high effort", "METIS")
    rows = [row for row in read_rows("best_cuts") if not row["k"]]
    figures = [[row["graph"], *(row[f"{name} / smallest"] for name in names)] for row in rows]
    return aligned(["cut / smallest known", *names], figures)


def planted() -> str:
    rivals = ("Leiden", "METIS", "Louvain")
    return side_by_side(
        by_graph("normalized_cut_planted"),
        [
            ("seconds: graphclust", OURS, "seconds"), ("normalized_cut", CUT, "seconds"),
            *((f"{rival}, times ours", rival, "times ours") for rival in rivals),
            ("ARI: graphclust", OURS, "ARI"), ("normalized_cut", CUT, "ARI"),
            *((rival, rival, "ARI") for rival in rivals),
        ],
    )  # fmt: skip


SHOWN = (
    ("planetoid_pubmed", "3"), ("planetoid_pubmed", "20"), ("graphdata_coauthor_cs", "15"),
    ("graphdata_amazon_photo", "8"), ("karateclub_facebook", "100"), ("fb100_MIT8_dorm", "63"), ("email-Eu-core", "42"),
    ("snap_email-enron", "20"), ("metis_delaunay_n15", "2"), ("metis_delaunay_n15", "20"),
)  # fmt: skip


def real() -> str:
    pairs = by_graph("normalized_cut_real")
    compared = [tools for tools in pairs.values() if "METIS" in tools]
    cuts = [(float(tools[CUT]["NCut/k"]), float(tools["METIS"]["NCut/k"])) for tools in compared]
    agreements = [(float(tools[OURS]["ARI"]), float(tools["METIS"]["ARI"])) for tools in compared if tools[OURS]["ARI"]]
    times = [(float(tools[OURS]["seconds"]), float(tools["METIS"]["seconds"])) for tools in compared]
    table = side_by_side({pair: pairs[pair] for pair in SHOWN if pair in pairs}, [
        ("NCut/k: normalized_cut", CUT, "NCut/k"), ("graphclust", OURS, "NCut/k"), ("METIS", "METIS", "NCut/k"),
        ("ARI: graphclust", OURS, "ARI"), ("normalized_cut", CUT, "ARI"), ("METIS", "METIS", "ARI"),
        ("seconds: graphclust", OURS, "seconds"), ("normalized_cut", CUT, "seconds"), ("METIS", "METIS", "seconds"),
    ])  # fmt: skip
    n_lower = sum(ours <= metis for ours, metis in cuts)
    n_agree = sum(ours >= metis for ours, metis in agreements)
    n_slower = sum(ours > metis for ours, metis in times)
    sentences = (
        f"Of {len(compared)} such pairs of graph and k in the full table our smallest normalized cut is METIS's or",
        f"lower on {n_lower}; of the {len(agreements)} that have annotated classes the default agrees with these as",
        f"well as METIS or better on {n_agree}. METIS is faster than the default on {n_slower}.",
    )
    return "\n".join([table, "", *sentences])


def meshes() -> str:
    """How METIS does on meshes, in a sentence."""
    pairs = [(tools[CUT], tools["METIS"]) for tools in by_graph("normalized_cut_meshes").values()]

    def mean_ratio(column: str) -> float:
        return float(np.exp(np.mean([np.log(float(metis[column]) / float(ours[column])) for ours, metis in pairs])))

    lower = sum(float(metis["NCut/k"]) < float(ours["NCut/k"]) for ours, metis in pairs)
    cut, seconds = mean_ratio("NCut/k"), mean_ratio("seconds")
    return (
        f"METIS for equal parts and meshes in a hurry: over {len(pairs)} pairs of mesh and k its normalized\n"
        f"cuts are {cut:.2f} times ours, lower on {lower}, in {seconds:.2f} of the time\n"
        "([table](results/normalized_cut_meshes.md))."
    )


def knn() -> str:
    pairs = by_graph("normalized_cut_knn")
    for pair, tools in by_graph("normalized_cut_mnist_sklearn").items():
        lobpcg = tools["scikit-learn, lobpcg"]
        pairs[pair]["scikit-learn"] = {name: f"{value} *" for name, value in lobpcg.items()}
    tools = [("normalized_cut", CUT), ("scikit-learn", "scikit-learn"), ("METIS", "METIS")]
    columns = []
    for column in ("ARI", "NCut/k", "seconds"):
        columns += [(f"{column}: graphclust", OURS, column), *((name, tool, column) for name, tool in tools)]
    return side_by_side(pairs, columns)


def lfr_and_weighted() -> str:
    pairs = by_graph("normalized_cut_lfr") | by_graph("normalized_cut_weighted")
    rivals = ("Leiden at k", "METIS")
    return side_by_side(pairs, [
        ("ARI: graphclust", OURS, "ARI"), ("normalized_cut", CUT, "ARI"), *((rival, rival, "ARI") for rival in rivals),
        ("seconds: graphclust", OURS, "seconds"), *((f"{rival}, times ours", rival, "times ours") for rival in rivals),
    ])  # fmt: skip


def small_graphs() -> str:
    """Milliseconds on graphs of fewer than 1,000 nodes, in a sentence."""
    rows = read_rows("small_graphs")
    ours, cut, leiden = ([float(row[f"ms: {tool}"]) for row in rows] for tool in (OURS, CUT, "Leiden at k"))
    return (
        f"On {len(rows)} graphs of fewer than 1,000 nodes a call after the first takes {min(ours)} to {max(ours)} ms\n"
        f"by default, {min(cut)} to {max(cut)} for the smallest cuts; Leiden at k takes {min(leiden)} to\n"
        f"{max(leiden)} ([table](results/small_graphs.md))."
    )


def levels() -> str:
    """Seconds and faults of nested levels, beside graspologic's."""
    tools, lines = ("graphclust", "graspologic"), []
    pairs: dict[tuple[str, str], dict[str, Row]] = {}
    for row in read_rows("levels"):
        pairs.setdefault((row["graph"], row["most nodes"]), {})[row["tool"]] = row
    for (graph, most), of in pairs.items():
        columns = ("seconds", "modularity of the coarsest", "too large", "not connected")
        lines.append([graph, most, *(of[tool][column] for column in columns for tool in tools)])
    header = ["graph", "most nodes"]
    for figure in ("seconds", "modularity of the coarsest", "too large", "not connected"):
        header += [f"{figure}: graphclust", "graspologic"]
    return aligned(header, lines)


def columns_of(*names: str, columns: str = "") -> str:
    """Some columns of tables, by their names with bars between; all where none are named."""
    rows = [row for name in names for row in read_rows(name)]
    wanted = columns.split(" | ") if columns else [*rows[0]]
    return aligned(wanted, [[row[column] for column in wanted] for row in rows])


def d2_sampling() -> str:
    large = {row["seeds"]: row for row in read_rows("d2_sampling_store")}
    columns = ["naive s", "tree s", "times faster"]
    sizes = ("3 million nodes", "65 million")
    header = ["seeds", *(f"{size}: {column}" for size in sizes for column in columns)]
    return aligned(header, [
        [row["seeds"], *(of[column] for of in (row, large[row["seeds"]]) for column in columns)]
        for row in read_rows("d2_sampling")
    ])  # fmt: skip


def headlines() -> str:
    """For README: one line a question, with the best rival of its table and what it does not share with ours."""
    *graphs, means = read_rows("communities_modularity_1")
    pairs = by_graph("recognition")
    classes = next(tools for pair, tools in pairs.items() if pair[0].startswith("mean"))
    halves = {(row["half: graphs"], row["tool"]): row for row in read_rows("held_out")}
    (half,) = {half for half, _ in halves if half.startswith("evaluation")}
    held_out, held_out_leiden = halves[half, OURS], halves[half, "Leiden at k"]
    cuts = read_rows("best_cuts")
    cut = next(row for row in cuts if row["graph"] == "geometric mean")
    free = {row["tool"]: row for row in read_rows("communities_planted")}
    given = by_graph("normalized_cut_planted")[("200x5000:16:4", "200")]
    knn_graph = by_graph("normalized_cut_knn")[("pendigits 50-NN", "10")]
    rival = max((tool for tool in knn_graph if tool not in (OURS, CUT)), key=lambda tool: float(knn_graph[tool]["ARI"]))
    store = next(row for row in read_rows("scale_65_million") if row["k"] == "1000")

    def agreement(row: Row) -> str:
        return f"{row['ARI']} in {row['seconds']} s"

    lines = [
        [f"modularity at resolution 1, {len(graphs)} graphs: mean below the best found",
         f"{means[f'value: {OURS}']} in {means[f's: {OURS}']} s",
         f"Leiden, converged: {means['value: Leiden, converged']} in {means['s: Leiden, converged']} s"],
        [f"ARI with annotated classes, {len(pairs) - 1} graphs", agreement(classes[OURS]),
         f"Leiden bisected to k: {agreement(classes['Leiden at k'])}"],
        [f"the same, the {half.split(': ')[1]} graphs of the evaluation half", held_out["mean ARI"],
         f"Leiden bisected to k: {held_out_leiden['mean ARI']}; ours less it {held_out_leiden['ours less it']}"],
        [f"normalized cut over the smallest known, {sum(bool(row['k']) for row in cuts)} pairs: geometric mean",
         cut["normal effort / smallest"], f"METIS, for equal parts: {cut['METIS / smallest']}"],
        ["a million nodes, 20 million entries, 200 planted clusters: ARI, k free", agreement(free[OURS]),
         f"NetworKit: {agreement(free['NetworKit'])}"],
        ["the same, k given", agreement(given[OURS]),
         f"METIS: {given['METIS']['ARI']} in {given['METIS']['times ours']} times that"],
        ["50-nearest-neighbor graph of 10,992 points, k = 10: ARI", agreement(knn_graph[OURS]),
         f"{rival}: {agreement(knn_graph[rival])}"],
        [f"{store['nodes']} nodes, {store['entries']} entries, from a store, k = {store['k']}: ARI",
         f"{store['ARI']} in {store['s to cluster']} s, {store['GB resident']} GB", "none measured"],
    ]  # fmt: skip
    return aligned(["question", "graphclust", "the best other tool measured"], lines)


EXAMPLES = "example | score, higher is better | scikit-learn | graphclust"
IN_STORES = "nodes | entries | k | objective | s to cluster | passes | ARI | GB resident"
MEASURED: dict[str, Callable[[], str]] = {
    "headlines": headlines, "communities": communities, "resolutions": partial(columns_of, "communities"),
    "effort": effort, "recognition": recognition, "held_out": partial(columns_of, "held_out"), "best_cuts": best_cuts,
    "planted": planted, "paper": partial(columns_of, "normalized_cut_paper", columns="tool | seconds | ARI | NCut/k"),
    "real": real, "knn": knn, "lfr_and_weighted": lfr_and_weighted, "small_graphs": small_graphs, "meshes": meshes,
    "scale": partial(columns_of, "scale_10_million", "scale_65_million", columns=IN_STORES),
    "levels": levels, "update_costs": partial(columns_of, "update_costs"), "kinds": partial(columns_of, "kinds"),
    "distributed": partial(columns_of, "distributed"), "d2_sampling": d2_sampling,
    "sklearn_examples": partial(columns_of, "sklearn_examples", columns=EXAMPLES),
}  # fmt: skip


def filled(text: str, name: str, content: str) -> str:
    """The text with what stands between the two marks of that name replaced, where they are there."""
    block = re.compile(rf"(<!-- measured: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    return block.sub(lambda found: f"{found[1]}\n{content}\n\n{found[2]}", text, count=1)


def pages(names: Sequence[str] = ()) -> dict[pathlib.Path, str]:
    """What each page should hold; KeyError for a name that is no table's, or that stands on none of them."""
    texts = {page: page.read_text() for page in PAGES}
    for name in names or MEASURED:
        content = MEASURED[name]()
        if not any(f"<!-- measured: {name} -->" in text for text in texts.values()):
            raise KeyError(f"no page has a block '<!-- measured: {name} -->' ... '<!-- end -->'")
        texts = {page: filled(text, name, content) for page, text in texts.items()}
    return texts


def main() -> None:
    for page, text in pages(sys.argv[1:]).items():
        page.write_text(text)


if __name__ == "__main__":
    main()
