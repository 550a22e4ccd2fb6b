"""The tables of mutants meet the code that they spoil."""

import pathlib
import sys

import pytest

MUTANTS = pathlib.Path(__file__).parent / "mutants"
PACKAGE = MUTANTS.parents[1] / "graphclust"


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(str(MUTANTS))
    import mutants

    yield mutants.read_tables(mutants.TABLES)
    for name in [name for name in sys.modules if name.startswith("mutant")]:
        monkeypatch.delitem(sys.modules, name)


def test_what_a_mutant_replaces_stands_once_in_its_file(mutants):
    assert len(mutants) > 400
    assert [one.name for one in mutants if (PACKAGE / one.file).read_text().count(one.old) != 1] == []
