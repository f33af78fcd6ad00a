"""What a page draws and how it shows texts of others: as text, in the colours of the figures."""

import re
from html import unescape
from html.parser import HTMLParser
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from proceval import config
from proceval.console import charts, drawing, drawing_graph, look
from proceval.report import plots

FAMILIES = {
    name: family
    for group in config.build(config.compose("difficulty=[easy,hard,frontier]")["domain"], "domain").values()
    for name, family in group.items()
}
HOSTILE = (
    "<script>alert(1)</script>", "![x](http://198.51.100.1/x.png)", ":red[boo] $x^2$ **b** `c` | # h", "\x1b[31mred\x07",
    "<img src=x onerror=alert(1)>", "&lt;b&gt;", "\ud800", "a\nb", "[link](javascript:alert(1))", "- item", "1. item",
)  # fmt: skip


def test_the_palette_is_that_of_the_figures() -> None:
    import matplotlib
    from matplotlib.colors import to_hex

    with matplotlib.rc_context(fname=plots.STYLE):
        cycle = [
            to_hex(f"#{colour}".replace("##", "#"))
            for colour in matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
        ]
    assert list(look.palette()) == cycle
    assert look.theme()["chartCategoricalColors"] == cycle


@pytest.mark.parametrize("tier", ["easy", "hard", "frontier"])
@pytest.mark.parametrize("name", FAMILIES)
def test_an_instance_of_every_family_is_drawn_or_left_out(name: str, tier: str) -> None:
    family = FAMILIES[name]
    instance = family.sample(Random(f"{name} {tier}"), tier)
    drawn = drawing.draw(instance, family.oracle(instance).answer)
    shapes = {"edges", "array", "dfa", "a"}
    assert drawn or tier == "frontier" or not shapes & set(instance), "a small instance of a known shape is drawn"
    for _, picture in drawn:
        root = ElementTree.fromstring(picture)
        assert root.attrib["aria-label"]
        numbers = re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?|nan|inf", picture)
        assert not {"nan", "inf"} & set(numbers)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 3, "edges": [[0, 1], [1, 0]], "source": 0},
        {"n": 2, "edges": [[0, 5]], "source": 9},
        {"n": "three", "edges": None},
        {"dfa": {"states": 2, "delta": [[0]], "start": 7, "accept": []}},
        {"dfa": {"states": 1, "delta": [["x"]], "start": 0, "accept": "no"}},
        {"dfa": {"states": 1, "alphabet": 1, "delta": [[0]], "start": 0, "accept": [0]}},
        {"array": [10**400, -(10**400)], "target": 10**399},
        {"array": []},
        {"array": [True, 1]},
        {},
    ],
)
def test_odd_arguments_never_break_a_drawing(arguments: dict[str, Any]) -> None:
    for _, picture in drawing.draw(arguments, {"path": [1, 2, 3]}):
        ElementTree.fromstring(picture)


def test_levels_follow_the_longest_way() -> None:
    level = drawing_graph.level_of(4, [[0, 1], [1, 2], [0, 2], [3, 2]])
    assert level == {0: 0, 1: 1, 2: 2, 3: 0}
    assert max(drawing_graph.level_of(3, [[0, 1], [1, 0]]).values()) < 3, "a cycle ends"


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_marks_are_literal(text: str) -> None:
    told = look.literal(text)
    bare = re.sub(r"\\.", "", told)
    assert not re.search(r"[\\`*_{}\[\]()<>#+\-.!|~$:&]", bare)
    told.encode()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_side_by_side_holds_no_tag_of_the_texts(text: str) -> None:
    page = _Tags()
    page.feed(look.side_by_side(text, "other", (text, "B")))
    assert page.tags <= {"table", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "code"}
    assert look.shown(text).splitlines()[0] in page.text


def test_side_by_side_folds_long_equal_stretches_and_marks_changes() -> None:
    left = "\n".join(map(str, range(40)))
    shown = look.side_by_side(left, left.replace("\n20\n", "\ntwenty\n"), ("A", "B"))
    assert shown.count('class="del"') == shown.count('class="ins"') == 1
    assert shown.count("equal lines") == 2
    assert "twenty" in shown
    assert look.side_by_side("same", "same", ("A", "B")).count('class="del"') == 0


def test_a_long_text_is_cut_and_says_so() -> None:
    text = look.shown("x" * (look.MOST_SHOWN + 5))
    assert text.endswith("5 more characters")


