"""Instances as pictures: arrays as bars, DAGs by level, automata on a circle. SVG text; every label in it is escaped.

What is drawn follows from the shape of the arguments, so a family of the same shape needs nothing here.
"""

from collections.abc import Mapping

from proceval.console import drawing_dfa, drawing_graph
from proceval.console.drawing_svg import line, picture, rectangle, short, text
from proceval.console.look import BLUE, ORANGE, SKY, palette
from proceval.schema import Json

MOST_BARS = 800
WIDTH, HEIGHT = 760, 190


def draw(arguments: Mapping[str, Json], answer: Json = None) -> list[tuple[str, str]]:
    """(caption, SVG) of everything in the arguments that can be drawn; what is too large is left to its JSON text."""
    found = []
    for name, value in arguments.items():
        if _numbers(value) and len(value) <= MOST_BARS and name != "edges":
            found.append((f"{name}: {len(value)} numbers", bars(value, _target(arguments), _index(answer, value))))
        elif isinstance(value, dict) and {"states", "delta", "start", "accept"} <= set(value):
            drawn = drawing_dfa.diagram(value)
            if drawn:
                found.append((f"{name}: {value['states']} states, start marked, accepting ones ringed twice", drawn))
    if {"n", "edges"} <= set(arguments):
        drawn = drawing_graph.levels(arguments, answer)
        if drawn:
            found.append((drawing_graph.caption(arguments), drawn))
    return found


def _numbers(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)


def _target(arguments: Mapping[str, Json]) -> int | None:
    target = arguments.get("target")
    return target if type(target) is int and "edges" not in arguments else None


def _index(answer: Json, array: list[int]) -> int | None:
    return answer if type(answer) is int and 0 <= answer < len(array) else None


def bars(array: list[int], target: int | None, answer: int | None) -> str:
    """One bar a number; the answer's bar in another colour, the target as a line across."""
    colours = palette()
    low, high = min(0, *array, target or 0), max(0, *array, target or 0)
    span = high - low or 1
    top, bottom, left = 26, HEIGHT - (34 if low < 0 else 20), 8
    step = (WIDTH - 2 * left) / len(array)
    shown: list[str] = []

    def y(value: int) -> float:
        return bottom - (bottom - top) * ((value - low) / span)

    for place, value in enumerate(array):
        x, height = left + place * step, abs(y(value) - y(0))
        colour = colours[ORANGE] if place == answer else colours[BLUE]
        gap = min(4.0, step * 0.15)
        shown.append(rectangle(x + gap, min(y(value), y(0)), step - 2 * gap, max(height, 1.0), colour))
        if step >= 26:
            above = y(value) - 5 if value >= 0 else y(value) + 12
            shown.append(text(x + step / 2, above, short(value), size=11))
            shown.append(text(x + step / 2, HEIGHT - 6, str(place), size=10, faint=True))
    if target is not None:
        shown.append(line(left, y(target), WIDTH - left, y(target), colours[SKY], dashed=True))
        shown.append(text(left + 2, y(target) - 4, f"target {short(target)}", size=11, anchor="start", bold=True))
    label = f"bars of {len(array)} numbers" + (f", the answer is index {answer}" if answer is not None else "")
    return picture(WIDTH, HEIGHT, "".join(shown), label)
