"""Configuration of Sphinx for `make site`; tools/build_site.py stages the pages."""

import os

project = "tidscope"
author = "the tidscope authors"
release = os.environ["TIDSCOPE_SITE_VERSION"]
version = release
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
nitpicky = True

# Anchors as GitHub makes them, so that links hold in both places.
myst_heading_anchors = 5
myst_number_code_blocks: list[str] = []

html_theme = "furo"
html_title = f"tidscope {release}"
html_favicon = "../../frontend/src/app/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
# Frames of code with a language that Pygments does not know stay plain.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]
