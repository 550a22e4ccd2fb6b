"""The words that arguments take, as types: a checker of types sees a wrong one before it is run."""

from typing import Literal

PlainObjective = Literal["modularity", "constant_potts", "erdos_renyi"]
Objective = Literal["modularity", "normalized_cut", "ratio_cut", "constant_potts", "erdos_renyi"]
Method = Literal["auto", "multilevel", "two-step", "paper"]
Effort = Literal["low", "normal", "high"]
Small = Literal["unite", "apart"]
Components = Literal["large", "largest", "all"]
Leftover = Literal["apart", "alone"]
Kind = Literal["undirected", "directed", "bipartite", "signed"]
