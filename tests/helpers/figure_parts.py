"""The parts of a figure, by what is written on them."""


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def legend_texts(owner):
    legend = owner.legends[0] if hasattr(owner, "legends") else owner.get_legend()
    return [text.get_text() for text in legend.get_texts()]


def tick_texts(axis):
    return [label.get_text() for label in axis.get_ticklabels()]
