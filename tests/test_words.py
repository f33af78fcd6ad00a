"""The words of a command line reach Hydra as they were meant."""

import pytest
from hydra._internal.utils import get_args_parser

from proceval import words


@pytest.mark.parametrize(
    ("given", "handed_on"),
    [
        ("id=354e60", 'id="354e60"'),
        ("id=0576277", 'id="0576277"'),
        ("id='354e60'", "id='354e60'"),
        ("id=null", "id=null"),
        ("seed=354e60", "seed=354e60"),
        ("count=3", "count=3"),
    ],
)
def test_an_id_is_text_whatever_it_looks_like(given: str, handed_on: str) -> None:
    assert words.literal([given]) == [handed_on]


@pytest.mark.parametrize("flag", ["--multirun", "-m"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("more", [[], ["-cn", "config"], ["--config-dir", "my=folder"], ["-cp=conf"]], ids=" ".join)
def test_an_option_may_stand_anywhere_among_the_overrides(flag: str, place: int, more: list[str]) -> None:
    own = ["seed=1", "model=mock,gold"]
    given = [*own[:place], flag, *more, *own[place:]]
    read = get_args_parser().parse_args([*words.ordered(given), "hydra.sweep.dir=x"])
    assert read.multirun
    assert read.overrides == [*own, "hydra.sweep.dir=x"]
    assert words.overrides(given) == own
    assert words.options(given) == [flag, *more]
    read = get_args_parser().parse_args(words.ordered(["seed=1", *more, "model=gold"]))
    assert read.overrides == ["seed=1", "model=gold"]


def test_an_option_whose_value_may_be_left_out_takes_no_override() -> None:
    parse = get_args_parser().parse_args
    assert vars(parse(words.ordered(["--info", "model=gold"])))["info"] == "all"
    assert vars(parse(words.ordered(["model=gold", "-i"])))["overrides"] == ["model=gold"]
    assert vars(parse(words.ordered(["-i", "searchpath", "model=gold"])))["info"] == "searchpath"
    assert words.overrides(["--info", "model=gold"]) == ["model=gold"]


def test_what_is_added_to_a_model_is_added_for_hydra_and_shown_as_it_was_written() -> None:
    typed = ["model.extra={a:1}", "track.judges.first.extra.b=2", "+model.extra.c=3", "model.extra_long=4"]
    handed_on = words.literal(typed)
    assert handed_on == ["++model.extra={a:1}", "++track.judges.first.extra.b=2", *typed[2:]]
    assert words.literal(handed_on) == handed_on
    assert words.command(handed_on).endswith(
        "'model.extra={a:1}' track.judges.first.extra.b=2 +model.extra.c=3 model.extra_long=4"
    )
