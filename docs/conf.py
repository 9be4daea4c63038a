"""How the site is built: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# The pages describe these packages also where they are not installed.
sys.path.insert(0, str(Path(__file__).parents[1] / "packages/inldl-paper/src"))
sys.path.insert(0, str(Path(__file__).parents[1] / "packages/inldl-torch/src"))

import inldl

project = "inldl"
author = "The inldl developers"
version = release = inldl.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "own_members",
    "pictures",
    "reference_pages",
]
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
default_role = "py:obj"  # a name in single quotes leads to its page, if it has one

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
WITH_TORCH = find_spec("torch") is not None
autodoc_mock_imports = [] if WITH_TORCH else ["torch"]
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # those of a fit end in "_"
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    # Examples that need PyTorch are shown, and run where it is installed.
    "filename_pattern": "/plot_" if WITH_TORCH else "/plot_(?!with_torch)",
    "image_scrapers": ("pictures.show_figures",),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "min_reported_time": 3600,  # seconds of this machine say nothing
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"inldl {version}"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
pygments_dark_style = "github-dark"
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f9e", "color-brand-content": "#1f5f9e"},
    "dark_css_variables": {"color-brand-primary": "#7db4ea", "color-brand-content": "#7db4ea"},
}
