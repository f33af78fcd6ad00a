cat > app.toml <<'END'
[server]
port = 8080
hosts = ["a.example", "b.example"]
# seconds
timeout = 2.5

[features]
search = true
upload = false

[title]
text = 'Say "hi"; 100% \o/'
END
rm app.ini
cat > reader.py <<'END'
"""Reads the settings."""

import tomllib

PATH = "app.toml"


def load(path=PATH):
    """Settings by section; FileNotFoundError where there is no such file."""
    with open(path, "rb") as file:
        return tomllib.load(file)
END
sed -i 's/app\.ini/app.toml/g' README.md tool.py
python3 tool.py
