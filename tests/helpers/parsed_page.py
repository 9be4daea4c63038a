"""Pages as a browser sees them."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "use", "path"}


class Document(HTMLParser):
    """What a browser would see: the tags, texts, tables and the data."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.tables, self.data = [], [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.data += text if self.tags[-1][1].get("id") == "views" else ""
        elif self.open and self.open[-1] != "style":
            self.texts.append(text)
            if {"td", "th"} & set(self.open[-2:]):
                self.tables[-1][-1][-1] += text

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())
