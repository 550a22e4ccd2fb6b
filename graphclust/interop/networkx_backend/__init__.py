"""A backend of NetworkX for communities: `nx.community.louvain_communities(G, backend="graphclust")`.

`info` is read whenever NetworkX is imported, `interface` when a call comes here.
"""
