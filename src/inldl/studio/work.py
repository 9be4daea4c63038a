"""What is done with a table: the functions that the commands call, and files for the page."""

import zipfile
from dataclasses import replace
from pathlib import Path

from inldl.files.model_file import load_model, save_model
from inldl.progress import heard_by
from inldl.report.pages.advice import comparison_page, questions_page
from inldl.report.pages.inspection import inspection_page
from inldl.report.pages.table import completion_page, prediction_page
from inldl.studio import settings as options
from inldl.studio.views import cell_form, completed_cells, write_grid, write_result
from inldl.tables import TableFile
from inldl.tables.ask import ASKING
from inldl.tables.comparison import COMPARING, CONSTANT, DEFAULT, compare_file
from inldl.tables.features import suggest_roles
from inldl.tables.formats.registry import plain_name
from inldl.tables.gathering import gathered
from inldl.tables.inspect import inspect_file
from inldl.tables.options import AskOptions, ScaleOptions, ShareOptions, names
from inldl.tables.questions import Answers, ask_table
from inldl.tables.tasks import (
    check_completion,
    complete_table,
    draw_paths,
    fit_table,
    method_for,
    predict_table,
)
from inldl.tables.writing import write_edited, write_frame

COVERAGE = 0.9  # of the intervals on the page
MOST_SHEET_ROWS = 1_048_575  # that fit into an Excel sheet below a header
QUESTIONS = 100  # that the page of a list shows
ENDS = ["estimate", "low", "high"]


class Job:
    """A task, with its files and a way to tell how far it is."""

    def __init__(self, task, teller, warned):
        self.task, self.tell, self._warned = task, teller, warned
        self.settings, self.folder = task["settings"], Path(task["folder"])
        self.path = Path(task["file"])
        self.name = self.path.name

    def open(self):
        """Return the table, with the cells that the user has edited."""
        labels, columns = options.labels(self.settings), options.columns(self.settings)
        file = TableFile(self.path, labels, columns)
        if not self.task["edits"]:
            return file
        copy = self.folder / "file" / self.name
        copy.parent.mkdir()
        write_edited(file, copy, self.task["edits"])
        return TableFile(copy, labels, columns)

    def out(self, word, suffix=None):
        """Return a path for a file to write, named after the table."""
        plain = plain_name(Path(self.name))
        ending = self.name.removeprefix(plain.stem) if suffix is None else suffix
        path = self.folder / "files" / f"{plain.stem}-{word}{ending}"
        path.parent.mkdir(exist_ok=True)
        return path

    def finish(self, document=None, files=None, **more):
        """Keep what was found."""
        write_result(self.folder, document, files or {}, warned=self._warned, **more)


def look(task, teller, warned):
    """Find out what the columns of a table seem to be."""
    job = Job(task, teller, warned)
    teller.step("Reading", 1)
    long = job.settings["long"] or None
    file = TableFile(job.path, None, options.reading(job.settings), long=long)
    found = suggest_roles(file)
    columns = found.columns.astype(object).to_dict("records")
    job.finish(columns=columns, n_rows=found.n_rows, notes=found.notes)


def inspect(task, teller, warned):
    """Look at the shares of a table."""
    job = Job(task, teller, warned)
    teller.step("Reading", 3)
    file = job.open()
    found, read, notes = inspect_file(file, ScaleOptions.of(options.learning(job.settings)))
    teller.step("Preparing the rows")
    write_grid(job.folder, file, read.scale, done=teller.share)
    teller.step("Drawing")
    known = read.degrees.notna().to_numpy()
    job.finish(inspection_page(found, known, f"A look at {job.name}", notes), scale=read.scale)


def complete(task, teller, warned):
    """Fill in the missing shares, and keep all that comes of it."""
    job = Job(task, teller, warned)
    teller.step("Reading", 6)
    file, settings = job.open(), job.settings
    learning, filling = options.learning(settings), options.filling(settings)
    method = method_for(settings["method"], learning, file.options, filling)
    coverage = None if settings["ratios"] else COVERAGE
    plain = job.out("completed")
    detailed = job.out("completed-with-intervals" if coverage else "completed-with-marks")
    added = replace(filling, coverage=coverage, mark=True, n_draws=0)
    check_completion(file, plain, filling)
    check_completion(file, detailed, added)
    teller.step(f"Learning with {settings['method']}")
    with heard_by(teller.detail):
        learned = fit_table(file, method, learning)
    how = {"scale": learned.scale, "holes": learned.holes, "done": teller.share}
    how["normalize"] = settings["normalize"]
    teller.step("Filling in")
    complete_table(file, learned.model, plain, filling, **how)
    files = {"table": plain} | _draws(plain, filling.n_draws)
    teller.step("Measuring how sure it is" if coverage else "Marking what was filled in")
    with completed_cells(job.folder, rescaled=settings["ratios"]) as add:
        written = complete_table(file, learned.model, detailed, added, **how, each=add)
    teller.step("Preparing the rows")
    shown = {"completed": True, "intervals": bool(coverage)}
    write_grid(job.folder, file, learned.scale, **shown, done=teller.share)
    teller.step("Drawing the report")
    files |= {"detailed" if coverage else "marked": detailed}
    files |= {"model": job.out("model", ".inldl"), "report": job.out("report", ".html")}
    save_model(learned.model, files["model"], info=learned.info(job.name))
    document = completion_page(
        written, learned, learned.model, job.name, plain.name, learned.influence()
    )
    document.write(files["report"])
    unasked = ASKING if settings["ratios"] else ""
    job.finish(document, files, scale=learned.scale, unasked=unasked)


