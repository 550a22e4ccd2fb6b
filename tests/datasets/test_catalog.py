"""The catalog of graphs by name: what is in it, how it is searched, and who is nearest to a name that is not."""

import csv
import gzip
import importlib.resources

import pytest
from cases import for_each, refuses

import graphclust
from graphclust import ParameterError
from graphclust.datasets.catalog import GRAPHS, CatalogEntry, entries, entry_at, entry_named, find
from graphclust.io.edges import bytes_to_load


def names(found: list[CatalogEntry]) -> list[str]:
    return [entry.full_name for entry in found]


def test_all_matrices_are_there_and_the_graphs_with_communities():
    assert len(find()) == 2904 + 8
    assert len({entry.address for entry in find()}) == len(find())
    first = entry_named("HB/1138_bus")
    assert first == CatalogEntry(
        "suitesparse", 1, "HB", "1138_bus", "power network problem", 1138, 1138, 4054, "symmetric", "real", 1, 1985,
        "D. Tylavsky", (),
    )  # fmt: skip
    friends = entry_named("SNAP/com-Friendster")
    assert friends.entries == 3612134270 and "Communities_all" in friends.auxiliary
    assert entry_named("LPnetlib/lp_afiro").year is None


def test_the_catalog_is_small_in_the_package():
    packed = importlib.resources.files("graphclust.datasets").joinpath("suitesparse.csv.gz").read_bytes()
    assert len(packed) < 70_000


def test_the_catalog_is_what_was_published(data_folder):
    packed = importlib.resources.files("graphclust.datasets").joinpath("suitesparse.csv.gz").read_bytes()
    published = (data_folder / "suitesparse_catalogue.csv").read_bytes()
    assert gzip.decompress(packed) == published
    rows = list(csv.DictReader(published.decode().splitlines()))
    for row, entry in zip(rows, entries(), strict=False):
        for name, text in row.items():
            value = getattr(entry, name)
            assert text == (" ".join(value) if name == "auxiliary" else "" if value is None else str(value))


def test_snap_graphs_agree_with_their_twins_in_the_collection():
    for name in GRAPHS:
        snap, twin = entry_named(name, "snap"), entry_named(f"SNAP/{name}")
        assert (snap.rows, snap.entries, snap.structure, snap.kind) == (
            twin.rows, twin.entries, twin.structure, twin.kind
        )  # fmt: skip
        assert snap.address == f"snap:{name}" and snap.memory == twin.memory


def test_search_by_word_kind_size_and_symmetry():
    found = find("road", kind="graph", entries=(1e6, 1e8), symmetric=True)
    assert names(found) == [
        "SNAP/roadNet-CA", "SNAP/roadNet-PA", "SNAP/roadNet-TX", "DIMACS10/road_central", "DIMACS10/road_usa",
        "GAP/GAP-road",
    ]  # fmt: skip
    assert names(find("ROADNET", entries=(3083796, 3083796))) == ["SNAP/roadNet-PA"], "both ends are included"
    larger = find("roadnet", entries=(3083797, float("inf")), order="name")
    assert names(larger) == ["SNAP/roadNet-CA", "SNAP/roadNet-TX"]
    assert "HB/1138_bus" in names(find("tylavsky"))
    assert names(find("com-DBLP")) == ["SNAP/com-DBLP", "com-DBLP"] and find("no such thing") == []
    assert all(entry.structure != "symmetric" for entry in find(symmetric=False))


def test_a_kind_is_words_and_not_letters():
    kinds = {entry.kind for entry in find(kind="graph")}
    assert "directed multigraph" in kinds and "undirected graph" in kinds
    assert not any("graphics" in kind or "tomograph" in kind or "oceanograph" in kind for kind in kinds)
    assert len([entry for entry in find(kind="graph") if entry.source == "suitesparse"]) == 541
    assert {entry.kind for entry in find(kind="bipartite undirected")} == {"undirected bipartite graph"}


def test_largest_need_of_memory_first():
    found = find(kind="graph", order="memory")
    assert [entry.memory for entry in found] == sorted((entry.memory for entry in found), reverse=True)
    assert found[0].full_name == "Sybrandt/MOLIERE_2016"


def test_memory_is_that_of_the_lines_of_the_file():
    """A symmetric matrix has one line for two entries; a general one may become twice its entries."""
    symmetric, general = entry_named("SNAP/com-DBLP"), entry_named("SNAP/wiki-Vote")
    n_edges = symmetric.entries // 2
    assert symmetric.memory == bytes_to_load(symmetric.rows, n_edges, 2 * n_edges, False, n_bytes=1 << 30)
    assert general.memory > bytes_to_load(general.rows, general.entries, general.entries, False)
    assert entry_named("HB/well1033").bipartite and not general.bipartite


@for_each(
    ("options", "error"),
    [
        ({"word": 3}, TypeError),
        ({"order": "size"}, ParameterError),
        ({"symmetric": "yes"}, TypeError),
        ({"entries": 5}, TypeError),
        ({"entries": (5, 4)}, ParameterError),
        ({"entries": (float("nan"), 4)}, ParameterError),
        ({"entries": (1, float("nan"))}, ParameterError),
    ],
)
def test_impossible_searches_are_named(options, error):
    refuses(error, next(iter(options)), find, **options)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SNAP/com-Amazn", "SNAP/com-Amazon"),
        ("snap/com-dblp", "SNAP/com-DBLP"),
        ("1138_bus", "HB/1138_bus"),
        ("Newman/karrate", "Newman/karate"),
    ],
)
def test_the_nearest_of_a_wrong_name_comes_first(wrong, right):
    with pytest.raises(ParameterError) as raised:
        entry_named(wrong)
    nearest = str(raised.value).partition("the nearest are ")[2].split(", ")
    assert nearest[0] == right and len(nearest) == 3 and "2,904" in str(raised.value)


def test_an_address_names_its_catalog_entry_and_other_paths_none():
    assert entry_at("suitesparse:SNAP/com-DBLP") == entry_named("SNAP/com-DBLP")
    assert entry_at("snap:com-DBLP") == entry_named("com-DBLP", "snap")
    for path in ("graph.mtx", "http://x/y", "suitesparse/x", 3, b"snap:com-DBLP", "C:graph.mtx"):
        assert entry_at(path) is None


def test_the_module_is_found_without_an_import_of_its_own():
    import subprocess
    import sys

    code = "import graphclust; print(graphclust.datasets.find('polbooks')[0].address)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "suitesparse:Newman/polbooks\n"
    assert graphclust.datasets.find is find
