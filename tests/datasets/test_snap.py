"""SNAP's graphs with known communities: the three ways in which their files list them."""

import gzip

import http_faults as faults
import pytest
from cases import refuses

from graphclust import GraphFormatError, IntegrityError, ParameterError, fetch_snap, load_graph
from graphclust.datasets.cache import clear_cache

EDGES = "# c\n1 2\n2 5\n5 1\n5 9\n12 30\n"
SNAP = "/data/bigdata/communities/com-amazon"


@pytest.fixture
def server(tmp_path, monkeypatch):
    faults.own_cache(tmp_path, monkeypatch)
    with faults.as_mirror(monkeypatch) as server:
        yield server


def test_snap_graphs_with_communities(server):
    server.files[SNAP + ".ungraph.txt.gz"] = gzip.compress(EDGES.encode())
    server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(b"1\t2\t5\n5\t9\t77\n30\t12\n")
    server.files[SNAP + ".top5000.cmty.txt.gz"] = gzip.compress(b"30\t12\n")
    assert fetch_snap("com-Amazon").nodes.tolist() == [1, 2, 5, 9, 12, 30] and len(server.log) == 1
    for _ in range(2):
        graph, info = fetch_snap("com-Amazon", return_info=True)
        assert list(info.communities) == [{0, 1, 2}, {2, 3}, {4, 5}] and info.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert list(fetch_snap("com-Amazon", communities="top5000", return_info=True)[1].communities) == [{4, 5}]
    assert load_graph("snap:com-Amazon") == graph and len(server.log) == 3
    part, cut = fetch_snap("com-Amazon", largest_component=True, return_info=True)
    assert part.nodes.tolist() == [1, 2, 5, 9] and cut.labels.tolist() == [0, 0, 1, 1]


def test_snap_departments_and_categories_are_communities(server):
    server.files["/data/email-Eu-core.txt.gz"] = gzip.compress(b"0 1\n1 0\n2 1\n3 3\n")
    server.files["/data/email-Eu-core-department-labels.txt.gz"] = gzip.compress(b"0 7\n1 4\n2 7\n3 0\n")
    server.files["/data/wiki-topcats.txt.gz"] = gzip.compress(b"0 1\n1 2\n2 3\n")
    server.files["/data/wiki-topcats-categories.txt.gz"] = gzip.compress(b"Category:B;x; 1 2\nCategory:A; 0\n")
    _, info = fetch_snap("email-Eu-core", return_info=True)
    assert list(info.communities) == [{3}, {1}, {0, 2}] and info.labels.tolist() == [2, 1, 2, 0]
    for _ in range(2):
        _, info = fetch_snap("wiki-topcats", return_info=True)
        assert info.communities.names == ("B;x", "A") or info.communities.names == ["B;x", "A"]
        assert list(info.communities) == [{1, 2}, {0}] and info.labels.tolist() == [1, 0, 0, -1]


def test_community_files_that_are_none(server):
    server.files[SNAP + ".ungraph.txt.gz"] = gzip.compress(EDGES.encode())
    for text, error, words in (
        (b"1 2\n1 x\n", GraphFormatError, "line 2: '1 x' is not a list of nodes"),
        (b"9999999999999999999999\n", GraphFormatError, "not ids"),
    ):
        server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(text)
        refuses(error, words, fetch_snap, "com-Amazon", return_info=True)
        clear_cache("snap:com-Amazon")
    server.files[SNAP + ".all.dedup.cmty.txt.gz"] = gzip.compress(b"1 2\n")[:-4]
    refuses(IntegrityError, "corrupt archive", fetch_snap, "com-Amazon", return_info=True)
    server.files["/data/email-Eu-core.txt.gz"] = gzip.compress(b"0 1\n")
    server.files["/data/email-Eu-core-department-labels.txt.gz"] = gzip.compress(b"0 7 1\n")
    refuses(GraphFormatError, "not a pair", fetch_snap, "email-Eu-core", return_info=True)


def test_names_and_communities_that_are_none(server):
    refuses(ParameterError, r"none of the 8 names .* the nearest are com-DBLP, ", fetch_snap, "com-DBPL")
    with pytest.raises(ParameterError, match="'top5000' is unknown, expected one of 'all'"):
        fetch_snap("email-Eu-core", communities="top5000")
    assert server.log == []
