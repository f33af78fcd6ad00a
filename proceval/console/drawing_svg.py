"""The few SVG shapes that drawings are made of; texts are escaped here and nowhere else."""

from html import escape
from math import atan2, cos, pi, sin

STYLE = "<style>text{fill:#222222;font-family:sans-serif}@media (prefers-color-scheme:dark){text{fill:#e8eaed}}</style>"
"""A picture follows the colour scheme of the page around it."""


def picture(width: float, height: float, body: str, label: str) -> str:
    """A whole picture that shrinks with its page; `label` is what a screen reader says."""
    return (
        f'<svg class="instance" role="img" aria-label="{escape(label)}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">{STYLE}{body}</svg>'
    )


def text(
    x: float, y: float, said: str, *, size: int = 12, anchor: str = "middle", faint: bool = False, bold: bool = False
) -> str:
    style = (' opacity="0.55"' if faint else "") + (' font-weight="600"' if bold else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{style}>{escape(said)}</text>'


def rectangle(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" rx="2" fill="{colour}"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dashed: bool = False, width: float = 1.5) -> str:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width}" fill="none"{dash}/>'
    )


def circle(x: float, y: float, radius: float, *, colour: str, filled: bool, width: float = 1.5) -> str:
    fill = f'fill="{colour}" fill-opacity="0.25"' if filled else 'fill="none"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" stroke="{colour}" stroke-width="{width}" {fill}/>'


def arrow(
    start: tuple[float, float],
    bend: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    *,
    width: float,
    faint: bool,
) -> str:
    """A quadratic curve from start to end, pulled towards `bend`, with a head at its end."""
    angle = atan2(end[1] - bend[1], end[0] - bend[0])
    return _stroke(
        f"M{start[0]:.1f} {start[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {end[0]:.1f} {end[1]:.1f}", colour, width, faint
    ) + head(end, angle, colour, faint)


def loop(x: float, y: float, radius: float, direction: float, colour: str) -> str:
    """An arrow from a circle to itself, on the side that `direction` (radians) points to."""
    spread, far = 0.45, radius * 3.1
    start, end = (point(x, y, radius, direction - spread), point(x, y, radius, direction + spread))
    out, back = (point(x, y, far, direction - spread), point(x, y, far, direction + spread))
    angle = atan2(end[1] - back[1], end[0] - back[0])
    path = f"M{start[0]:.1f} {start[1]:.1f}C{out[0]:.1f} {out[1]:.1f} {back[0]:.1f} {back[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    return _stroke(path, colour, 1.4, False) + head(end, angle, colour, False)


def head(tip: tuple[float, float], angle: float, colour: str, faint: bool) -> str:
    sides = " ".join(
        f"{x:.1f},{y:.1f}" for x, y in (tip, point(*tip, 8, angle + pi - 0.4), point(*tip, 8, angle + pi + 0.4))
    )
    return f'<polygon points="{sides}" fill="{colour}"{_faint(faint)}/>'


def point(x: float, y: float, distance: float, angle: float) -> tuple[float, float]:
    return x + distance * cos(angle), y + distance * sin(angle)


def short(value: int) -> str:
    """A number in at most seven signs."""
    said = str(value) if abs(value) < 10**15 else f"{'-' if value < 0 else ''}~2^{abs(value).bit_length() - 1}"
    return said if len(said) <= 7 else f"{value:.1e}" if abs(value) < 10**15 else said


def _stroke(path: str, colour: str, width: float, faint: bool) -> str:
    return f'<path d="{path}" stroke="{colour}" stroke-width="{width}" fill="none"{_faint(faint)}/>'


def _faint(faint: bool) -> str:
    return ' opacity="0.45"' if faint else ""
