"""Axes and legends of figures with many methods."""

from typing import Any

from inldl.report.style import fitted_legend, shortened


def legend_over(axes, handles, width) -> float:
    """Put a legend at most `width` inches wide over one panel, and return its height."""
    return fitted_legend(axes, handles, width, loc="lower left", bbox_to_anchor=(0, 1))


def log_axis(axis) -> None:
    """Scale an axis (``axes.xaxis`` or ``axes.yaxis``) by powers of ten, after drawing on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = sorted(axis.get_view_interval())
    short = high / low < 100
    write = "{:g}".format if low >= 1e-3 and high < 1e5 else power
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if short else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    if short:
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def power(value) -> str:
    """Write 10⁻⁴ or 2.5·10⁵."""
    factor, exponent = f"{value:.3e}".split("e")
    factor = f"{float(factor):g}"
    superscript = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{'' if factor == '1' else factor + '·'}10{superscript}"


def line_handles(look) -> list[Any]:
    """Return what a legend shows: one line per look."""
    from matplotlib.lines import Line2D

    labels = zip(shortened(look), look.values(), strict=True)
    return [Line2D([], [], label=label, **line) for label, line in labels]
