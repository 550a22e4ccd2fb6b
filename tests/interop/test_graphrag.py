"""GraphRAG's own clustering step with the one function that it calls replaced by ours."""

import io

import pytest

from graphclust.interop.graspologic import hierarchical_leiden

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
step = pytest.importorskip("graphrag.index.operations.cluster_graph", reason="graphrag is not installed")

# Relationships between the people of a tale as a language model lists them: names in capitals, some pairs twice, once
# the other way around, and two people whom nobody else knows.
RELATIONSHIPS = (
    "source,target,weight\n"
    + """
SCROOGE,MARLEY,9;SCROOGE,CRATCHIT,8;CRATCHIT,SCROOGE,7;SCROOGE,FRED,5;SCROOGE,FEZZIWIG,4;SCROOGE,BELLE,4
SCROOGE,GHOST OF PAST,6;SCROOGE,GHOST OF PRESENT,6;SCROOGE,GHOST OF FUTURE,6;MARLEY,GHOST OF PAST,2
GHOST OF PAST,GHOST OF PRESENT,2;GHOST OF PRESENT,GHOST OF FUTURE,2;CRATCHIT,MRS CRATCHIT,9;CRATCHIT,TINY TIM,9
CRATCHIT,MARTHA,7;CRATCHIT,PETER,7;MRS CRATCHIT,TINY TIM,8;MRS CRATCHIT,MARTHA,6;MRS CRATCHIT,PETER,6
TINY TIM,MARTHA,4;TINY TIM,PETER,4;MARTHA,PETER,4;FRED,FREDS WIFE,8;FRED,TOPPER,5;FREDS WIFE,TOPPER,4
FREDS WIFE,PLUMP SISTER,5;TOPPER,PLUMP SISTER,6;FEZZIWIG,MRS FEZZIWIG,8;FEZZIWIG,DICK WILKINS,5;FEZZIWIG,FIDDLER,3
MRS FEZZIWIG,FIDDLER,2;DICK WILKINS,FIDDLER,1;BELLE,HUSBAND OF BELLE,7;OLD JOE,CHARWOMAN,5
""".replace(";", "\n")
)


@pytest.fixture
def relationships():
    return pandas.read_csv(io.StringIO(RELATIONSHIPS))


@pytest.mark.parametrize("use_lcc", [True, False])
@pytest.mark.parametrize("most", [4, 10])
def test_the_step_of_graphrag_makes_communities_with_ours(relationships, monkeypatch, use_lcc, most):
    theirs = step.cluster_graph(relationships, most, use_lcc, seed=7)
    monkeypatch.setattr(step, "hierarchical_leiden", hierarchical_leiden)
    ours = step.cluster_graph(relationships, most, use_lcc, seed=7)
    assert ours == step.cluster_graph(relationships, most, use_lcc, seed=7)

    nodes_of = {number: set(nodes) for _, number, _, nodes in ours}
    parents = {parent for _, _, parent, _ in ours}
    assert len(nodes_of) == len(ours)  # numbered through all levels
    for level, number, parent, nodes in ours:
        assert type(level) is int and type(number) is int and all(type(node) is str for node in nodes)
        assert (parent == -1) == (level == 0) and (level == 0 or nodes_of[number] <= nodes_of[parent])
        assert number in parents or len(nodes) <= most
    known = {node for level, _, _, nodes in theirs if level == 0 for node in nodes}
    assert set().union(*nodes_of.values()) == known and ("OLD JOE" in known) == (not use_lcc)
