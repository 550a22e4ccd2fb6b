# ruff: noqa: E501 - names of files, many a line
"""Real files of every format: their sizes, or why they are refused."""

import numpy as np
import pytest

from graphclust import load_graph
from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.io.read_file import FORMATS

REFUSED_WITH = {
    "bad/cegb2802.mtx.gz": "HTML",
    "bad/empty.mtx": "square",
    "bad/garbage.lagraph": "no known format",
    "suitesparse/Bai/dwg961b.tar.gz": "complex",
    "suitesparse/HB/1138_bus.tar.gz": "negative",
    "suitesparse/HB/well1033.tar.gz": "square",
} | {
    f"matrixmarket/{name}": word
    for word, names in {
        "negative": "LFAT5.mtx LFAT5_hypersparse.mtx LFAT5_two.mtx bcsstk13.mtx cryg2500.mtx mangled_int8.mtx "
        "mangled_int16.mtx mangled_int32.mtx matrix_int8.mtx matrix_int16.mtx matrix_int32.mtx matrix_int64.mtx olm1000.mtx "
        "west0067.mtx west0067_jumbled.mtx nist/1138_bus.mtx.gz nist/662_bus.mtx.gz nist/bp___200.mtx.gz nist/nos5.mtx.gz",
        "coordinate required": "comments_full.mtx complex.mtx full.mtx full_symmetric.mtx mangled2.mtx mangled15.mtx "
        "mangled16.mtx mangled_format.mtx",
        "skew-symmetric": "mangled_skew.mtx skew_fp32.mtx skew_fp64.mtx skew_int8.mtx skew_int16.mtx skew_int32.mtx "
        "skew_int64.mtx",
        "square": "lp_afiro.mtx lp_afiro_structure.mtx mangled9.mtx mangled10.mtx mangled11.mtx mangled12.mtx mangled13.mtx "
        "mangled14.mtx sources_7.mtx",
        "Not a Matrix Market file": "full_noheader.mtx karate_str.mtx west0067_noheader.mtx",
        "non-finite": "comments_west0067.mtx",
        "whole number": "matrix_fp32.mtx matrix_fp64.mtx",
        "out of range": "matrix_uint64.mtx",
        "'mangled'": "mangled1.mtx mangled3.mtx mangled4.mtx",
        "hermitian": "mangled5.mtx mangled6.mtx",
        "missing": "mangled7.mtx",
        "sizes": "mangled8.mtx",
    }.items()
    for name in names.split()
}  # fmt: skip
SIZES = {
    "edgelists/email-Enron.txt.gz": (36_692, 183_831),
    "edgelists/wiki-Vote.txt": (7_115, 100_762),
    "edgelists/email-Eu-core/email-Eu-core.txt": (1_005, 16_706),
    "matrixmarket/karate.mtx": (34, 78),
    "matrixmarket/netscience.mtx": (1_589, 2_742),
    "metis/karate.graph": (34, 78),
    "metis/4elt.graph": (15_606, 45_878),
    "metis/PGPgiantcompo.graph": (10_680, 24_316),
    "suitesparse/AG-Monien/bfly.tar.gz": (49_152, 98_304),
    "suitesparse/Pajek/Journals.tar.gz": (124, 6_096),
}


def test_every_real_file_loads_or_is_refused_for_the_right_reason(data_folder):
    folder = data_folder / "files"
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    assert len(paths) > 100 and set(REFUSED_WITH) <= set(paths) and set(SIZES) <= set(paths)
    for name, path in paths.items():
        if name in REFUSED_WITH:
            with pytest.raises((GraphFormatError, GraphValidationError)) as refusal:
                load_graph(path)
            assert REFUSED_WITH[name] in str(refusal.value), name
            continue
        graph, info = load_graph(path, return_info=True)
        assert info.format in FORMATS and graph.n_nodes > 0
        assert (graph.n_nodes, graph.n_edges) == SIZES.get(name, (graph.n_nodes, graph.n_edges))


@pytest.mark.parametrize(
    ("file", "array"),
    [("edgelists/email-Enron.txt.gz", "snap_email-enron"), ("metis/PGPgiantcompo.graph", "metis_PGPgiantcompo")],
)
def test_real_files_against_their_arrays(data_folder, file, array):
    graph = load_graph(data_folder / "files" / file)
    with np.load(data_folder / "graphs" / f"{array}.npz") as stored:
        assert np.array_equal(graph.indptr, stored["indptr"]) and np.array_equal(graph.indices, stored["indices"])
