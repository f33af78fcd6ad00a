cat > geometry/point.py <<'END'
"""A point."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A place in the plane."""

    x: float
    y: float
END
python3 - <<'END'
import re

for name in ("shapes", "paths"):
    text = open(f"geometry/{name}.py").read()
    text = re.sub(r'\b(a|b|c|p|by)\["([xy])"\]', r"\1.\2", text)
    first, rest = text.split("\n", 1)
    text = first + "\n\nfrom geometry.point import Point\n" + rest.lstrip("\n").join(["" if name == "paths" else "\n\n", ""])
    for old, new in (
        ('return {"x": sum(p.x for p in points) / len(points), "y": sum(p.y for p in points) / len(points)}',
         "return Point(sum(p.x for p in points) / len(points), sum(p.y for p in points) / len(points))"),
        ('{**p, "x": p.x + by.x, "y": p.y + by.y}', "Point(p.x + by.x, p.y + by.y)"),
        ("def middle(points):", "def middle(points: list[Point]) -> Point:"),
        ("def area(points):", "def area(points: list[Point]) -> float:"),
        ("def moved(points, by):", "def moved(points: list[Point], by: Point) -> list[Point]:"),
        ("def length(points):", "def length(points: list[Point]) -> float:"),
        ("def hull(points):", "def hull(points: list[Point]) -> list[Point]:"),
        ("def towards_middle(points):", "def towards_middle(points: list[Point]) -> list[float]:"),
        ("def half(some):", "def half(some: list[Point]) -> list[Point]:"),
        ("chain = []", "chain: list[Point] = []"),
        ("def _turn(a, b, c):", "def _turn(a: Point, b: Point, c: Point) -> float:"),
    ):
        text = text.replace(old, new)
    open(f"geometry/{name}.py", "w").write(text)
END
cat > geometry/files.py <<'END'
"""JSON in and out."""

import json
from dataclasses import asdict

from geometry.paths import hull
from geometry.point import Point
from geometry.shapes import area


def hull_of(text):
    """The hull of a JSON list of points, as JSON, and its area."""
    corners = hull([Point(**point) for point in json.loads(text)])
    return [json.dumps([asdict(corner) for corner in corners]), area(corners)]
END
echo 'Points are a frozen dataclass now.'
