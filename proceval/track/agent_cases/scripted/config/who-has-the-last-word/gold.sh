cat > service/convert.py <<'END'
"""Texts as values."""

TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def convert(name, text, default):
    """A text as a value of the default's kind; ValueError naming the setting."""
    if isinstance(default, bool):
        if text.lower() not in TRUTH:
            raise ValueError(f"{name}: {text!r} is no truth value")
        return TRUTH[text.lower()]
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{name}: {text!r} is no number") from None
    return text
END
cat > service/load.py <<'END'
"""All settings."""

from service.convert import convert
from service.defaults import DEFAULTS


def load(lines, environment):
    """Settings of a file's lines `name = value` and of environment variables."""
    found = dict(DEFAULTS)
    for line in lines:
        name, _, value = line.partition("=")
        name = name.strip()
        if name not in DEFAULTS:
            raise ValueError(f"{name}: unknown setting")
        found[name] = convert(name, value.strip(), DEFAULTS[name])
    for name, default in DEFAULTS.items():
        text = environment.get(f"SERVICE_{name.upper()}", "")
        if text:
            found[name] = convert(name, text, default)
    return found
END
echo 'The environment wins, then the file, then the defaults.'
