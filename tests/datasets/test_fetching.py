"""Graphs by name: from a server, from the cache, damaged, offline; what is converted, and what is known beside."""

import gzip
import json
import os
import pathlib
import zipfile
from dataclasses import replace

import http_faults as faults
import numpy as np
import pytest
from cases import refuses

import graphclust as gc
from graphclust.datasets import download as downloads
from graphclust.datasets.cache import clear_cache, keep_graph, read_kept_graph
from graphclust.datasets.catalog import entry_named
from graphclust.datasets.download import Patience

GENERAL = "%%MatrixMarket matrix coordinate real general\n"
SYMMETRIC = "%%MatrixMarket matrix coordinate pattern symmetric\n"
SQUARE = SYMMETRIC + "6 6 5\n2 1\n3 1\n3 2\n5 4\n6 6\n"  # a triangle, an edge, and a loop
NAME, PATH = "Newman/karate", "/MM/Newman/karate.tar.gz"
EDGES = "# c\n1 2\n2 5\n5 1\n5 9\n12 30\n"
SNAP = "/data/bigdata/communities/com-amazon"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return faults.own_cache(tmp_path, monkeypatch)


@pytest.fixture
def server(folder, monkeypatch):
    with faults.as_mirror(monkeypatch) as server:
        server.files[PATH] = faults.archive("karate", SQUARE)
        yield server


