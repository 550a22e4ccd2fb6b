"""How the site is built: `python -m sphinx -W docs docs/_build`, without the internet."""

import pathlib
import sys

import graphclust

sys.path.insert(0, str(pathlib.Path(__file__).parent / "extensions"))

project = "graphclust"
author = "The graphclust developers"
copyright = "2026, the graphclust developers"
version = release = graphclust.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",  # formulas are drawn without the internet, too
    "docstrings",
    "pages",
]
exclude_patterns = ["_build", "_templates", "jupyter_execute", "**/.ipynb_checkpoints"]

# Pages run when the site is built; a cell that fails ends the build. Notebooks are shown as they were stored.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # the first cell of all may compile
nb_execution_excludepatterns = ["gallery/*"]
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

# Of a class the methods and properties; the text of a docstring names its fields.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("GraphLike", "LabelsLike", "PointsLike", "ProgressLike", "Seed")}
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
templates_path = ["_templates"]
default_role = "py:obj"
# Where two names differ by their case alone, some file systems would keep one page for both.
_lower = [name.lower() for name in graphclust.__all__]
autosummary_filename_map = {
    f"graphclust.{name}": f"graphclust.{name}-class"
    for name in graphclust.__all__
    if _lower.count(name.lower()) > 1 and name != name.lower()
}

html_theme = "pydata_sphinx_theme"
html_title = "graphclust"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]  # for assistants of users
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "coming-from": [], "benchmarks": [], "records": [], "changelog": []}

# `sphinx -b linkcheck` follows the links of the pages; these answer programs differently from people.
linkcheck_ignore = [r"https://doi\.org/.*"]
linkcheck_timeout = 20
