import sys

sys.path.append(".")
from repeats import drop_repeats

print(
    len(drop_repeats([{"id": number, "tags": [str(number), number / 2]} for number in range(100_000)])),
    len(drop_repeats([[1, {"a": None}]] * 100_000)),
    len(drop_repeats([number // 2 if number % 2 else float(number // 2) for number in range(100_000)])),
)
