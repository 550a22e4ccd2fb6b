"""The catalog of graphs by name: what is in it, how it is searched, who is nearest to one that is not; the cache."""

import csv
import gzip
import importlib.resources
import io
import json
import random
import re
import sys

import http_faults as faults
import pytest
from cases import for_each, refuses
from shell import said

import graphclust as gc
from graphclust import ParameterError
from graphclust.datasets.cache import cached, clear_cache
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
    assert gc.datasets.find is find


SQUARE = "%%MatrixMarket matrix coordinate pattern symmetric\n6 6 5\n2 1\n3 1\n3 2\n5 4\n6 6\n"
NAME, PATH = "Newman/karate", "/MM/Newman/karate.tar.gz"


@pytest.fixture
def server(tmp_path, monkeypatch):
    faults.own_cache(tmp_path, monkeypatch)
    with faults.as_mirror(monkeypatch) as server:
        server.files[PATH] = faults.archive("karate", SQUARE)
        yield server


def test_the_cache_is_listed_and_cleared(server, tmp_path):
    assert cached() == [] and clear_cache() == 0
    gc.fetch_suitesparse(NAME)
    server.files["/data/email-Eu-core.txt.gz"] = gzip.compress(b"0 1\n1 2\n")
    gc.fetch_snap("email-Eu-core")
    assert {dataset.address for dataset in cached()} == {"suitesparse:Newman/karate", "snap:email-Eu-core"}
    for dataset in cached():
        assert dataset.n_bytes == sum(file.stat().st_size for file in dataset.folder.iterdir())
    refuses(gc.ParameterError, "does not hold 'snap:com-DBLP'", clear_cache, "snap:com-DBLP")
    assert clear_cache("snap:email-Eu-core") > 0
    assert [dataset.address for dataset in cached()] == ["suitesparse:Newman/karate"]
    clear_cache()
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file() and file.parent.name != "locks"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_the_command_line_says_how_large_a_graph_is_before_it_comes(server, capsys):
    code, out, err = said(capsys, "info", "suitesparse:" + NAME)
    assert code == 0 and re.search(r"nodes +6\nedges +5", out)
    assert err.startswith("graphclust: suitesparse:Newman/karate: undirected graph, 6 nodes, 10 entries")
    assert re.search(r"about [\d.,]+ MiB of memory to read it, of [\d.,]+ MiB: enough\n$", err)
    assert said(capsys, "info", "suitesparse:" + NAME)[2] == "", "it is here"
    code, out, err = said(capsys, "cluster", "suitesparse:Sybrandt/MOLIERE_2016", "-k", "2", "--memory-limit", "999")
    assert code == 1 and "not enough" in err and "--memory-limit is 999 bytes; nothing was downloaded" in err
    code, _, err = said(capsys, "info", "suitesparse:Newman/karat")
    assert code == 2 and "the nearest are Newman/karate, " in err and len(server.log) == 1


def test_the_command_line_searches_lists_and_clears(server, capsys):
    code, out, _ = said(capsys, "datasets", "roadnet", "--entries", "1e6", "4e6", "--order", "memory")
    assert code == 0 and [line.split()[0] for line in out.splitlines()[1:-1]] == [
        "suitesparse:SNAP/roadNet-TX", "suitesparse:SNAP/roadNet-PA"
    ]  # fmt: skip
    found = json.loads(said(capsys, "datasets", "com-DBLP", "--symmetric", "--report", "json")[1])
    assert [entry["address"] for entry in found] == ["suitesparse:SNAP/com-DBLP", "snap:com-DBLP"]
    assert said(capsys, "datasets", "nowhere")[1] == "0 data sets found\n"
    gc.fetch_suitesparse(NAME)
    listed = said(capsys, "cache", "list")[1]
    assert re.search(r"MiB  suitesparse:Newman/karate\n.*1 data set in /.*/cache", listed)
    code, _, err = said(capsys, "cache", "clear", "snap:com-DBLP")
    assert code == 2 and "but suitesparse:Newman/karate" in err
    assert "MiB freed" in said(capsys, "cache", "clear")[1] and cached() == []


@pytest.mark.slow
def test_a_bar_is_shown_where_people_look_on(server, monkeypatch):
    server.files[PATH] = faults.archive("karate", SQUARE, b=random.Random(1).randbytes(300_000).hex())
    server.block, server.pause = 40_000, 0.2
    monkeypatch.setattr(sys, "stderr", Terminal())
    gc.fetch_suitesparse(NAME)
    assert "karate.tar.gz: " in sys.stderr.getvalue() and "%|" in sys.stderr.getvalue()
