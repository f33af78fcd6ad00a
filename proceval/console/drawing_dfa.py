"""An automaton on a circle: one arrow for all symbols that lead from one state to the same next one."""

from collections.abc import Mapping
from math import atan2, hypot, pi
from typing import Any

from proceval.console.drawing_svg import arrow, circle, head, line, loop, picture, point, text
from proceval.console.look import BLUE, GREEN, GREY, palette
from proceval.schema import Json

MOST_STATES = 16
RADIUS = 19.0


def diagram(dfa: Mapping[str, Json]) -> str | None:
    """The automaton, or None when it is too large or none."""
    steps = transitions(dfa)
    if steps is None:
        return None
    states = dfa["states"]
    ring = max(64.0, 25.0 * states) if states > 1 else 0.0
    size = 2 * (ring + 74)
    centre = size / 2
    at = {q: point(centre, centre, ring, -pi + 2 * pi * q / states) for q in range(states)}
    colours = palette()
    body = ""
    for (tail, target), symbols in steps.items():
        label = ",".join(map(str, symbols))
        if tail == target:
            outward = atan2(at[tail][1] - centre, at[tail][0] - centre) if ring else -pi / 2
            if tail == dfa["start"] and states > 1:
                outward += 0.8  # beside the arrow that marks the start
            body += loop(*at[tail], RADIUS, outward, colours[GREY])
            spot = point(*at[tail], RADIUS * 2.95, outward)
            body += text(spot[0], spot[1] + 4, label, size=12)
        else:
            body += _step(at[tail], at[target], label, (target, tail) in steps, colours[GREY])
    for q, place in at.items():
        body += _state(q, place, dfa, colours)
    body += _entry(at[dfa["start"]], centre, ring, colours[GREEN])
    return picture(size, size, body, f"automaton with {states} states, start {dfa['start']}")


def transitions(dfa: Mapping[str, Any]) -> dict[tuple[int, int], list[int]] | None:
    """(state, next state) -> symbols, or None for what is no drawable automaton."""
    states, delta, accept = dfa["states"], dfa["delta"], dfa["accept"]
    if type(states) is not int or not 1 <= states <= MOST_STATES or not isinstance(delta, list) or len(delta) != states:
        return None
    if not isinstance(accept, list) or dfa["start"] not in range(states):
        return None
    steps: dict[tuple[int, int], list[int]] = {}
    for tail, row in enumerate(delta):
        if not isinstance(row, list):
            return None
        for symbol, target in enumerate(row):
            if type(target) is not int or target not in range(states):
                return None
            steps.setdefault((tail, target), []).append(symbol)
    return steps


def _step(a: tuple[float, float], b: tuple[float, float], label: str, returned: bool, colour: str) -> str:
    """A straight arrow, or a bent one where another leads back."""
    length = hypot(b[0] - a[0], b[1] - a[1])
    normal = (-(b[1] - a[1]) / length, (b[0] - a[0]) / length)
    sag = min(30.0, length * 0.22) if returned else 0.01
    bend = ((a[0] + b[0]) / 2 + normal[0] * sag * 2, (a[1] + b[1]) / 2 + normal[1] * sag * 2)
    start = point(*a, RADIUS, atan2(bend[1] - a[1], bend[0] - a[0]))
    end = point(*b, RADIUS + 1, atan2(bend[1] - b[1], bend[0] - b[0]))
    # away from the middle, where straight arrows of a circle cross each other
    along = 0.5 if returned else 0.32
    x = a[0] + (b[0] - a[0]) * along + normal[0] * (sag + 10)
    y = a[1] + (b[1] - a[1]) * along + normal[1] * (sag + 10)
    return arrow(start, bend, end, colour, width=1.4, faint=False) + text(x, y + 4, label, size=12)


def _state(q: int, at: tuple[float, float], dfa: Mapping[str, Any], colours: tuple[str, ...]) -> str:
    accepting = q in dfa["accept"]
    colour = colours[GREEN] if q == dfa["start"] else colours[BLUE]
    drawn = circle(*at, RADIUS, colour=colour, filled=True, width=1.8)
    if accepting:
        drawn += circle(*at, RADIUS - 4, colour=colour, filled=False, width=1.4)
    return drawn + text(at[0], at[1] + 4, str(q), size=12, bold=True)


def _entry(at: tuple[float, float], centre: float, ring: float, colour: str) -> str:
    outward = atan2(at[1] - centre, at[0] - centre) if ring else pi
    start, tip = point(*at, RADIUS + 30, outward), point(*at, RADIUS + 1, outward)
    return line(*start, *tip, colour, width=2.0) + head(tip, outward + pi, colour, False)
