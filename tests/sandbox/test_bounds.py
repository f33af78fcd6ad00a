"""Trees that would cost the host more than it gives: refused early, whatever made them."""

import os

import pytest

from sandbox import archive, beneath


def test_more_levels_or_entries_than_the_host_looks_at_are_refused(tmp_path, monkeypatch):
    deepest = tmp_path / "/".join(["d"] * beneath.MOST_LEVELS)
    deepest.mkdir(parents=True)
    (deepest / "file").touch()
    packed = archive.pack(tmp_path, 1 << 20)
    (deepest / "d").mkdir()
    with pytest.raises(archive.TooMuch, match="nested more than 64 deep"):
        archive.pack(tmp_path, 1 << 20)
    archive.unpack(packed, tmp_path, os.geteuid())
    assert archive.pack(tmp_path, 1 << 20) == packed
    monkeypatch.setattr(beneath, "MOST_ENTRIES", beneath.MOST_LEVELS)
    with pytest.raises(archive.TooMuch, match="more than 64 entries"):
        archive.pack(tmp_path, 1 << 20)


def test_unpacking_opens_a_folder_once_for_the_files_in_it(tmp_path, monkeypatch):
    """Else whoever nests folders and fills the last one makes the host go the whole way for every file."""
    deepest = tmp_path / "a" / "/".join(["d"] * 20)
    deepest.mkdir(parents=True)
    for number in range(200):
        (deepest / f"{number}").touch()
    packed = archive.pack(tmp_path / "a", 1 << 20)
    opened, ways = beneath.opened, []
    monkeypatch.setattr(beneath, "opened", lambda root, inside: ways.append(inside) or opened(root, inside))
    (tmp_path / "b").mkdir()
    archive.unpack(packed, tmp_path / "b", os.geteuid())
    assert len(ways) < 50
    assert len(os.listdir(tmp_path / "b" / "/".join(["d"] * 20))) == 200
