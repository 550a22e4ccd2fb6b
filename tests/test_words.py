"""The types of words are the words that the functions take."""

from typing import get_args

from graphclust import checks as words
from graphclust.engine.engine import EFFORTS
from graphclust.objective.objective import OBJECTIVE_SPECS, OBJECTIVES
from graphclust.partition.options import METHODS


def test_types_of_words_are_those_of_the_tables():
    assert set(get_args(words.ObjectiveName)) == set(OBJECTIVES)
    assert set(get_args(words.AdditiveObjective)) == {name for name in OBJECTIVES if not OBJECTIVE_SPECS[name].is_ratio}
    assert set(get_args(words.Method)) == set(METHODS)
    assert set(get_args(words.Effort)) == set(EFFORTS)
