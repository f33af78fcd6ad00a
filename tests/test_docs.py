"""Pages keep their word: every command on them has keys and options that exist, and every link leads somewhere."""

import re
import shlex
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from proceval.words import misspelt, overrides

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "sandbox/*.md")
    for path in ROOT.glob(pattern)
)
COMMAND = re.compile(r"python -m proceval([^`#\n]*)")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")


def commands(page: str) -> list[str]:
    return [found[1].strip() for found in COMMAND.finditer((ROOT / page).read_text(encoding="utf-8"))]


def test_pages_with_commands_are_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/proofs.md", "docs/from-the-original.md"} <= set(PAGES)
    assert len(commands("README.md")) >= 10
    assert len(commands("docs/from-the-original.md")) >= 12


@pytest.mark.parametrize("page", PAGES)
def test_every_command_has_keys_and_options_that_exist(page: str) -> None:
    for command in commands(page):
        words = [w for w in shlex.split(command.rstrip("\\"), comments=True) if "=" in w or w.startswith("-")]
        assert misspelt([w for w in overrides(words) if "=" in w]) is None, command


@pytest.mark.parametrize("page", PAGES)
def test_every_list_on_a_page_is_read_as_one_as_it_stands(page: str) -> None:
    """Hydra takes what it cannot read for a text, and complains only where it is used."""
    for found in re.finditer(r"python -m proceval((?:\\\n|[^`#\n])*)", (ROOT / page).read_text(encoding="utf-8")):
        for word in shlex.split(found[1].replace("\\\n", " "), comments=True):
            key, _, value = word.partition("=")
            if value.startswith("[") and not key.startswith("-"):
                (override,) = OverridesParser.create().parse_overrides([word])
                assert isinstance(override.value(), list), word


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str) -> None:
    folder = (ROOT / page).parent
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (folder / target).exists(), f"{page} links to {target}"
