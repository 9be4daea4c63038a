"""Make drawings small, so that many of them fit into one page."""

import re

_TOKEN = re.compile(r"<[^<>]*>")
_DECIMALS = re.compile(r"(?<![#\w])(-?\d+\.\d\d)\d+")
_ID = re.compile(r"f[0-9a-f]{8}-[\w-]+")
_GROUP = re.compile(r"<g( [^<>]*[^/<>])?>")
_STYLE = re.compile(r' style="([^"]*)"')
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^"]*"')


def compact(text, prefix):
    """Return a drawing that looks the same and is a third as long.

    Numbers keep two decimals, ids become short, each style is written once, and groups without
    a meaning are left out. Texts stay as they are.

    Parameters
    ----------
    text : str
        An ``<svg>`` element, see `inldl.report.svg`.
    prefix : str
        A word that no other drawing on the page has: ids and classes start with it.
    """
    root, rest = text.split(">", 1)
    styles, ids = {}, {}

    def shorter(token):
        tag = " ".join(_NO_TURN.sub("", _DECIMALS.sub(r"\1", token[0])).split())
        tag = _ID.sub(lambda found: ids.setdefault(found[0], f"{prefix}{len(ids)}"), tag)
        return _STYLE.sub(
            lambda found: f' class="{styles.setdefault(found[1], f"{prefix}s{len(styles)}")}"', tag
        )

    body = _without_empty_groups(_TOKEN.sub(shorter, rest))
    rules = "".join(f".{name}{{{_rule(style)}}}" for style, name in styles.items())
    return f"{root}><style>{rules}</style>{body}"


def _rule(style):
    return style.replace("; ", ";").replace(": ", ":")


def _without_empty_groups(text):
    """Leave out groups that have no attributes, and white space between tags."""
    kept = []

    def keep(token):
        if token[0] == "<g/>":
            return ""
        if _GROUP.fullmatch(token[0]):
            kept.append(token[0] != "<g>")
            return token[0] if kept[-1] else ""
        if token[0] == "</g>" and not kept.pop():
            return ""
        return token[0]

    lines = (line.strip() for line in text.splitlines())
    return _TOKEN.sub(keep, "".join(lines))
