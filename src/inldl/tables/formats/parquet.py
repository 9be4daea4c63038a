"""Parquet and Feather files, a batch of rows at a time."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from inldl.tables.formats.base import FrameFormat
from inldl.tables.numbers import format_numbers


class Parquet(FrameFormat):
    """A table in a Parquet file."""

    kind = "parquet"
    batch_rows = 1 << 16  # of a piece

    def load(self) -> None:
        """Look at the columns of a file; those that pandas wrote for an index are left out."""
        schema, self.n_rows, self._codec = self._about()
        index, self._sound = _index_columns(schema)
        self.names = [name for name in schema.names if name not in index]
        self.text_names = [name for name in self.names if _holds_text(schema.field(name).type)]

    def frames(self, names=None) -> Iterator[tuple[pd.DataFrame, pa.RecordBatch]]:
        """Yield frames, and the batch of each."""
        for batch in self._batches(names):
            part = batch.select(self.names if names is None else names)
            part = part if self._sound else part.replace_schema_metadata()
            yield part.to_pandas(), batch

    def _about(self):
        """Return the schema of a file, its number of rows, and how it is compressed."""
        with pq.ParquetFile(self.path) as file:
            return file.schema_arrow, file.metadata.num_rows, _compression(file.metadata)

    def _batches(self, names):
        with pq.ParquetFile(self.path) as file:
            yield from file.iter_batches(self.batch_rows, columns=names)

    def _sink(self, part, schema):
        return pq.ParquetWriter(part, schema, compression=self._codec)

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame."""
        frame.to_parquet(part, index=False)

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()) -> Iterator[Callable]:
        """Give a function that writes batches to `part`."""
        schema, *_ = self._about()
        for name in filled:
            at = schema.get_field_index(name)
            schema = schema.set(at, pa.field(name, _filled_type(schema.field(at).type)))
        for name in extra:
            schema = schema.append(pa.field(name, pa.float64()))
        with self._sink(part, schema) as writer:

            def write(block, fills, values):
                arrays = dict(zip(block.raw.schema.names, block.raw.columns, strict=True))
                for name in filled:
                    kind, fill = schema.field(name).type, fills[:, labels.index(name)]
                    arrays[name] = _with_fills(arrays[name], fill, kind, self.format)
                for j, name in enumerate(extra):
                    arrays[name] = pa.array(values[:, j], from_pandas=True)
                columns = [arrays[field.name].cast(field.type) for field in schema]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))

            yield write
            if added:
                arrays = [_added(added, field, self.format, labels) for field in schema]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


class Feather(Parquet):
    """A table in a Feather file."""

    kind = "feather"

    def _about(self):
        table = feather.read_table(self.path, memory_map=True)
        return table.schema, table.num_rows, None

    def _batches(self, names):
        table = feather.read_table(self.path, columns=names, memory_map=True)
        return table.unify_dictionaries().to_batches(self.batch_rows)

    def _sink(self, part, schema):
        return pa.ipc.new_file(part, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame."""
        frame.reset_index(drop=True).to_feather(part)


def _is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _holds_text(kind):
    return _is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


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


def _compression(metadata):
    """Return how the first column of a file is compressed."""
    if not (metadata.num_row_groups and metadata.num_columns):
        return "snappy"
    codec = metadata.row_group(0).column(0).compression.lower()
    return "none" if codec == "uncompressed" else codec


def _filled_type(kind):
    """Return the type of a label column once its holes are filled."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind  # text as categories
    return kind if pa.types.is_floating(kind) or _is_text(kind) else pa.float64()


def _added(rows, field, form, labels):
    """Return a column of rows that are added; a degree is text where the others are."""
    cells = [row.get(field.name) for row in rows]
    if field.name in labels and _is_text(field.type):
        cells = format_numbers(cells, form, percent=form.percent)
    return pa.array(cells, from_pandas=True).cast(field.type)


def _with_fills(column, fill, kind, form):
    """Return a column with the fills in place of its holes."""
    if pa.types.is_decimal(column.type):  # as it was read: a cast can miss the last bit
        column = pa.array([None if x is None else float(x) for x in column.to_pylist()], kind)
    holes = pa.array(~np.isnan(fill))
    if pa.types.is_floating(kind):
        new = pa.array(fill, mask=np.isinf(fill)).cast(kind, safe=False)
        return pc.if_else(holes, new, column.cast(kind))
    words = format_numbers(fill.tolist(), form, percent=form.percent)
    words = pa.array(words, mask=np.isinf(fill))
    return pc.if_else(holes, words.cast(kind), column.cast(kind))
