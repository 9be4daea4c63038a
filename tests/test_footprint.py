"""What an import pulls in, and how much memory a fit takes; each in a process of its own."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest


def run(code, *arguments):
    """Run `code` in a fresh interpreter and return what it prints as JSON."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


STAGES = """
    import json, sys, warnings

    found = {}
    import inldl
    found["inldl"] = list(sys.modules)
    import inldl.datasets
    found["datasets"] = list(sys.modules)
    import numpy as np
    from inldl.methods import ConstantLDL
    from inldl_paper.literature import InLDLADMM, InLDLProx
    from inldl import WInLDL, evaluate, hide
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.full((20, 2), 0.5)
    ConstantLDL().fit(X, y).predict(X)
    found["constant"] = list(sys.modules)
    warnings.simplefilter("ignore")
    for method in (WInLDL, InLDLADMM, InLDLProx):
        method().fit(X, y).complete(X, y)
    found["fits"] = list(sys.modules)
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def loaded():
    """Return the modules that are loaded after each of several steps."""
    return {stage: set(modules) for stage, modules in run(STAGES).items()}


def test_import_is_light(loaded):
    heavy = {"dask", "matplotlib", "pandas", "numba", "sklearn", "scipy"}
    assert not heavy & loaded["inldl"]


def test_import_of_the_datasets_is_light(loaded):
    assert not {"pooch", "scipy.io", "rich", "urllib.request"} & loaded["datasets"]


def test_numba_waits_for_the_first_kernel(loaded):
    assert "numba" not in loaded["constant"]
    assert "numba" in loaded["fits"]


def test_dask_is_not_imported_for_arrays_in_memory(loaded):
    assert not {"dask", "distributed"} & loaded["fits"]


BESIDE = """
    import json, pkgutil, sys
    from importlib import import_module

    asked = []

    class Absent:
        # PyTorch as if it were not installed
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "torch":
                asked.append(name)
                raise ModuleNotFoundError(name)

    sys.meta_path.insert(0, Absent())
    # An import of the packages beside this one fails; whether they are there may be asked
    sys.modules |= dict.fromkeys(["inldl_paper", "inldl_studio", "inldl_torch"])
    import inldl

    names = sys.argv[1:] or [each.name for each in pkgutil.walk_packages(inldl.__path__, "inldl.")]
    for name in names:
        if name != "inldl.__main__":
            import_module(name)
    print(json.dumps([names, asked]))
"""


@pytest.mark.parametrize(
    "modules",
    [
        ["inldl.tables.tasks", "inldl.cli.app"],
        pytest.param([], marks=pytest.mark.slow, id="all"),
    ],
)
def test_nothing_imports_pytorch_or_the_packages_beside_this_one(modules):
    names, asked = run(BESIDE, *modules)
    assert set(modules) <= set(names)
    assert asked == []


MEMORY = """
    import json, sys, threading, time
    import numpy as np
    from inldl import WInLDL

    n, k, C = 400_000, 40, 10
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, k), dtype=np.float32).astype(sys.argv[1])
    y = np.full((n, C), 1 / C, dtype=sys.argv[1])
    y[::2, ::2] = np.nan
    WInLDL(max_iter=1).fit(X[:5000], y[:5000])

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    peak, done = [0], threading.Event()

    def watch():
        while not done.is_set():
            peak[0] = max(peak[0], resident())
            time.sleep(0.001)

    before = resident()
    watcher = threading.Thread(target=watch)
    watcher.start()
    WInLDL(max_iter=2, tol=0.0, n_jobs=int(sys.argv[2])).fit(X, y)
    done.set()
    watcher.join()
    print(json.dumps((peak[0] - before) / y.nbytes))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("dtype", "n_jobs"),
    [
        ("float64", 2),
        pytest.param("float64", 1, marks=pytest.mark.slow),
        pytest.param("float32", 1, marks=pytest.mark.slow),
    ],
)
def test_a_fit_takes_five_arrays_of_the_size_of_y_and_no_copy_of_X(dtype, n_jobs):
    assert run(MEMORY, dtype, n_jobs) < 5


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_DATA")
def test_a_memory_mapped_X_is_never_loaded(tmp_path):
    """X takes 2 GB on disk, all other memory together may take a quarter of that."""
    n, k, C = 700_000, 500, 3
    path = tmp_path / "X.dat"
    rows = np.random.default_rng(0).standard_normal((1000, k))
    with path.open("wb") as file:
        file.truncate(n * k * 8)  # a sparse file: zeros but for the rows written here
        for i in range(0, n, 50_000):
            file.seek(i * k * 8)
            file.write(rows.tobytes())
    result = run(
        """
        import json, resource, sys
        import numpy as np
        from inldl import WInLDL

        n, k, C = map(int, sys.argv[2:])
        y = np.tile(np.array([0.2, np.nan, 0.5]), (n, 1))
        y[::2] = [0.1, 0.3, 0.6]
        X = np.memmap(sys.argv[1], dtype=float, mode="r", shape=(n, k))
        model = WInLDL(max_iter=2, tol=0.0).fit(X[:5000], y[:5000])  # loads the compiled kernels
        with open("/proc/self/status") as status:
            used = next(int(l.split()[1]) for l in status if l.startswith("VmData")) * 1024
        limit = X.nbytes // 4
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        model.fit(X, y)
        P = model.predict(X)
        print(json.dumps([used / limit, float(abs(P.sum(axis=1) - 1).max())]))
        """,
        path,
        n,
        k,
        C,
    )
    used, error = result
    assert used < 1
    assert error < 1e-12