def files_of(folder: pathlib.Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_a_graph_by_its_name_and_again_without_a_request(server):
    first, info = gc.fetch_suitesparse(NAME, return_info=True)
    assert (first.n_nodes, first.n_edges) == (6, 5) and first.loops.tolist() == [0, 0, 0, 0, 0, 1]
    assert len(server.log) == 1
    again, again_info = gc.fetch_suitesparse(NAME, return_info=True)
    assert again == first and again.remarks == first.remarks and again_info.load == info.load
    assert gc.load_graph("suitesparse:" + NAME) == first == gc.as_graph("suitesparse:" + NAME)
    assert gc.load_graph("suitesparse:" + NAME, return_info=True)[1] == info.load
    assert len(server.log) == 1 and info.entry.citation.startswith("T. Davis and Y. Hu")


@pytest.mark.slow
def test_the_same_as_from_the_file(server, tmp_path):
    text = GENERAL + "4 4 6\n1 2 1.5\n2 1 2.5\n3 4 0\n1 3 2\n1 3 1\n2 2 7\n"
    server.files[PATH] = faults.archive("karate", text)
    (tmp_path / "a.tar.gz").write_bytes(server.files[PATH])
    for options in ({}, {"weights": "ignore"}, {"symmetrize": "sum"}, {"weights": "abs"}, {"bipartite": True}):
        expected, expected_info = gc.load_graph(tmp_path / "a.tar.gz", return_info=True, **options)
        for _ in range(2):  # converted, and kept
            graph, info = gc.fetch_suitesparse(NAME, return_info=True, **options)
            assert graph == expected and graph.remarks == expected.remarks
            assert np.array_equal(graph.degrees, expected.degrees) and np.array_equal(graph.loops, expected.loops)
            assert (info.load.counts, info.load.repairs) == (expected_info.counts, expected_info.repairs)
    assert len(server.log) == 1


def test_repairs_are_warned_of_each_time(server):
    server.files[PATH] = faults.archive("karate", GENERAL + "3 3 2\n1 2 1\n3 1 2\n")
    for _ in range(2):
        with pytest.warns(gc.GraphWarning, match=r"suitesparse:Newman/karate: the graph was directed") as caught:
            gc.fetch_suitesparse(NAME)
        assert caught[0].filename == __file__
    with pytest.warns(gc.GraphWarning, match="the graph was directed"):
        gc.load_graph("suitesparse:" + NAME)


def test_rectangular_matrices_become_bipartite_graphs(server):
    text = GENERAL + "2 3 3\n1 1 1\n1 3 1\n2 2 1\n"
    server.files["/MM/HB/well1033.tar.gz"] = faults.archive("well1033", text)
    for graph in (gc.fetch_suitesparse("HB/well1033"), gc.load_graph("suitesparse:HB/well1033")):
        assert (graph.n_nodes, graph.n_edges) == (5, 3) and graph.neighbors(0).tolist() == [2, 4]
    refuses(gc.GraphValidationError, "square", gc.fetch_suitesparse, "HB/well1033", bipartite=False)


def test_what_the_archive_knows_of_the_nodes(server):
    column = "%%MatrixMarket matrix array real general\n{} {}\n{}\n"
    server.files[PATH] = faults.archive(
        "karate",
        SQUARE,
        nodename="ann\nbob\ncec\ndan\neve\nfay\n",
        coord=column.format(6, 2, "\n".join(map(str, range(12)))),
        label=column.format(6, 1, "\n".join("779977")),
        Communities_all="%%MatrixMarket matrix coordinate pattern general\n6 3 7\n1 1\n2 1\n3 1\n3 2\n4 2\n4 3\n5 3\n",
        Communities_top5000="%%MatrixMarket matrix coordinate pattern general\n6 1 2\n1 1\n2 1\n",
    )
    for _ in range(2):
        graph, info = gc.fetch_suitesparse(NAME, return_info=True)
        assert info.node_names == ["ann", "bob", "cec", "dan", "eve", "fay"]
        assert info.coordinates.tolist() == [[i, i + 6] for i in range(6)]
        assert info.labels.tolist() == [0, 0, 1, 1, 0, 0] and info.labels.dtype == np.int64
        assert list(info.communities) == [{0, 1, 2}, {2, 3}, {3, 4}]
        _, top = gc.fetch_suitesparse(NAME, communities="top5000", return_info=True)
        assert list(top.communities) == [{0, 1}]
    assert graph.nodes is None


def test_communities_give_labels_and_ids_give_names(server):
    server.files[PATH] = faults.archive(
        "karate",
        SQUARE,
        nodeid="%%MatrixMarket matrix array integer general\n6 1\n10\n20\n30\n40\n50\n60\n",
        Communities_all="%%MatrixMarket matrix coordinate pattern general\n6 3 7\n1 1\n2 1\n3 1\n3 2\n4 2\n4 3\n5 3\n",
    )
    _, info = gc.fetch_suitesparse(NAME, return_info=True)
    assert info.labels.tolist() == [0, 0, 1, 1, 2, -1] and info.node_names == ["10", "20", "30", "40", "50", "60"]
    part, cut = gc.fetch_suitesparse(NAME, largest_component=True, return_info=True)
    assert part.nodes.tolist() == [0, 1, 2] and part.n_edges == 3 and cut.labels.tolist() == [0, 0, 1]
    assert list(cut.communities) == [{0, 1, 2}, {2}, set()] and cut.node_names == ["10", "20", "30"]
    assert "largest component" in part.remarks[-1] and gc.fetch_suitesparse(NAME, largest_component=True) == part


def test_auxiliary_files_that_do_not_fit_are_left_out(server):
    column = "%%MatrixMarket matrix array real general\n{}\n"
    server.files[PATH] = faults.archive(
        "karate", SQUARE, nodename="ann\n", coord=column.format("999999999 3\n1"), label=column.format("6 1\nx"),
        nodeid=column.format("6 1\n1.5\n1\n1\n1\n1\n1"), Communities_all="nothing",
    )  # fmt: skip
    _, info = gc.fetch_suitesparse(NAME, return_info=True)
    assert info.labels is info.communities is info.node_names is info.coordinates is None and info.load.details == {}


BAD_NAMES = ["../../x", "/etc/x", "A/B/C", "a\0b", "CON", "Gröup/näme", "", "HB/../x", "HB/", "HB/x y", "karate", ".."]


@pytest.mark.parametrize(
    "name", [*BAD_NAMES[:3], *(pytest.param(name, marks=pytest.mark.slow) for name in BAD_NAMES[3:])]
)
def test_d11_names_that_are_none_ask_for_nothing(server, folder, name):
    refuses(gc.ParameterError, r"GROUP/NAME.*the nearest are \S+/\S+, \S+/\S+, \S+/\S+$", gc.fetch_suitesparse, name)
    refuses(gc.ParameterError, None, gc.load_graph, "suitesparse:" + name)
    refuses(gc.ParameterError, None, gc.fetch_snap, name)
    assert server.log == [] and not folder.exists()


def test_d11_names_of_another_type():
    for name in (None, 3, b"HB/x", pathlib.Path("HB/x")):
        refuses(TypeError, "expected text", gc.fetch_suitesparse, name)


def test_d12_an_archive_that_leads_outside(server, folder, tmp_path):
    packed = gzip.decompress(faults.archive("karate", SQUARE)).replace(b"karate/karate.mtx", b"../karate/../evil")
    with_checksum = bytearray(packed)
    with_checksum[148:156] = b"%06o\0 " % (sum(packed[:148]) + sum(packed[156:512]) + 8 * 32)
    server.files[PATH] = gzip.compress(bytes(with_checksum))
    refuses(gc.UnsafeArchiveError, r"\.\./karate/\.\./evil", gc.fetch_suitesparse, NAME)
    assert os.listdir(tmp_path) == ["cache"] and files_of(folder) == ["locks/suitesparse--Newman--karate"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "no tar", "checksum", "shorter"])
