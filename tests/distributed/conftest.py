"""A client for tests that do not depend on where the workers are."""

import pytest


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0, protocol="inproc://"
    )
    with cluster, Client(cluster) as client:
        yield client
