"""Parquet files and Excel sheets: rows in, rows out."""

import json
from contextlib import contextmanager

import numpy as np

from inldl.io._sheets import open_sheet, sheet_writer
from inldl.io._sources import FrameSource

BATCH = 1 << 16  # rows of a piece of a Parquet file


def open_source(path, kind):
    """Return the source of a Parquet or an Excel file."""
    opener, package = {"parquet": (_parquet, "pyarrow"), "excel": (open_sheet, "openpyxl")}[kind]
    try:
        return opener(path)
    except ImportError:
        raise ImportError(
            f"{path.suffix} files need {package}: pip install 'inldl[parquet]'"
        ) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{path} cannot be read as {path.suffix}: {error}") from None
    except Exception as error:  # each engine has errors of its own
        raise ValueError(f"{path} cannot be read as {path.suffix}: {error}") from None


def _parquet(path):
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    index, sound = _index_columns(schema)
    names = [name for name in schema.names if name not in index]

    def batches(chosen=None):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=chosen):
                part = batch.select(names if chosen is None else chosen)
                yield (part if sound else part.replace_schema_metadata()).to_pandas(), batch

    return FrameSource(names, batches, n_rows, [n for n in names if _can_hold_text(schema, n)])


def _can_hold_text(schema, name):
    import pyarrow as pa

    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _index_columns(schema):
    """Return the columns that pandas wrote for an index, and whether its notes make sense.

    Other programs write such notes, too, and leave out what pandas needs.
    """
    try:
        pandas = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = [name for name in pandas.get("index_columns", []) if isinstance(name, str)]
        schema.empty_table().to_pandas()
    except Exception:
        return [], False
    return index, True


@contextmanager
def frame_writer(file, part, filled, extra):
    """Give a function that writes pieces of a Parquet or Excel file to `part`.

    It takes the raw rows, a dict of fills for the labels in `filled` (NaN where nothing is to be
    filled), and a dict of the values of the columns in `extra`.
    """
    with (_parquet_writer if file.format.kind == "parquet" else sheet_writer)(
        file, part, filled, extra
    ) as write:
        yield write


@contextmanager
def _parquet_writer(file, part, filled, extra):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path) as source:
        schema, metadata = source.schema_arrow, source.metadata
        codec = "snappy"
        if metadata.num_row_groups and metadata.num_columns:
            codec = metadata.row_group(0).column(0).compression.lower()
    for name in filled:
        at = schema.get_field_index(name)
        schema = schema.set(at, pa.field(name, _filled_type(schema.field(at).type)))
    for name in extra:
        schema = schema.append(pa.field(name, pa.float64()))
    decimal = file.format.decimal
    codec = "none" if codec == "uncompressed" else codec
    with pq.ParquetWriter(part, schema, compression=codec) as writer:

        def write(batch, fills, values):
            arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name, fill in fills.items():
                arrays[name] = _with_fills(arrays[name], fill, schema.field(name).type, decimal)
            arrays |= {name: pa.array(each, from_pandas=True) for name, each in values.items()}
            columns = [arrays[field.name].cast(field.type) for field in schema]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))

        yield write


def _filled_type(kind):
    """Return the type of a label column once its holes are filled."""
    import pyarrow as pa

    kept = pa.types.is_floating(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return kind if kept else pa.float64()


def _with_fills(column, fill, kind, decimal):
    """Return a column with the fills in place of its holes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(column.type):  # as it was read: a cast can miss the last bit
        column = pa.array([None if x is None else float(x) for x in column.to_pylist()], kind)
    holes = pa.array(~np.isnan(fill))
    if pa.types.is_floating(kind):
        return pc.if_else(holes, pa.array(fill).cast(kind, safe=False), column.cast(kind))
    words = [f"{value:.10f}".rstrip("0").rstrip(".") for value in fill.tolist()]
    words = pa.array([word.replace(".", decimal) for word in words])
    return pc.if_else(holes, words.cast(kind), column)
