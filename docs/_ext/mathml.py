"""Write formulas into the pages as MathML, which browsers draw by themselves.

latex2mathml does the translation. What it leaves for browsers to guess is settled here: limits
under operators, the space around names of functions, norms, and bold letters. A formula that it
cannot read, or a command that it does not know, is a warning of the build.
"""

import re
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

TAG = re.compile(r"\\tag\{([^}]*)\}")
OPERATOR = re.compile(r"\\operatorname\*?\{([^}]*)\}")
SAME = {
    r"{aligned}": r"{split}",
    r"{gathered}": r"{matrix}",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    r"\lvert": "|",
    r"\rvert": "|",
}
ENVIRONMENTS = {"split", "cases", "matrix", "pmatrix", "bmatrix", "align*", "array"}
WITH_LIMITS = {"min", "max", "inf", "sup", "lim", "argmin", "argmax"}
TIGHT = {"|", "‖", "⌊", "⌋", "⌈", "⌉", "/"}
SCRIPTS = {"msub", "msup", "msubsup", "munder", "munderover"}
NO_SPACE = {"lspace": "0", "rspace": "0"}
THIN = {"width": "0.167em"}
OPENING = tuple("([{|‖")
NAME = re.compile(r"[A-Za-z]{2,}")

logger = logging.getLogger(__name__)


def to_mathml(tex, display):
    """Return a formula as a MathML element."""
    tex = re.sub(r"\\arg\s*\\(min|max)", r"\\operatorname{arg\1}", tex)
    tex = OPERATOR.sub(lambda name: r"\operatorname{" + re.sub(r"\\.|\s", "", name[1]) + "}", tex)
    for given, known in SAME.items():
        tex = tex.replace(given, known)
    _refuse(tex)
    if r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    text = convert(tex, display=display).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    root = ElementTree.fromstring(text)
    unknown = [each.text for each in root.iter() if (each.text or "").startswith("\\")]
    if unknown:
        raise ValueError(f"{unknown[0]} is not known")
    for parent in list(root.iter()):
        _settle_names(parent)
        _settle_signs(parent)
        _settle_letters(parent)
    return root


def _refuse(tex):
    """Refuse what latex2mathml would draw wrongly without a word."""
    braces = re.sub(r"\\[{}]|[^{}]", "", tex)
    if braces.count("{") != braces.count("}"):
        raise ValueError("its braces do not match")
    for name in re.findall(r"\\begin\{([^}]*)\}", tex):
        if name not in ENVIRONMENTS:
            raise ValueError(f"the environment {name} is not known")


def _settle_names(parent):
    """Put limits under operators, and a thin space around names, but none before a bracket."""
    for child in list(parent):
        base = _base(child)
        if base.tag not in ("mi", "mo") or not NAME.fullmatch(base.text or ""):
            continue
        if child.tag == "msub" and base.text in WITH_LIMITS:
            child.tag = "munder"
            base.set("movablelimits", "true")
        if base.tag == "mo":
            base.attrib |= NO_SPACE
        if parent.tag in ("mrow", "mtd"):
            _space(parent, child)


def _space(parent, child):
    place = list(parent).index(child)
    after = "".join(parent[place + 1].itertext()) if place + 1 < len(parent) else "("
    if not after.startswith(OPENING):
        parent.insert(place + 1, ElementTree.Element("mspace", THIN))
    if place and parent[place - 1].tag != "mo":
        parent.insert(place, ElementTree.Element("mspace", THIN))


def _settle_signs(parent):
    """Take away the space around norms, slashes, signs of a number, and signs in scripts."""
    for script in list(parent)[1:] if parent.tag in SCRIPTS else []:
        for sign in script.iter("mo"):
            sign.attrib |= NO_SPACE
    before = ""
    for child in parent:
        base = _base(child)
        if base.text in TIGHT:
            base.tag = "mo"
            base.attrib |= NO_SPACE
        elif base.text in ("−", "+") and before in tuple("([{"):
            base.set("form", "prefix")
        before = base.text


def _settle_letters(parent):
    """Set accents close to their letter, and bold letters bold: browsers know no other variant."""
    for child in parent:
        if child.tag == "mover":
            child.set("accent", "true")
        if "bold" in child.get("mathvariant", ""):
            child.set("style", "font-weight: bold")


def _base(element):
    """Return what the scripts of an element belong to, or the element."""
    return element[0] if element.tag in SCRIPTS and len(element) else element


def _markup(node, display):
    tex = TAG.sub("", node.astext())
    try:
        return ElementTree.tostring(to_mathml(tex, display), encoding="unicode")
    except Exception as error:
        logger.warning("This formula cannot be drawn (%s): %s", error, tex, location=node)
        return ""


def visit_inline(self, node):
    """Write a formula in a line of text."""
    self.body.append(_markup(node, "inline"))
    raise nodes.SkipNode


def visit_block(self, node):
    r"""Write a formula of its own line, with the number of its label or of its ``\tag``."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f'<div class="formula">{_markup(node, "block")}</div>')
    tag = TAG.search(node.astext())
    if node["number"] or tag:
        number = get_node_equation_number(self, node) if node["number"] else tag[1]
        self.body.append(f'<span class="eqno">({number})')
        if node["number"]:
            self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Offer the renderer to Sphinx under the name "mathml"."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
