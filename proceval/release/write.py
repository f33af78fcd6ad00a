"""The release folder, written beside its place and exchanged whole: a kill or a full disk leaves the old one as it was."""

import ctypes
import gzip
import json
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.errors import Finding, InputError, StorageError
from proceval.release.canary import canary
from proceval.release.card import card
from proceval.release.manifest import Tally, manifest
from proceval.release.recheck import ARCHIVE
from proceval.release.rows import Row, arrow_schema, published
from proceval.release.source import Source
from proceval.schema import Certificate, Problem
from proceval.seeding import text_digest
from proceval.store import lock

MANIFEST = "manifest.json"
RECHECK = Path(__file__).parent / "recheck.py"
ROW_GROUP = 1024
"""Rows held at once on the way to Parquet."""


def write(
    source: Source,
    target: Path,
    *,
    title: str,
    split: str,
    repo_id: str | None,
    prompts: Callable[[Problem], Mapping[str, str]],
    advance: Callable[[int], None],
) -> dict[str, Any]:
    """Export a run folder to `target`; returns the manifest.

    Raises InputError where `target` is a folder that is no release, Finding where evidence is missing or changed,
    StorageError when the disk refuses; in every case what stood at `target` is untouched.
    """
    if target.exists() and not is_release(target) and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"release={target}: there is something that is no release; choose an empty or new folder")
    mark = canary(source.facts["sha256"]["dataset.jsonl"])
    names = {"rows": f"data/{split}.jsonl", "parquet": f"data/{split}-00000-of-00001.parquet"}
    with _staged(target) as stage:
        (stage / "data").mkdir()
        tally = _rows(source, stage, names, mark, prompts, advance)
        shutil.copyfile(RECHECK, stage / "recheck.py")
        shutil.copyfile(source.path / "rejections.jsonl", stage / "rejections.jsonl")
        facts = manifest(source, tally, canary=mark, rows=names["rows"], files={})
        (stage / "README.md").write_text(
            card(facts, title=title, repo_id=repo_id, split=split, parquet=names["parquet"]), encoding="utf-8"
        )
        listed = {
            path.relative_to(stage).as_posix(): {"sha256": files.file_digest(path), "bytes": path.stat().st_size}
            for path in stage.rglob("*")
            if path.is_file()
        }
        for name in names.values():
            listed[name]["rows"] = tally.problems
        facts = manifest(source, tally, canary=mark, rows=names["rows"], files=listed)
        (stage / MANIFEST).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return facts


def is_release(folder: Path) -> bool:
    """Whether a folder says of itself that it is a release."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {"format", "rows", "canary", "files"} <= set(found)
    except (OSError, ValueError, TypeError):
        return False


def _rows(
    source: Source,
    stage: Path,
    names: Mapping[str, str],
    mark: str,
    prompts: Callable[[Problem], Mapping[str, str]],
    advance: Callable[[int], None],
) -> Tally:
    """JSON Lines, Parquet and texts in one pass over the problems; memory holds one row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, tally, known = arrow_schema(), Tally(), set[str]()
    with (
        (stage / names["rows"]).open("w", encoding="utf-8") as lines,
        pq.ParquetWriter(stage / names["parquet"], schema, compression="zstd", write_page_index=True) as table,
        zipfile.ZipFile(stage / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        group: list[Row] = []
        for problem, certificates, audit in source.items():
            row = published(problem, certificates, audit, prompts(problem), mark)
            lines.write(json.dumps(row, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n")
            group.append(row)
            if len(group) == ROW_GROUP:
                table.write_table(pa.Table.from_pylist(group, schema=schema))
                group = []
            for name, text in _texts(source.path / "certificates", certificates, known):
                entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
                entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
                archive.writestr(entry, text)
            tally.add(row)
            advance(tally.problems)
        if group:
            table.write_table(pa.Table.from_pylist(group, schema=schema))
    return tally


def _texts(folder: Path, certificates: list[Certificate], known: set[str]) -> Iterator[tuple[str, str]]:
    """(name, text) of whatever these certificates rest on and was not given before. Raises Finding for a changed one."""
    wanted: list[tuple[str, str]] = []
    for item in certificates:
        wanted += [(query.smt_sha256, "smt2") for query in item.queries]
        wanted += [(opinion.data_sha256, "json") for opinion in item.opinions if opinion.data_sha256]
    for digest, kind in wanted:
        name = f"{digest[:2]}/{digest}.{kind}"
        if name in known:
            continue
        known.add(name)
        path = folder / f"{name}.gz"
        try:
            text = gzip.decompress(path.read_bytes()).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise Finding(f"{path}: cannot be read ({error}); stage=verify names all that differs") from error
        if text_digest(text) != digest:
            raise Finding(f"{path}: the text does not have this hash; stage=verify names all that differs")
        yield name, text


# ------------------------------------------------------------------------------------------------ exchange


@contextmanager
def _staged(target: Path) -> Iterator[Path]:
    """A folder to fill; it takes the place of `target` when the block ends well, and is removed otherwise.

    Raises StorageError when the disk refuses, InputError while another process exports to the same place.
    """
    beside = target.with_name(f".{target.name}.partial")
    stage = beside / "release"
    try:
        beside.mkdir(parents=True, exist_ok=True)
        with lock(beside):
            shutil.rmtree(stage, ignore_errors=True)  # what a killed export left
            try:
                stage.mkdir()
                yield stage
                for path in (*stage.rglob("*"), stage):
                    _sync(path)
                _exchange(stage, target)
                _sync(target.parent)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise StorageError(
            f"{target}: the release could not be written ({error.strerror or error}); what stood there before is untouched"
        ) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(stage: Path, target: Path) -> None:
    """Put `stage` where `target` is, in one step: there is no moment without a whole release."""
    if not target.exists():
        os.rename(stage, target)
        return
    if sys.platform == "linux":
        exchange, here = 2, -100
        call = ctypes.CDLL(None, use_errno=True).renameat2
        if call(here, os.fsencode(stage), here, os.fsencode(target), exchange) == 0:
            return
    aside = target.with_name(f".{target.name}.old")  # a system or file system that cannot exchange
    shutil.rmtree(aside, ignore_errors=True)
    os.rename(target, aside)
    try:
        os.rename(stage, target)
    except OSError:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)
