"""Pages that the commands for tables write."""

from inldl.cli import _telling as tell

MOST_COLUMNS = 100  # that are shuffled for a page: more take too long


def write_completion_page(page, overwrite, table, out, model, written, learned):
    """Write the page of a completed table."""
    from inldl.report.table_pages import completion_page

    facts = [
        ("Table", table.name),
        ("Completed table", out.name),
        ("Method", str(model.method)),
        ("Rows", f"{written.n_rows:,}"),
        ("Filled degrees", f"{written.n_filled:,}"),
        ("Of these given by the sum of their row", f"{written.n_exact:,}"),
    ]
    exact = written.n_exact == written.n_filled
    judged = None if learned is None or exact else tell.judged_by(learned)[0]
    made = completion_page(
        f"{table.name}, completed",
        facts,
        [] if learned is None else learned.notes,
        written.before,
        written.after,
        list(written.after.columns),
        judged,
        None if exact else _influence(learned),
        summary=_summary(written, learned),
    )
    _write(made, page, overwrite)


def _summary(written, learned):
    """Return what is said first where no error is to be told."""
    if written.n_exact == written.n_filled:
        return " ".join(tell.what_was_filled(written))
    if learned is None:
        return (
            "A model that was fitted before has filled the table, so this page cannot tell how "
            "good the degrees are; the command inldl evaluate judges a model on known degrees."
        )
    return None


def write_model_page(page, overwrite, table, learned):
    """Write the page of a fitted model."""
    from inldl.report.table_pages import model_page

    total = learned.n_observed + learned.n_missing
    facts = [
        ("Table", table.name),
        ("Method", str(learned.model.method)),
        ("Rows", f"{learned.n_rows:,}"),
        ("Labels", ", ".join(learned.model.label_names_)),
        ("Missing degrees", f"{learned.n_missing / total:.1%}"),
    ]
    report = str(getattr(learned.model.estimator_, "report_", ""))
    title = f"A model of {table.name}"
    made = model_page(title, facts, learned.notes, learned.new_rows, _influence(learned), report)
    _write(made, page, overwrite)


def write_prediction_page(page, overwrite, table, out, model, written):
    """Write the page of predicted rows."""
    from inldl.report.table_pages import prediction_page

    facts = [
        ("Table", table.name),
        ("Predicted table", out.name),
        ("Method", str(model.method)),
    ]
    labels, title = list(written.after.columns), f"{table.name}, predicted"
    _write(prediction_page(title, facts, written.n_rows, written.after, labels), page, overwrite)


def write_evaluation_page(page, overwrite, table, model, found):
    """Write the page of a model that was judged on a table."""
    import pandas as pd

    from inldl.report.table_pages import evaluation_page

    metrics = pd.DataFrame({"model": found.metrics, "constant mean": found.constant})
    facts = [
        ("Table", table.name),
        ("Method", str(model.method)),
        ("Rows", f"{found.n_rows:,}"),
    ]
    made = evaluation_page(f"The model on {table.name}", facts, [], metrics, found.held_out)
    _write(made, page, overwrite)


def write_inspection_page(page, overwrite, table, read, found):
    """Write the page of a table that was looked at."""
    import numpy as np

    from inldl.report.table_pages import inspection_page

    _write(inspection_page(found, ~np.isnan(read.y), f"A look at {table.name}"), page, overwrite)


def write_comparison_page(page, overwrite, table, found):
    """Write the page of compared methods."""
    from inldl.report.table_pages import comparison_page

    _write(comparison_page(found, f"Methods for {table.name}"), page, overwrite)


def _influence(learned):
    if learned is None or len(learned.model.encoder_.columns_) > MOST_COLUMNS:
        return None
    with tell.working("Measuring the influence of the columns"):
        return learned.influence()


def _write(page, path, overwrite):
    with tell.working("Drawing"):
        page.write(path, overwrite=overwrite)
    tell.say(f"Wrote {path}")
