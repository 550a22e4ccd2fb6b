"""The page of a clustering: parsed, its pictures decoded, its colors measured, and opened where there is a browser."""

import base64
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlsplit
from urllib.request import url2pathname

import networkx as nx
import numpy as np
import pytest
from cases import refuses

import graphclust
from graphclust.faces.html.document import STYLE
from graphclust.faces.html.figures import COLOR, FAINTEST, as_data_uri, clusters_of_leaves, strengths
from graphclust.faces.plots.clusters import block_raster, nearest_clusters

VOID = {"meta", "link", "img", "input"}
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


def test_nothing_comes_from_elsewhere_and_the_only_script_is_the_one_that_the_policy_names(page):
    parsed = Parsed(page)
    addresses = [
        value for _, attributes in parsed.tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert addresses and all(address.startswith("data:") for address in addresses)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:|\son\w+=", page)
    assert {tag for tag, _ in parsed.tags} & {"iframe", "object", "embed", "base", "form"} == set()
    policy = next(tag["content"] for tag in parsed.all("meta") if tag.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    (script,) = parsed.texts["script"]
    assert parsed.all("script") == [{}] and page.count("<script") == 1
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_names_are_text_and_nothing_else(clustering, page):
    parsed = Parsed(page)
    assert parsed.texts["title"][0] == parsed.texts["h1"][0] == f"File {EVIL}.mtx"
    leading = [row[5] for row in parsed.tables[0][1:]]
    assert sum(EVIL in cell for cell in leading) == 1
    assert not any("x" * 41 in cell for cell in leading) and any("x" * 39 + "…" in cell for cell in leading)


def test_every_member_is_listed_in_its_cluster(clustering, page):
    lists = re.findall(r'<details class="members"><summary>(.*?)</summary><ul>(.*?)</ul>(.*?)</details>', page)
    assert [head for head, _, _ in lists] == [f"Cluster {c}: {size} nodes" for c, size in enumerate(clustering.sizes)]
    for community, (_, names, more) in zip(clustering.communities(), lists, strict=True):
        assert set(Parsed(f"<ul>{names}</ul>").texts["li"]) == {str(node) for node in community} and more == ""


def test_the_table_of_labels_is_one_that_read_labels_reads(clustering, page, tmp_path):
    (link,) = (tag for tag in Parsed(page).all("a") if tag.get("download") == "labels.csv")
    file = tmp_path / "labels.csv"
    file.write_bytes(base64.b64decode(link["href"].removeprefix("data:text/csv;base64,")))
    nodes, labels = graphclust.read_labels(file)
    assert dict(zip(nodes, labels.tolist(), strict=True)) == clustering.as_dict()
    assert file.read_text().startswith("node,cluster\n")


def test_of_large_graphs_the_first_members_are_listed(clustering, monkeypatch):
    monkeypatch.setattr("graphclust.faces.html.document.MOST_MEMBERS", 12)
    page = graphclust.report_page(clustering)
    assert "and 20 more, of lower degree" in page and "download=" not in page
    assert len(re.findall("<li>", page.split("Find a member")[1].split("<script>")[0])) == 12
    monkeypatch.setattr("graphclust.faces.html.document.MOST_MEMBERS", 5)
    assert "6 clusters: too many to list their members here" in graphclust.report_page(clustering)


def test_every_part_is_there_and_can_be_found_by_its_heading(page):
    parsed = Parsed(page)
    sections = [attributes["aria-labelledby"] for attributes in parsed.all("section")]
    assert sections == ["clusters", "members", "adjacency", "quotient", "graph", "assumed", "made"]
    assert [heading["id"] for heading in parsed.all("h2")] == sections and len(parsed.all("h1")) == 1
    assert parsed.all("html")[0]["lang"] == "en"
    assert all(image.get("alt") for image in parsed.all("img"))
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in parsed.all("svg"))
    assert all(cell.get("scope") in ("row", "col") for cell in parsed.all("th"))
    assert any(meta.get("name") == "viewport" for meta in parsed.all("meta"))
    assert "prefers-color-scheme: dark" in page


def test_the_table_holds_the_figures_of_the_clusters(clustering, page):
    head, *rows = Parsed(page).tables[0]
    columns = ["cluster", "nodes", "share", "links that leave", "nearest", "nodes of most links", "links in all"]
    assert head == [*columns, "fewest links to cut"]
    assert [float(row[7]) for row in rows] == clustering.min_cuts.tolist()
    assert [int(row[1]) for row in rows] == clustering.sizes.tolist()
    leaving = [graphclust.edge_cut(clustering.graph, clustering.labels == c) for c in range(6)] / clustering.volume
    assert [row[3] for row in rows] == [f"{share:.1%}" for share in leaving]
    assert [int(row[4]) for row in rows] == nearest_clusters(clustering).tolist()
    assert [float(row[6].replace(",", "")) for row in rows] == pytest.approx(clustering.volume)
    by_degree = np.argsort(-clustering.graph.degrees, kind="stable")
    for c, row in enumerate(rows):
        names = [str(clustering.nodes[node]) for node in by_degree if clustering.labels[node] == c][:4]
        assert row[5] == ", ".join(name if len(name) < 40 else name[:39] + "…" for name in names)
    text = " ".join(Parsed(page).texts["dd"])
    inside = 1 - clustering.edge_cut * 2 / clustering.graph.total_volume
    assert f"{clustering.modularity:.4f}" in text and f"{inside:.1%}" in text


def test_large_weights_and_single_nodes_are_said_in_plain_words():
    graph = nx.disjoint_union_all([nx.complete_graph(5), nx.complete_graph(5), nx.empty_graph(3)])
    nx.set_edge_attributes(graph, 123456.0, "weight")
    with pytest.warns(graphclust.GraphWarning):
        page = graphclust.report_page(graphclust.communities(graph, rng=0))
    parsed = Parsed(page)
    assert parsed.tables[0][1][-2] == "2,469,120" and "e+0" not in "".join(parsed.texts["td"])
    assert list(zip(parsed.texts["dt"], parsed.texts["dd"], strict=True))[:2] == [
        ("clusters", "2"), ("clusters of a single node", "3"),
    ]  # fmt: skip


def test_remarks_settings_and_stages_are_said(clustering, page):
    matrix = nx.to_scipy_sparse_array(nx.disjoint_union(nx.path_graph(6), nx.empty_graph(2)))
    with pytest.warns(graphclust.GraphWarning):
        with_isolated = graphclust.coreset_sc(matrix, 2, rng=0)
    said = " ".join(Parsed(graphclust.report_page(with_isolated)).texts["li"])
    assert with_isolated.remarks and all(remark in said for remark in with_isolated.remarks)
    *_, settings, stages = Parsed(graphclust.report_page(clustering, command="graphclust cluster 'a b'")).tables
    assert ["command", "graphclust cluster 'a b'"] in settings
    assert ["objective", "modularity"] in settings and [row[0] for row in stages[1:]] == list(clustering.seconds)


@pytest.fixture(scope="module")
def full_page(clustering):
    path = graphclust.cluster_path(clustering.graph, range(1, 9), rng=0)
    sure = clustering.certainty(n_repeats=1, rng=0)
    return path, sure, graphclust.report_page(clustering, certainty=sure, path=path)


def test_stability_and_undecided_nodes_are_in_the_table(clustering, full_page):
    _, sure, page = full_page
    head, *rows = Parsed(page).tables[0]
    assert head[3:7] == ["links that leave", "stability", "undecided", "nearest"]
    assert [float(row[4]) for row in rows] == sure.stability.round(2).tolist()
    assert [int(row[5]) for row in rows] == [int(sure.undecided[clustering.labels == c].sum()) for c in range(6)]
    without = graphclust.report_page(clustering, certainty=clustering.certainty())
    assert Parsed(without).tables[0][0][3:6] == ["links that leave", "undecided", "nearest"]
    other = graphclust.coreset_sc(clustering.graph, 3, rng=0)
    with pytest.raises(graphclust.GraphValidationError, match=r"certainty is of \(77, 6\) nodes and clusters"):
        graphclust.report_page(other, certainty=sure)
    elsewhere = nx.ring_of_cliques(3, 4)
    for name, found in {"path": graphclust.cluster_path, "hierarchy": graphclust.hierarchy}.items():
        with pytest.raises(graphclust.GraphValidationError, match=f"{name} is of 12 nodes, expected .* 77$"):
            graphclust.report_page(clustering, **{name: found(elsewhere, rng=0)})


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


def test_levels_are_boxes_below_the_clusters_they_are_in(clustering):
    levels = graphclust.hierarchy(clustering.graph, max_size=10, rng=0)
    parsed = Parsed(graphclust.report_page(levels.cut(len(levels.ids[0])), hierarchy=levels))
    assert "levels" in [attributes["aria-labelledby"] for attributes in parsed.all("section")]
    table = next(table for table in parsed.tables if table[0][0] == "level")
    assert [[int(cell) for cell in row] for row in table[1:]] == [
        [depth, sizes.size, sizes.max(), int(np.median(sizes))]
        for depth, sizes in enumerate(map(levels.sizes_on, range(len(levels.levels))))
    ]
    boxes = [{name: float(box[name]) for name in ("x", "y", "width")} for box in parsed.all("rect")]
    named = [text.split() for text in parsed.texts["title"] if text.startswith("cluster") and " on level " in text]
    assert len(boxes) == len(named) == sum(len(ids) for ids in levels.ids)
    place = {(int(words[4].rstrip(":")), int(words[1])): box for words, box in zip(named, boxes, strict=True)}
    for depth in range(1, len(levels.levels)):
        for cluster, parent in enumerate(levels.parents[depth].tolist()):
            box = place[depth, int(levels.ids[depth][cluster])]
            above = place[depth - 1, int(levels.ids[depth - 1][parent])]
            assert above["x"] - 0.1 <= box["x"] and box["x"] + box["width"] <= above["x"] + above["width"] + 0.1
            assert box["y"] > above["y"]
    refuses(TypeError, "hierarchy is a list", graphclust.report_page, clustering, hierarchy=[])


def test_leaves_of_the_tree_name_clusters_of_the_page(clustering, full_page):
    path, _, page = full_page
    fine = path[8].labels
    expected = [int(np.bincount(clustering.labels[fine == leaf]).argmax()) for leaf in range(8)]
    said = re.findall(r"<title>(\d+): mostly cluster (\d+)</title>", page)
    assert sorted((int(leaf), int(cluster)) for leaf, cluster in said) == list(enumerate(expected))
    parsed = Parsed(page)
    below = {text["x"] for text in parsed.all("text") if text.get("class") == "cluster"}
    ends = [point.split(",") for line in parsed.all("polyline")[1:] for point in line["points"].split()]
    assert below == {x for x, y in ends if float(y) == max(float(y) for _, y in ends)} and len(below) == 8
    union = clusters_of_leaves(path, [8], clustering)  # the first two that are united
    both = np.isin(fine, path.tree()[0, :2])
    assert union == [np.bincount(clustering.labels[both]).argmax()]


def test_one_natural_range_is_said(full_page, clustering, page):
    low, high = clustering.natural_range
    assert f"natural from {low:.3g} to {high:.3g}" in page
    assert f"natural from {low:.3g} to {high:.3g}" not in full_page[2]


def decoded(uri: str) -> np.ndarray:
    """The opacity of the pixels of a PNG, 0 to 255, all of one color."""
    image = pytest.importorskip("PIL.Image")  # comes with matplotlib
    file = io.BytesIO(base64.b64decode(uri.removeprefix("data:image/png;base64,")))
    pixels = np.asarray(image.open(file).convert("RGBA"))
    assert (pixels[..., :3] == COLOR).all()
    return pixels[..., 3]


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
    refuses(FileExistsError, None, graphclust.write_report, target, clustering)
    graphclust.write_report(target, clustering, title="another", overwrite=True)
    assert "<h1>another</h1>" in target.read_text() and os.listdir(tmp_path) == ["report.html"]
    refuses(TypeError, "clustering is a ndarray, expected a Clustering", graphclust.report_page, clustering.labels)


OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=8000")
PICTURES = pathlib.Path(__file__).parents[3] / "docs" / "pictures"  # which the gallery shows
LOOK = """<!DOCTYPE html><body style="margin:0">
<iframe src="$page" width="$width" height="900" style="border:0"></iframe><script>
addEventListener("load", () => setTimeout(() => {
  const page = document.querySelector("iframe").contentDocument, query = page.getElementById("query");
  const lists = [...page.querySelectorAll("details.members")];
  if (query) { query.value = "cosette"; query.dispatchEvent(new Event("input")); }
  document.body.dataset.said = JSON.stringify({
    content: page.documentElement.scrollWidth, ground: getComputedStyle(page.body).backgroundColor,
    found: query ? page.getElementById("found").textContent : "",
    open: lists.filter(one => one.open).length, shown: lists.filter(one => !one.hidden).length,
    links: [...page.querySelectorAll("main a[href]")].map(one => one.href),
  });
}, 1000));
</script></body>"""


def look_at(browser, page, folder, width, dark):
    """What a page in a frame of this width says, since no window is narrower than 500; a picture of it is kept."""
    frame = folder / "frame.html"
    frame.write_text(LOOK.replace("$page", page.as_uri()).replace("$width", str(width)))
    theme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    PICTURES.mkdir(exist_ok=True)
    shot = PICTURES / f"{page.stem}-{width}-{'dark' if dark else 'light'}.png"
    shot.unlink(missing_ok=True)
    looks = [theme, "--allow-file-access-from-files", f"--window-size={max(width, 500)},900", f"--screenshot={shot}"]
    command = [browser, *OPTIONS, *looks, "--dump-dom", frame.as_uri()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and not re.search("CONSOLE.*(Uncaught|Refused|ERR_)", ended.stderr), ended.stderr
    assert shot.read_bytes().startswith(b"\x89PNG") and shot.stat().st_size > 10_000
    (said,) = re.findall(r'data-said="([^"]*)"', ended.stdout)
    return json.loads(unescape(said))


@pytest.fixture
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("chromium is not installed")
    return found


@pytest.mark.slow
def test_a_browser_has_nothing_to_complain_of(clustering, browser, tmp_path):
    target = tmp_path / "report.html"
    graphclust.write_report(target, clustering, title=EVIL)
    shot = tmp_path / "shot.png"
    command = [browser, *OPTIONS, "--window-size=1280,2000", f"--screenshot={shot}", target.as_uri()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and "CONSOLE" not in ended.stderr
    assert shot.stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_overflows_and_a_member_is_found(full_page, browser, tmp_path, width, dark):
    target = tmp_path / "page.html"
    target.write_text(full_page[2])
    said = look_at(browser, target, tmp_path, width, dark)
    assert said["content"] <= width
    assert (said["found"], said["open"], said["shown"]) == ("1 member", 1, 1)
    assert (said["ground"] != "rgb(255, 255, 255)") == dark


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_first_page_of_the_site_fits_and_leads_on(browser, tmp_path, width, dark):
    start = pathlib.Path(__file__).parents[3] / "docs" / "_build" / "index.html"
    if not start.exists():
        pytest.skip("the site is not built")
    said = look_at(browser, start, tmp_path, width, dark)
    assert said["content"] <= width
    paths = [pathlib.Path(url2pathname(urlsplit(link).path)) for link in said["links"] if link.startswith("file:")]
    assert len(paths) > 6 and all(path.exists() for path in paths)


def test_names_and_a_title_that_are_no_unicode_are_shown_as_they_are_escaped(tmp_path):
    halves = nx.relabel_nodes(nx.barbell_graph(3, 0), {0: "\ud800x", 1: "\udc80y"})
    graphclust.write_report(tmp_path / "p.html", graphclust.coreset_sc(halves, 2, rng=0), title="\udcff.txt")
    page = (tmp_path / "p.html").read_text()
    assert "<h1>\\udcff.txt</h1>" in page and "<li>\\ud800x</li>" in page and "<li>\\udc80y</li>" in page
    assert "download=" not in page and "half of a character" in page