def _draws(plain, n_draws):
    """Pack the draws of a completed table into one file, by its name in the result."""
    if not n_draws:
        return {}
    packed = plain.with_name(f"{plain_name(plain).stem}-draws.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for path in draw_paths(plain, n_draws):
            file.write(path, path.name)
            path.unlink()
    return {"draws": packed}


def ask(task, teller, warned):
    """List which missing shares to ask for, with the model of a completed table."""
    job = Job(task, teller, warned)
    teller.step("Reading", 1)
    file, model = job.open(), load_model(task["model"])
    out, cost = job.out("questions", ".csv"), options.one(job.settings, "price")
    wanted = {name: task[name] for name in names(AskOptions) if name in task}
    how = {"scale": task["scale"], "normalize": job.settings["normalize"]}
    asking = AskOptions(**wanted, cost=cost)
    found = ask_table(file, model, out, asking, **how, done=teller.share)
    document = questions_page(found, model, job.name, out.name, most=QUESTIONS)
    job.finish(document, {"questions": out}, **_questions(found.table, task["scale"]))


def _questions(table, scale):
    """Return the questions as the page shows them."""
    ids = list(table.columns[2 : table.columns.get_loc("label")])
    ends = {name: table[name].map(f"{{:{cell_form(scale)}}}".format) for name in ENDS}
    shown = table[["row", *ids, "label"]].assign(**ends)
    return {"questions": shown.astype(object).to_dict("records"), "ids": ids}


def answers(task, teller, warned):
    """Read the answers in a list of questions that was filled in elsewhere."""
    job = Job(task, teller, warned)
    teller.step("Reading", 1)
    found = Answers(Path(task["other"]), job.open())
    job.finish(answers=found.cells(task["scale"]))


def compare(task, teller, warned):
    """Find the method that suits the table."""
    job = Job(task, teller, warned)
    if job.settings["ratios"]:
        raise ValueError(COMPARING)
    file, wanted = job.open(), task["methods"] or list(DEFAULT)
    teller.step("Comparing methods", 1)
    total, done = len({*wanted, CONSTANT}), []

    def one_more(name):
        done.append(name)
        teller.detail(f"{name} ({len(done)} of {total})", len(done) / total)

    shares = ShareOptions.of(options.learning(job.settings))
    found, notes = compare_file(file, wanted, shares, done=one_more)
    document = comparison_page(found, f"Methods for {job.name}", notes)
    job.finish(document, recommended=str(found.recommended))


def predict(task, teller, warned):
    """Predict the rows of another table."""
    job = Job(task, teller, warned)
    teller.step("Predicting", 2)
    model, path = load_model(task["model"]), Path(task["other"])
    job.name = path.name
    file = TableFile(path, None, options.reading(job.settings))
    out = job.out("predicted")
    coverage = None if model.known == "ratios" else COVERAGE
    written = predict_table(file, model, out, coverage=coverage, done=teller.share)
    teller.step("Drawing the report")
    files = {"predicted": out, "report": job.out("report", ".html")}
    document = prediction_page(written, model, file.path.name, out.name, file.notes)
    document.write(files["report"])
    job.finish(document, files)


def export(task, teller, warned):
    """Write a finished table as another kind of file."""
    job = Job(task, teller, warned)
    teller.step("Reading", 2)
    source = Path(task["file"])
    file = TableFile(source, None, options.reading(job.settings))
    _, frame, _, _ = gathered(file)
    if task["suffix"] == ".xlsx" and len(frame) > MOST_SHEET_ROWS:
        raise ValueError(
            f"An Excel sheet holds {MOST_SHEET_ROWS:,} rows, and the table has {len(frame):,}; "
            "download the CSV file."
        )
    teller.step("Writing")
    out = job.folder / "files" / f"{plain_name(source).stem}{task['suffix']}"
    out.parent.mkdir()
    write_frame(frame[file.source.names], out)
    job.finish(files={"table": out})


TASKS = {
    "look": look,
    "inspect": inspect,
    "complete": complete,
    "ask": ask,
    "answers": answers,
    "compare": compare,
    "predict": predict,
    "export": export,
}
