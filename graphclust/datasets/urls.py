"""Where the files are, or a mirror of them; which redirections to follow; and addresses without their secrets."""

import os
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from graphclust.errors import DownloadError, ParameterError

SITES = {"suitesparse": "https://sparse.tamu.edu", "snap": "https://snap.stanford.edu"}
# The collection's site hands over to these; they send http addresses at times, which are asked for by https.
TRUSTED_HOSTS = {
    "sparse.tamu.edu", "suitesparse-collection-website.herokuapp.com", "sparse-files.engr.tamu.edu", "snap.stanford.edu"
}  # fmt: skip


@dataclass(frozen=True)
class Address:
    """A URL without credentials, safe to print, and the user and password to send to that host, if any."""

    url: str
    login: tuple[str, str] | None = None

    def redirect(self, location: str) -> "Address":
        """Where a redirection leads: the same host, or one of the collections', never from https to http."""
        try:
            here, there = urlsplit(self.url), urlsplit(urljoin(self.url, location))
            host, port = there.hostname or "", there.port
        except ValueError:
            raise DownloadError(f"{self.url} redirects to what is not an address") from None
        shown = f"{there.scheme}://{host}" if there.scheme in ("http", "https") else f"a {there.scheme}: address"
        scheme = there.scheme
        if host in TRUSTED_HOSTS and scheme == "http" and here.scheme == "https":
            scheme, port = "https", None
        if scheme not in ("http", "https") or (here.scheme == "https" and scheme == "http"):
            raise DownloadError(f"{self.url} redirects to {shown}, which is not followed: expected https")
        same_host = (host, port) == (here.hostname, here.port)
        if there.username or not (same_host or (host in TRUSTED_HOSTS and port is None)):
            found = f"{self.url} redirects to {shown}, which is not followed"
            raise DownloadError(f"{found}: it is another host; if you trust it, make it the mirror")
        netloc = f"{host}:{port}" if port else host
        netloc = f"[{host}]{f':{port}' if port else ''}" if ":" in host else netloc
        return Address(urlunsplit((scheme, netloc, there.path, there.query, "")), self.login if same_host else None)


def address_of(path: str, source: str, mirror: str | None = None) -> Address:
    """The address of a file: below a mirror, by default that of the environment variable GRAPHCLUST_MIRROR, or a site.

    A mirror that is no address is not shown, as it may hold a password.
    """
    base = mirror or os.environ.get("GRAPHCLUST_MIRROR") or SITES[source]
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise ParameterError(
            "mirror is not an address like https://host/folder; it stands for https://sparse.tamu.edu (which has "
            "MM/GROUP/NAME.tar.gz) or https://snap.stanford.edu"
        )
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    netloc = f"[{host}]" if ":" in host else host
    netloc += f":{port}" if port else ""
    return Address(urlunsplit((parts.scheme, netloc, f"{parts.path.rstrip('/')}/{path}", "", "")), login)