def test_d16_broken_archives_are_removed_and_fetched_again(server, folder, damage):
    whole = server.files[PATH]
    spoiled = {"cut": whole[:-30], "no tar": gzip.compress(b"x" * 5000), "shorter": whole}
    server.files[PATH] = spoiled.get(damage, whole[:-8] + bytes(4) + whole[-4:])
    server.answers[PATH] = [faults.shorter] if damage == "shorter" else [faults.serve]
    refuses(gc.IntegrityError, "corrupt archive and was removed; fetch it again", gc.fetch_suitesparse, NAME)
    assert files_of(folder) == ["locks/suitesparse--Newman--karate"]
    server.files[PATH], server.answers[PATH] = whole, [faults.serve]
    assert gc.fetch_suitesparse(NAME).n_nodes == 6


def test_a_whole_archive_of_a_bad_matrix_is_kept(server, folder):
    server.files[PATH] = faults.archive("karate", GENERAL + "2 2 1\n1 3 1\n")
    for _ in range(2):
        refuses(gc.GraphFormatError, "line 3", gc.fetch_suitesparse, NAME)
    assert len(server.log) == 1 and "suitesparse/Newman/karate/karate.tar.gz" in files_of(folder)


def test_an_archive_of_another_matrix_is_refused_and_not_kept(server, folder):
    good = server.files[PATH]
    star = SYMMETRIC + "6 6 5\n2 1\n3 1\n4 1\n5 1\n6 1\n"
    others = {
        "holds dolphins/dolphins.mtx, expected karate/karate.mtx": faults.archive("dolphins", star),
        "holds no matrix, expected karate/karate.mtx": gzip.compress(b"\0" * 10240),
    }
    for words, archive in others.items():
        server.files[PATH] = archive
        refuses(gc.IntegrityError, words, gc.fetch_suitesparse, NAME)
        assert files_of(folder) == ["locks/suitesparse--Newman--karate"]
    server.files[PATH] = good
    assert gc.fetch_suitesparse(NAME).n_nodes == 6


@pytest.mark.parametrize(
    "text, words",
    [
        (SQUARE, r"of 6 x 6 with 5 lines of entries, but suitesparse:Newman/karate is of 34 x 34 with 156 entries"),
        (SYMMETRIC + "34 34 77\n", "of 34 x 34 with 77 lines"),
        (GENERAL + "34 35 78\n", "of 34 x 35"),
    ],
)
def test_a_matrix_of_other_sizes_than_the_catalog_has_is_refused(folder, monkeypatch, text, words):
    with faults.running() as server:
        monkeypatch.setenv("GRAPHCLUST_MIRROR", server.address)
        server.files[PATH] = faults.archive("karate", text)
        refuses(gc.IntegrityError, words, gc.fetch_suitesparse, NAME)
    assert files_of(folder) == ["locks/suitesparse--Newman--karate"]


