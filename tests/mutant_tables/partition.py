"""Merging, moving and the doubt about a coreset."""

MUTANTS = [
    (
        "move-forgets-the-loop-of-the-loss",
        "compiled/graphs/moves.py",
        "(inside[own] - 2.0 * stays - loop) / rest",
        "(inside[own] - 2.0 * stays) / rest",
        ["test_every_single_move_changes_the_cut_by_the_gain_it_was_made_for"],
    ),
    (
        "chosen-move-forgets-the-loop",
        "compiled/graphs/moves.py",
        "twice = 2.0 * stays[u] - loops[u]",
        "twice = 2.0 * stays[u]",
        ["test_refinement.py"],
    ),
    (
        "union-counts-its-edge-once",
        "compiled/graphs/merging.py",
        "inside[b] += inside[a] + 2.0 * shared",
        "inside[b] += inside[a] + shared",
        ["test_refinement.py"],
    ),
    (
        "doubt-from-one-step",
        "partition/two_step_partition.py",
        "mean_links * stays**4 <",
        "mean_links * stays**2 <",
        ["test_doubt_grows_with_the_cut_and_with_what_was_not_seen"],
    ),
]
