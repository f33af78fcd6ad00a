"""The log by itself: one write a line, lines of any length, and nothing after a refusal or a fork."""

import os
from pathlib import Path

import pytest

from proceval.errors import InputError, StorageError
from proceval.store import Log, lines, lock, mend, parsed

LINES = ['{"a":1}', '{"long":"' + "x" * 200_000 + '"}', '{"text":"\u00e9\u20ac"}', "{}"]


def test_every_line_is_found_again_by_its_offset(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", fsync_s=0)
    offsets = [log.append(line) for line in LINES]
    assert [log.read(offset).decode() for offset in offsets] == LINES
    log.close()
    log.close()
    assert [(offset, line.decode()) for offset, line in lines(tmp_path / "log.jsonl")] == list(
        zip(offsets, LINES, strict=True)
    )
    again = Log(tmp_path / "log.jsonl", fsync_s=0)
    assert again.append("{}") == (tmp_path / "log.jsonl").stat().st_size - 3
    again.close()


def test_each_record_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(tmp_path / "log.jsonl", fsync_s=1000)
    written: list[bytes] = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: written.append(data) or real(descriptor, data))
    for line in LINES:
        log.append(line)
    assert written == [line.encode() + b"\n" for line in LINES]
    monkeypatch.undo()
    log.close()


def test_a_write_that_is_cut_short_and_then_refused_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, fsync_s=1000)
    log.append('{"a":1}')
    real, calls = os.write, []

    def almost_full(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:5])

    monkeypatch.setattr(os, "write", almost_full)
    with pytest.raises(StorageError, match="No space left on device.*run the same command again"):
        log.append('{"b":2}')
    monkeypatch.undo()
    assert path.read_bytes() == b'{"a":1}\n'
    log.append('{"c":3}')
    log.close()
    assert [record for _, record in parsed(path)] == [{"a": 1}, {"c": 3}]


def test_a_folder_that_cannot_be_written_is_a_clear_refusal(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="refused"):
        Log(tmp_path / "none" / "log.jsonl", fsync_s=1)


@pytest.mark.parametrize("tail", [b"", b'{"torn', b"x" * 200_000])
def test_a_torn_tail_of_any_length_is_set_aside(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":1}\n' + tail)
    assert mend(path) == len(tail)
    assert path.read_bytes() == b'{"a":1}\n'
    assert mend(path) == 0
    assert (tmp_path / "log.jsonl.torn").exists() == bool(tail)


def test_a_file_of_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":')
    log = Log(path, fsync_s=1)
    assert (log.torn_bytes, path.read_bytes()) == (5, b"")
    log.close()


def test_reading_skips_a_torn_tail_and_stops_at_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    assert list(lines(path)) == []
    path.write_bytes(b'{"a":1}\n{"torn')
    assert [record for _, record in parsed(path)] == [{"a": 1}]
    path.write_bytes(b'{"a":1}\n{"b":}\n{"c":3}\n')
    with pytest.raises(InputError, match="line 2"):
        list(parsed(path))


def test_a_forked_child_cannot_write_to_its_parents_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, fsync_s=1)
    log.append('{"a":1}')
    child = os.fork()
    if child == 0:
        try:
            log.append('{"child":1}')
        except StorageError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_bytes() == b'{"a":1}\n'
    log.close()


def test_waiting_for_a_lock_gets_it(tmp_path: Path) -> None:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        with lock(tmp_path):
            os.write(go, b"x")
            import time

            time.sleep(0.2)
        os._exit(0)
    os.read(ready, 1)
    with lock(tmp_path, wait=True):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    os.waitpid(child, 0)
    os.close(ready)
    os.close(go)