def test_d18_offline_and_not_cached(folder, monkeypatch):
    monkeypatch.setattr(downloads, "PATIENCE", Patience(timeout=1.0, attempts=2, first_pause=0.001))
    with faults.running() as server:
        monkeypatch.setenv("GRAPHCLUST_MIRROR", server.address)
    place = folder / "suitesparse/Newman/karate/karate.tar.gz"
    with pytest.raises(gc.DownloadError) as raised:
        gc.fetch_suitesparse(NAME)
    assert server.address + PATH in str(raised.value) and str(place) in str(raised.value)
    place.write_bytes(faults.archive("karate", SQUARE))
    faults.stand_in(monkeypatch, {PATH: place.read_bytes()})
    assert gc.fetch_suitesparse(NAME).n_nodes == 6, "a file that was put there by hand"
    assert json.loads(place.with_name("karate.tar.gz.json").read_bytes())["url"] == "put there by hand"


def test_d19_caches_that_cannot_be(folder, server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("GRAPHCLUST_CACHE", str(place))
        refuses(NotADirectoryError, str(tmp_path / "file"), gc.fetch_suitesparse, NAME)
    monkeypatch.setenv("GRAPHCLUST_CACHE", "/proc/no-such-place")
    refuses(OSError, "/proc", gc.fetch_suitesparse, NAME)
    assert server.log == [] and (tmp_path / "file").read_text() == "x"


def test_d19_an_empty_setting_is_none(monkeypatch):
    monkeypatch.setenv("GRAPHCLUST_CACHE", "")
    assert gc.datasets.cache_folder().name == "graphclust"


def flipped(file: pathlib.Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 4
    file.write_bytes(content)


def test_d20_a_damaged_archive_is_never_parsed(server, folder, monkeypatch):
    expected = gc.fetch_suitesparse(NAME)
    (converted,) = folder.rglob("*.npz")
    archive = folder / "suitesparse/Newman/karate/karate.tar.gz"
    for at in range(0, archive.stat().st_size, 97):
        converted.unlink(missing_ok=True)
        flipped(archive, at)
        assert gc.fetch_suitesparse(NAME) == expected
    n_requests = len(server.log)
    converted.unlink()
    flipped(archive, 50)
    server.answers[PATH] = [faults.status(404)]
    refuses(gc.IntegrityError, r"was not what had been downloaded and was removed; .*404", gc.fetch_suitesparse, NAME)
    server.files[PATH], server.answers[PATH] = faults.archive("karate", SQUARE + "% other\n"), [faults.serve]
    refuses(gc.IntegrityError, "on record", gc.fetch_suitesparse, NAME)
    assert len(server.log) == n_requests + 2 and not archive.exists()
    clear_cache("suitesparse:" + NAME)
    assert gc.fetch_suitesparse(NAME) == expected, "cleared, it is trusted again"


def test_d20_a_damaged_conversion_is_made_anew(server, folder):
    expected = gc.fetch_suitesparse(NAME)
    (converted,) = folder.rglob("*.npz")
    content = converted.read_bytes()
    for broken in (b"", b"PK", content[:-40], content[:200], b"\0" * 500):
        converted.write_bytes(broken)
        assert gc.fetch_suitesparse(NAME) == expected and converted.read_bytes() == content
    assert len(server.log) == 1


def test_d20_a_bit_of_a_conversion(tmp_path):
    """Of every seventh byte of the arrays, and of every byte of the directory of the archive."""
    (tmp_path / "a.mtx").write_text(SYMMETRIC.replace("pattern", "real") + "4 4 4\n2 1 3\n3 1 1\n3 2 1\n4 4 2\n")
    expected = gc.load_graph(tmp_path / "a.mtx", return_info=True)
    converted = tmp_path / "a.npz"
    keep_graph(converted, *expected)
    content = converted.read_bytes()
    assert read_kept_graph(converted) == expected
    directory, n_refused = content.index(b"PK\1\2"), 0
    for at in (*range(0, directory, 7), *range(directory, len(content))):
        flipped(converted, at)
        kept = read_kept_graph(converted)
        assert kept in (None, expected)  # not every byte of a zip archive means something
        n_refused += kept is None
        converted.write_bytes(content)
    assert n_refused > (directory / 7 + len(content) - directory) / 2


def test_no_pickle_and_no_larger_array_than_its_file_is_read(folder, server):
    gc.fetch_suitesparse(NAME)
    (converted,) = folder.rglob("*.npz")
    graph, info = read_kept_graph(converted)
    for index in (graph.n_nodes, -1):
        outside = replace(graph, indices=np.array([*graph.indices[:-1], index], np.int32))
        keep_graph(converted, outside, info)
        assert read_kept_graph(converted) is None and not converted.exists()
    np.savez(converted, header=np.array([print], dtype=object))
    assert read_kept_graph(converted) is None and not converted.exists()
    with zipfile.ZipFile(converted, "w") as archive, archive.open("header.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})
    assert read_kept_graph(converted) is None


def test_memory_is_asked_for_before_a_download(server):
    with pytest.raises(gc.ResourceLimitError, match="nothing was downloaded"):
        gc.fetch_suitesparse("Sybrandt/MOLIERE_2016", memory_limit=1 << 30)
    refuses(gc.ResourceLimitError, r"need about .* MiB", gc.load_graph, "suitesparse:" + NAME, memory_limit=1)
    refuses(gc.ResourceLimitError, "max_download_bytes=100", gc.fetch_suitesparse, NAME, max_download_bytes=100)
    refuses(gc.GraphValidationError, "complex", gc.fetch_suitesparse, "Bai/dwg961b")
    assert [path for path, *_ in server.log] == [PATH]


def test_arguments_are_checked_before_a_request(server):
    for options in ({"weights": "x"}, {"symmetrize": "x"}, {"communities": "x"}, {"max_download_bytes": 0}):
        refuses(gc.ParameterError, next(iter(options)), gc.fetch_suitesparse, NAME, **options)
    refuses(gc.ParameterError, "does not suit", gc.load_graph, "suitesparse:" + NAME, format="metis")
    refuses(gc.ParameterError, "bipartite", gc.load_graph, "snap:com-DBLP", bipartite=True)
    assert server.log == []


def test_a_file_with_such_a_name_comes_first(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("snap:mine").write_text("1 2\n")
    assert gc.load_graph("snap:mine").n_nodes == 2


def test_without_the_extra_its_name_is_told(server, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "requests", None)
    refuses(ImportError, r'needs requests: pip install "graphclust\[datasets\]"', gc.fetch_suitesparse, NAME)


def test_snap_graphs_with_communities(server):
    server.files[SNAP + ".ungraph.txt.gz"] = gzip.compress(EDGES.encode())
    server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(b"1\t2\t5\n5\t9\t77\n30\t12\n")
    server.files[SNAP + ".top5000.cmty.txt.gz"] = gzip.compress(b"30\t12\n")
    assert gc.fetch_snap("com-Amazon").nodes.tolist() == [1, 2, 5, 9, 12, 30] and len(server.log) == 1
    for _ in range(2):
        graph, info = gc.fetch_snap("com-Amazon", return_info=True)
        assert list(info.communities) == [{0, 1, 2}, {2, 3}, {4, 5}] and info.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert list(gc.fetch_snap("com-Amazon", communities="top5000", return_info=True)[1].communities) == [{4, 5}]
    assert gc.load_graph("snap:com-Amazon") == graph and len(server.log) == 3
    part, cut = gc.fetch_snap("com-Amazon", largest_component=True, return_info=True)
    assert part.nodes.tolist() == [1, 2, 5, 9] and cut.labels.tolist() == [0, 0, 1, 1]


def test_snap_departments_and_categories_are_communities(server):
    server.files["/data/email-Eu-core.txt.gz"] = gzip.compress(b"0 1\n1 0\n2 1\n3 3\n")
    server.files["/data/email-Eu-core-department-labels.txt.gz"] = gzip.compress(b"0 7\n1 4\n2 7\n3 0\n")
    server.files["/data/wiki-topcats.txt.gz"] = gzip.compress(b"0 1\n1 2\n2 3\n")
    server.files["/data/wiki-topcats-categories.txt.gz"] = gzip.compress(b"Category:B;x; 1 2\nCategory:A; 0\n")
    _, info = gc.fetch_snap("email-Eu-core", return_info=True)
    assert list(info.communities) == [{3}, {1}, {0, 2}] and info.labels.tolist() == [2, 1, 2, 0]
    for _ in range(2):
        _, info = gc.fetch_snap("wiki-topcats", return_info=True)
        assert info.communities.names == ("B;x", "A") or info.communities.names == ["B;x", "A"]
        assert list(info.communities) == [{1, 2}, {0}] and info.labels.tolist() == [1, 0, 0, -1]


def test_community_files_that_are_none(server):
    server.files[SNAP + ".ungraph.txt.gz"] = gzip.compress(EDGES.encode())
    for text, error, words in (
        (b"1 2\n1 x\n", gc.GraphFormatError, "line 2: '1 x' is not a list of nodes"),
        (b"9999999999999999999999\n", gc.GraphFormatError, "not ids"),
    ):
        server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(text)
        refuses(error, words, gc.fetch_snap, "com-Amazon", return_info=True)
        clear_cache("snap:com-Amazon")
    server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(b"1 2\n")[:-4]
    refuses(gc.IntegrityError, "corrupt archive", gc.fetch_snap, "com-Amazon", return_info=True)
    server.files["/data/email-Eu-core.txt.gz"] = gzip.compress(b"0 1\n")
    server.files["/data/email-Eu-core-department-labels.txt.gz"] = gzip.compress(b"0 7 1\n")
    refuses(gc.GraphFormatError, "not a pair", gc.fetch_snap, "email-Eu-core", return_info=True)


def test_communities_that_a_graph_does_not_have(server):
    with pytest.raises(gc.ParameterError, match="'top5000' is unknown, expected one of 'all'"):
        gc.fetch_snap("email-Eu-core", communities="top5000")
    assert server.log == []


@pytest.mark.slow
def test_real_archives_are_fetched_as_the_collection_packs_them(server, data_folder):
    """As the collection packs them: partitions, coordinates and other graphs beside the matrix."""
    archives = list((data_folder / "files" / "suitesparse").glob("*/*.tar.gz"))
    for file in archives:
        server.files[f"/MM/{file.parent.name}/{file.name}"] = file.read_bytes()
    server.block, server.pause = 50_000, 0.001
    for file in archives:
        entry = entry_named(f"{file.parent.name}/{file.name.removesuffix('.tar.gz')}")
        if entry.type == "complex":
            continue
        for _ in range(2):
            graph, info = gc.fetch_suitesparse(entry.full_name, weights="abs", return_info=True)
            expected = gc.load_graph(file, weights="abs", bipartite=entry.bipartite)
            assert graph == expected
            assert graph.n_nodes == (entry.rows + entry.columns if entry.bipartite else entry.rows)
    assert len(server.log) == len(archives) - 1
    _, info = gc.fetch_suitesparse("AG-Monien/bfly", weights="abs", return_info=True)
    assert info.coordinates.shape == (49152, 3)
    _, info = gc.fetch_suitesparse("Pajek/Journals", weights="abs", return_info=True)
    assert len(info.node_names) == 124