def drawn(names: list[str], group: str = "easy") -> dict[str, Any]:
    """Every chart of these contestants, and one of operators that are called so."""
    rows = [
        {"contestant": name, "group": group, "outcome": "passed", "samples": 3, "share": 0.5, "accuracy": 0.5, "low": 0.25,
         "high": None if name == "plain" else 0.75, "k": 1, "value": 0.5, "cost": 10.0, "best": True}
        for name in names
    ]  # fmt: skip
    bounded = [{**row, "high": row["high"] or 0.75} for row in rows]
    mutants = [{"operator": name} | dict.fromkeys(charts.FATES, 1) for name in names]
    return {
        "leaderboard": charts.leaderboard(bounded, names), "by_group": charts.by_group(rows, names, [group]),
        "curves": charts.curves(rows, names), "heat": charts.heat(rows, names),
        "frontier": charts.frontier(rows, names, "tokens"), "operators": charts.operators(mutants),
    }  # fmt: skip


def test_charts_hold_every_row_and_no_markup() -> None:
    pytest.importorskip("plotly")
    for figure in drawn(["<b>bold</b> $x$", "plain"], group="<b>bold</b>").values():
        text = figure.to_json()
        assert "<b>bold" not in text.encode().decode("unicode_escape")
        assert "plain" in text


def alike(random: Random) -> list[str]:
    """Distinct names that tell little apart: a sign at some place of a long text, markup, blanks, or a number."""
    long = "openrouter/anthropic/claude-sonnet-4, track.system_prompt=/home/me/prompts/" + "deep/" * random.randrange(9)
    at = random.randrange(len(long))
    kinds = [
        [f"{long}{end}.j2" for end in ("short", "long", "longer", "")],
        [f"{start}{long}.j2" for start in ("a", "b", "aa")],
        [f"{long[:at]}{sign}{long[at:]}" for sign in "xyz"],
        [f"{long[:at]}{sign}{long[at:]}" for sign in (" ", "  ", "\n", "\x1b", "\\x1b", "&", "&amp;", "<b>", "$")],
        [long * repeats for repeats in (1, 2, 3, 4)],
        ["1", "2", "10", "2026-11-30", "1e3", "0", "null", "mock", "1. mock", "2. mock", " mock"],
    ]
    names = [name for kind in random.sample(kinds, random.randint(1, len(kinds))) for name in kind]
    return list(dict.fromkeys(random.sample(names, random.randint(1, len(names)))))


def seen(text: str) -> str:
    return " ".join(unescape(text).split())


@pytest.mark.parametrize("seed", range(20))
def test_distinct_names_stay_distinct_in_every_chart(seed: int) -> None:
    """What tells two contestants apart is never a text that was cut, and what is shown of them never looks the same."""
    pytest.importorskip("plotly")
    names = alike(Random(seed))
    figures = drawn(names)
    for kind in ("leaderboard", "heat", "operators"):
        figure = figures[kind]
        axis = figure.layout.yaxis
        whole = figure.data if kind == "leaderboard" else figure.data[:1]
        places = [place for trace in whole for place in trace.y]
        assert sorted(places) == sorted(axis.tickvals) == sorted(set(places)), kind
        assert len(places) == len(names) == len({seen(text) for text in axis.ticktext}), kind
        assert axis.type == "category", "a model called 1 is no number"
    for kind in ("by_group", "curves", "frontier"):
        legend = [seen(trace.name) for trace in figures[kind].data if trace.mode != "lines"]
        assert len(legend) == len(names) == len(set(legend)), kind
    assert max(len(seen(text)) for text in figures["leaderboard"].layout.yaxis.ticktext) <= charts.MOST_SIGNS + 4


def test_groups_that_look_like_numbers_or_alike_keep_their_own_places() -> None:
    pytest.importorskip("plotly")
    groups = ["1", "2", *("family/" + "x" * 70 + end for end in "ab")]
    rows = [{"contestant": "m", "group": group, "accuracy": 0.5, "low": None, "high": None} for group in groups]
    figure = charts.by_group(rows, ["m"], groups)
    assert len(set(figure.data[0].x)) == len({*figure.layout.xaxis.ticktext}) == len(groups)
    assert figure.layout.xaxis.type == "category"


def test_names_that_fit_are_shown_as_they_are() -> None:
    assert charts.labels(["mock", "gold"]) == {"mock": "mock", "gold": "gold"}
    long = "openrouter/anthropic/claude-sonnet-4, track.system_prompt=/home/me/prompts/"
    short, other = charts.labels([f"{long}short.j2", f"{long}long.j2"]).values()
    assert short.startswith("openrouter/anthropic/")
    assert short.endswith("/prompts/short.j2")
    assert other.startswith("openrouter/anthropic/")
    assert other.endswith("/prompts/long.j2")
    inner = charts.labels([f"{long}{sign}{'/and/so/on' * 9}" for sign in "ab"]).values()
    assert [*inner] == ["…e/prompts/a/and/so/on…", "…e/prompts/b/and/so/on…"], "where they differ is what is left"


def test_one_warning_stands_once() -> None:
    pytest.importorskip("plotly")
    offline = ("scripted_agent/gold", "scripted_agent/lazy", "mock", None, "mock")
    told = charts.notes({"scores": {"contestants": [{"offline": name} for name in offline]}})
    assert len(told) == len(set(told)) == 2
