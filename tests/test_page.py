"""The page of a clustering: parsed, its pictures decoded, its colors measured, and opened where there is a browser."""

import base64
import os
import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

import graphclust
from graphclust.faces.page.figures import FAINTEST, strengths
from graphclust.faces.page.png import as_data_uri
from graphclust.faces.page.style import STYLE
from graphclust.plots.links import nearest_clusters
from graphclust.plots.raster import block_raster

VOID = {"meta", "link", "img"}
EVIL = '<script>alert("1")</script>&'


class Parsed(HTMLParser):
    """Tags with their attributes, the text of each, and the tables as rows of cells."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.texts, self.tables, self.open = [], {}, [], []
        self.feed(page)
        self.close()
        assert self.open == [], "a tag was left open"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def clustering():
    graph = nx.relabel_nodes(nx.les_miserables_graph(), {"Valjean": EVIL, "Javert": "x" * 200})
    return graphclust.coreset_sc(graph, 6, rng=0)


@pytest.fixture(scope="module")
def page(clustering):
    return graphclust.report_page(clustering, title=f"File {EVIL}.mtx")


def test_nothing_comes_from_elsewhere(page):
    parsed = Parsed(page)
    addresses = [
        value for _, attributes in parsed.tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert addresses and all(address.startswith("data:") for address in addresses)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<script|javascript:|\son\w+=", page)
    assert {tag for tag, _ in parsed.tags} & {"script", "iframe", "object", "embed", "base", "form"} == set()
    policy = next(tag["content"] for tag in parsed.all("meta") if tag.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_names_are_text_and_nothing_else(clustering, page):
    parsed = Parsed(page)
    assert parsed.texts["title"][0] == parsed.texts["h1"][0] == f"File {EVIL}.mtx"
    leading = [row[5] for row in parsed.tables[0][1:]]
    assert sum(EVIL in cell for cell in leading) == 1 and "x" * 41 not in page and "x" * 39 + "…" in page


def test_every_part_is_there_and_can_be_found_by_its_heading(page):
    parsed = Parsed(page)
    sections = [attributes["aria-labelledby"] for attributes in parsed.all("section")]
    assert sections == ["clusters", "adjacency", "quotient", "graph", "assumed", "made"]
    assert [heading["id"] for heading in parsed.all("h2")] == sections and len(parsed.all("h1")) == 1
    assert parsed.all("html")[0]["lang"] == "en"
    assert all(image.get("alt") for image in parsed.all("img"))
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in parsed.all("svg"))
    assert all(cell.get("scope") in ("row", "col") for cell in parsed.all("th"))
    assert any(meta.get("name") == "viewport" for meta in parsed.all("meta"))
    assert "prefers-color-scheme: dark" in page


def test_the_table_holds_the_figures_of_the_clusters(clustering, page):
    head, *rows = Parsed(page).tables[0]
    assert head == ["cluster", "nodes", "share", "conductance", "nearest", "nodes of highest degree", "volume"]
    assert [int(row[1]) for row in rows] == clustering.sizes.tolist()
    assert [float(row[3]) for row in rows] == clustering.conductance.round(3).tolist()
    assert [int(row[4]) for row in rows] == nearest_clusters(clustering).tolist()
    assert [float(row[6].replace(",", "")) for row in rows] == pytest.approx(clustering.volume)
    by_degree = np.argsort(-clustering.graph.degrees, kind="stable")
    for c, row in enumerate(rows):
        names = [str(clustering.nodes[node]) for node in by_degree if clustering.labels[node] == c][:4]
        assert row[5] == ", ".join(name if len(name) < 40 else name[:39] + "…" for name in names)
    text = " ".join(Parsed(page).texts["dd"])
    assert f"{clustering.modularity:.4f}" in text and f"{clustering.normalized_cut / 6:.4f}" in text


def test_remarks_settings_and_stages_are_said(clustering, page):
    matrix = nx.to_scipy_sparse_array(nx.disjoint_union(nx.path_graph(6), nx.empty_graph(2)))
    with pytest.warns(graphclust.GraphWarning):
        with_isolated = graphclust.coreset_sc(matrix, 2, rng=0)
    said = " ".join(Parsed(graphclust.report_page(with_isolated)).texts["li"])
    assert with_isolated.remarks and all(remark in said for remark in with_isolated.remarks)
    *_, settings, stages = Parsed(page).tables
    assert ["objective", "modularity"] in settings and [row[0] for row in stages[1:]] == list(clustering.seconds)


@pytest.fixture(scope="module")
def full_page(clustering):
    path = graphclust.cluster_path(clustering.graph, range(1, 9), rng=0)
    sure = clustering.certainty(n_repeats=1, rng=0)
    return path, sure, graphclust.report_page(clustering, certainty=sure, path=path)


def test_stability_and_undecided_nodes_are_in_the_table(clustering, full_page):
    _, sure, page = full_page
    head, *rows = Parsed(page).tables[0]
    assert head[3:7] == ["conductance", "stability", "undecided", "nearest"]
    assert [float(row[4]) for row in rows] == sure.stability.round(2).tolist()
    assert [int(row[5]) for row in rows] == [int(sure.undecided[clustering.labels == c].sum()) for c in range(6)]
    without = graphclust.report_page(clustering, certainty=clustering.certainty())
    assert Parsed(without).tables[0][0][3:6] == ["conductance", "undecided", "nearest"]
    other = graphclust.coreset_sc(clustering.graph, 3, rng=0)
    with pytest.raises(graphclust.GraphValidationError, match=r"certainty is of \(77, 6\) nodes and clusters"):
        graphclust.report_page(other, certainty=sure)


def test_other_numbers_of_clusters_and_the_suggestion(full_page):
    path, _, page = full_page
    parsed, suggestion = Parsed(page), path.suggest()
    assert "path" in [attributes["aria-labelledby"] for attributes in parsed.all("section")]
    assert suggestion.reasons[0] in parsed.texts["li"]
    candidates = next(table for table in parsed.tables if table[0][0] == "clusters")
    assert [int(row[0]) for row in candidates[1:]] == [candidate.k for candidate in suggestion.candidates]
    drawings = [svg["aria-label"] for svg in parsed.all("svg")]
    assert drawings[1] == f"modularity for 1 to 8 clusters; {suggestion.k} is suggested" and len(drawings) == 3
    dots = [text for text in parsed.texts["title"] if text.split(" ")[1:2] == ["clusters:"]]
    assert dots == [f"{row.k} clusters: {row.modularity:.4f}" for row in path.table()]
    lines = [[point.split(",") for point in line["points"].split()] for line in parsed.all("polyline")]
    assert [len(line) for line in lines] == [8, *[4] * 7]
    assert all(0 <= float(x) <= 560 and 0 <= float(y) <= 260 for line in lines for x, y in line)
    rising = np.diff([row.modularity for row in path.table()]) > 0
    assert np.array_equal(np.diff([-float(y) for _, y in lines[0]]) > 0, rising)


def decoded(uri: str) -> np.ndarray:
    """The bytes of the pixels of a PNG with a palette."""
    file = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(file):
        (length,) = struct.unpack(">I", file[place : place + 4])
        kind, data = file[place + 4 : place + 8], file[place + 8 : place + 8 + length]
        (check,) = struct.unpack(">I", file[place + 8 + length : place + 12 + length])
        assert check == zlib.crc32(kind + data)
        chunks[kind] = data
        place += 12 + length
    width, height, depth, color, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, color, len(chunks[b"PLTE"]), chunks[b"tRNS"]) == (8, 3, 768, bytes(range(256)))
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def test_the_picture_of_the_matrix_is_the_raster(clustering, page):
    (image,) = Parsed(page).all("img")
    raster = block_raster(clustering, 480)
    pixels = decoded(image["src"])
    assert pixels.shape == raster.density.shape == (int(image["height"]), int(image["width"]))
    assert np.array_equal(pixels > 0, raster.counts > 0) and np.array_equal(pixels, strengths(raster.density))
    inside = (clustering.graph.to_scipy().toarray() * (clustering.labels[:, None] == clustering.labels)).sum()
    assert f"{inside / clustering.graph.total_volume:.0%} of the edge weight lies within" in image["alt"]


def test_strengths_are_logarithmic():
    found = strengths(np.array([[0.0, 0.001], [0.01, 0.1]]))
    assert found.tolist() == [[0, FAINTEST], [round((FAINTEST + 255) / 2), 255]]
    assert strengths(np.full((2, 2), 0.5)).tolist() == [[255, 255]] * 2 and not strengths(np.zeros((2, 2))).any()
    assert np.array_equal(decoded(as_data_uri(found)), found)


def test_the_drawing_holds_the_clusters_and_their_links(clustering, page):
    parsed = Parsed(page)
    assert len(parsed.all("circle")) == 6 and {"0", "5"} <= set(parsed.texts["text"])
    assert all(0 <= float(circle[at]) <= 560 for circle in parsed.all("circle") for at in ("cx", "cy"))
    radii = [float(circle["r"]) for circle in parsed.all("circle")]
    assert np.argmax(radii) == np.argmax(clustering.volume)


def test_a_thousand_clusters_stay_small_and_are_counted():
    many = graphclust.coreset_sc(nx.ring_of_cliques(1000, 5), 1000, rng=0)
    page = graphclust.report_page(many)
    assert len(page.encode()) < 2_000_000 and len(Parsed(page).tables[0]) == 201
    assert "800 more clusters, of 5 to 5 nodes, are not listed" in page and "940 smaller clusters are not shown" in page


def test_text_can_be_read_on_its_ground():
    """Contrast as in WCAG 2: 4.5 for text."""

    def luminance(color):
        values = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one, other):
        high, low = sorted((luminance(one), luminance(other)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    themes = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    assert len(themes) == 2
    for theme in themes:
        color = {
            name: value if len(value) == 7 else "#" + "".join(2 * digit for digit in value[1:])
            for name, value in re.findall(r"--([\w-]+): (#\w+);", theme)
        }
        pairs = [("text", "page"), ("text", "card"), ("soft", "page"), ("soft", "card"), ("on-mark", "mark")]
        assert all(contrast(color[one], color[other]) >= 4.5 for one, other in pairs), color


def test_the_file_appears_whole_or_not_at_all(clustering, tmp_path):
    target = tmp_path / "report.html"
    graphclust.write_report(target, clustering)
    assert target.read_text() == graphclust.report_page(clustering)
    with pytest.raises(FileExistsError):
        graphclust.write_report(target, clustering)
    graphclust.write_report(target, clustering, title="another", overwrite=True)
    assert "<h1>another</h1>" in target.read_text() and os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(TypeError, match="clustering is a ndarray, expected a Clustering"):
        graphclust.report_page(clustering.labels)


@pytest.mark.slow
def test_a_browser_has_nothing_to_complain_of(clustering, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    target = tmp_path / "report.html"
    graphclust.write_report(target, clustering, title=EVIL)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1280,2000"]
    shot = tmp_path / "shot.png"
    command = [browser, *options, f"--screenshot={shot}", target.as_uri()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and "CONSOLE" not in ended.stderr
    assert shot.stat().st_size > 20_000
