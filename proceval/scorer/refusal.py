"""Whether a reply without an answer declines the task in words; asked only when no answer was found."""

import re

_DECLINES = re.compile(
    r"\W*(?:(?:i'?m|i am)\s+(?:very\s+|really\s+)?sorry|sorry|i apologi[sz]e|"
    r"(?:unfortunately,?\s+)?i(?:\s+can'?t|\s+cannot|\s+can not|"
    r"\s+won'?t|\s+will not|'m not able|\s+am not able|'m unable|\s+am unable|\s+must decline|\s+decline)|as an ai)\b",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """True for replies that open with an apology or with "I cannot"."""
    return _DECLINES.match(text.replace("\u2019", "'").lstrip()[:200]) is not None
