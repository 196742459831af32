"""How scripts/docs_site.py builds the site with Sphinx. Nothing here may load from elsewhere."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
CARGO = tomllib.loads((HERE.parents[1] / "Cargo.toml").read_text(encoding="utf-8"))

project = "Slipring"
version = release = CARGO["workspace"]["package"]["version"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 6
# A block may show what is not quite JSON ("..."), and headings may skip a level under an example.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_theme = "furo"
html_title = f"Slipring {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
smartquotes = False  # they would turn --option into a dash
html_copy_source = html_show_search_summary = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
