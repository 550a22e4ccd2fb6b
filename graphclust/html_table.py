"""Small pieces of HTML: what a notebook shows of an object that stands alone in the last line of a cell."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table", "html_text"]


def html_table(title: str, rows: Iterable[tuple[str, object]], notes: Sequence[str] = ()) -> str:
    """A title, a line of name and value for each row, and sentences below; all of it is plain text that is escaped.

    >>> html_table("Graph", [("nodes", 3)], ["a < b"])
    '<table><caption>Graph</caption><tr><th>nodes</th><td>3</td></tr></table><p>a &lt; b</p>'
    """
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><caption>{escape(title)}</caption>{lines}</table>{below}"


def html_text(title: str, text: str) -> str:
    """A title that folds, and below it text as it stands in a terminal; both are escaped.

    >>> html_text("Suggestion", "k < 3")
    '<details open><summary>Suggestion</summary><pre>k &lt; 3</pre></details>'
    """
    return f"<details open><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
