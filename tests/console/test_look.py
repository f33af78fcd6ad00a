"""What a page draws and how it shows texts of others: as text, in the colours of the figures."""

import re
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


def test_charts_hold_every_row_and_no_markup() -> None:
    pytest.importorskip("plotly")
    names = ["<b>bold</b> $x$", "plain"]
    rows = [
        {"contestant": name, "group": "easy", "tier": "easy", "outcome": "passed", "samples": 3, "share": 0.5,
         "accuracy": 0.5, "low": 0.25, "high": None if name == "plain" else 0.75, "k": 1, "value": 0.5, "cost": 10.0,
         "best": True}
        for name in names
    ]  # fmt: skip
    bounded = [{**row, "high": row["high"] or 0.75} for row in rows]
    for figure in (
        charts.leaderboard(bounded, names), charts.by_group(rows, names, ["easy"]), charts.curves(rows, names),
        charts.heat(rows, names), charts.frontier(rows, names, "tokens"),
    ):  # fmt: skip
        text = figure.to_json()
        assert "<b>bold" not in text.encode().decode("unicode_escape")
        assert "plain" in text
