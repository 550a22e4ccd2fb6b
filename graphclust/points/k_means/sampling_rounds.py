"""The rounds of k-means||: in each, every point draws itself by its share of the cost (Bahmani et al. 2012)."""

from typing import Protocol

from graphclust.progress import Progress


class Rounds(Protocol):
    """Points that lie somewhere, and how far each is from the candidates so far."""

    def cost(self) -> float: ...

    def draw(self, turn: int, factor: float) -> int: ...


def sample_in_rounds(rounds: Rounds, n_wanted: float, n_rounds: int, progress: Progress, *, at_least: int = 0) -> None:
    """About n_wanted candidates in n_rounds rounds, an equal share in each.

    In a round a point of mass m is drawn with probability min(1, l m / cost), where l is that share. Rounds end
    when all the cost is gone. While there are fewer than `at_least`, further ones are made, with a share of 1 or more,
    so that two of three find a candidate.
    """
    n_drawn, turn, share = 0, 0, n_wanted / n_rounds
    while turn < n_rounds or n_drawn < at_least:
        share = share if turn < n_rounds else max(share, 1.0)
        cost = rounds.cost()
        progress.step(min(turn, n_rounds), n_rounds)
        if not cost > 0.0:
            return
        n_drawn += rounds.draw(turn, share / cost)
        turn += 1
    rounds.cost()
