"""Builds the site: the pages of this folder, the API from its docstrings, the real help."""

import sys
from pathlib import Path

import fairtransport

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "fairtransport"
author = "The fairtransport developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = fairtransport.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "field_docs",
    "gallery",
    "notebook",
    "real_help",
    "schema_table",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext"]
suppress_warnings = ["myst.header"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True
default_role = "py:obj"  # names in docstrings lead to their pages
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "fairtransport"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it fetches pages, which browsers forbid on a disk
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
}


SHOWN_ELSEWHERE = {
    "](../CONTRIBUTING.md)": "](reference/contributing.md)",
}


def lead_to_the_site(_app, _page, text):
    """Lead links to files that are no pages of the site to the pages that show them."""
    for link, page in SHOWN_ELSEWHERE.items():
        text[0] = text[0].replace(link, page)


def setup(app):
    """Connect what is done to each page before it is read."""
    app.connect("source-read", lead_to_the_site)
