"""Parquet files become the store that their edges make, however they are cut."""

import os

import numpy as np
import pytest
from cases import refuses
from scipy import sparse

import graphclust
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from graphclust.distributed import ingestion
from graphclust.distributed.ingestion import ingest_parquet

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def write(path, **columns):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("n_files", [1, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("per_range", [40, 1 << 24])
def test_the_store_holds_the_edges_of_all_files(client, tmp_path, monkeypatch, n_files, weighted, per_range):
    monkeypatch.setattr(ingestion, "EDGES_PER_RANGE", per_range)
    rng = np.random.default_rng(8)
    u, v = rng.integers(60, size=(2, 300))
    w = rng.integers(0, 5, 300) / 2.0 if weighted else np.ones(300)
    files = [
        write(tmp_path / f"{i}.parquet", u=part[0].astype(np.uint32), v=part[1].astype(np.int64), w=part[2])
        for i, part in enumerate(np.array_split(np.array([u, v, w]), n_files, axis=1))
    ]
    files.append(write(tmp_path / "empty.parquet", u=np.empty(0, np.int32), v=np.empty(0, np.int32), w=np.empty(0)))
    graph = ingest_parquet(
        files, tmp_path / "g.store", client=client, source="u", target="v", weight="w" if weighted else None, n_nodes=70
    )
    expected = np.zeros((70, 70))
    np.maximum.at(expected, (u, v), w)
    np.maximum.at(expected, (v, u), w)
    assert (graph.to_scipy().toarray() == expected).all()
    assert graphclust.open_store(tmp_path / "g.store", verify="full") == graphclust.as_graph(sparse.csr_array(expected))
    assert (graph.weights is None) == (not weighted)
    assert sorted(os.listdir(tmp_path)) == sorted(["g.store", *(file.name for file in files)])


def test_what_is_no_edge_list_is_named(client, tmp_path):
    good = write(tmp_path / "good.parquet", source=np.array([0, 1]), target=np.array([1, 2]))
    target = tmp_path / "g.store"
    with pytest.raises(GraphFormatError, match=r"good.parquet: has columns .*, expected 'from' among them"):
        ingest_parquet([good], target, client=client, source="from")
    (tmp_path / "text.parquet").write_text("0 1")
    with pytest.raises(GraphFormatError, match=r"text.parquet: is not a Parquet file"):
        ingest_parquet([good, tmp_path / "text.parquet"], target, client=client)
    negative = write(tmp_path / "negative.parquet", source=np.array([0, -1]), target=np.array([1, 2]))
    with pytest.raises(GraphValidationError, match=r"'source' of .*negative.parquet holds other things"):
        ingest_parquet([negative], target, client=client)
    refuses(ParameterError, r"n_nodes=2 is out of range", ingest_parquet, [good], target, client=client, n_nodes=2)
    refuses(GraphValidationError, r"files is empty", ingest_parquet, [], target, client=client)
    infinite = write(tmp_path / "inf.parquet", source=np.array([0]), target=np.array([1]), w=np.array([np.inf]))
    with pytest.raises(GraphValidationError, match=r"'w' of .* holds what is not a weight"):
        ingest_parquet([infinite], target, client=client, weight="w")
    empty = write(tmp_path / "empty.parquet", source=np.empty(0, np.int64), target=np.empty(0, np.int64))
    with pytest.raises(GraphValidationError, match=r"no file holds a row, .*empty.parquet .* or n_nodes=$"):
        ingest_parquet([empty, empty], target, client=client)
    isolated = ingest_parquet([empty], tmp_path / "isolated.store", client=client, n_nodes=5)
    assert (isolated.n_nodes, isolated.n_edges) == (5, 0)
    huge = write(tmp_path / "huge.parquet", source=np.array([0, 2**63 + 5], np.uint64), target=np.array([1, 2]))
    with pytest.raises(GraphValidationError, match=r"'source' of .*huge.parquet holds other things .* below 2\^63"):
        ingest_parquet([huge], target, client=client)
    for given in (["a", "b"], np.array([1, 2], "datetime64[s]")):
        other = write(tmp_path / "other.parquet", source=np.array([0, 1]), target=np.array([1, 2]), w=given)
        with pytest.raises(GraphValidationError, match=r"'w' of .*other.parquet holds what is not a weight"):
            ingest_parquet([other], target, client=client, weight="w")
    with pytest.raises(TypeError, match=r"files=.*good.parquet.* is one path, expected a list of them"):
        ingest_parquet(good, target, client=client)
    assert not target.exists() and not list(tmp_path.glob(".graphclust-*"))
