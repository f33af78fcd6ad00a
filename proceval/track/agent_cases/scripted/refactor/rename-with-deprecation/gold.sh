sed -i 's/get_data/fetch_rows/g' README.md rows/*.py
cat >> rows/source.py <<'END'


def get_data(*arguments, **named):
    """The old name of `fetch_rows`."""
    warnings.warn("get_data is now called fetch_rows", DeprecationWarning, stacklevel=2)
    return fetch_rows(*arguments, **named)
END
sed -i 's/^"""Where rows come from."""$/"""Where rows come from."""\n\nimport warnings/' rows/source.py
sed -i 's/import fetch_rows$/import fetch_rows, get_data/; s/\["fetch_rows"\]/["fetch_rows", "get_data"]/' rows/__init__.py
echo 'Renamed; get_data still works and warns.'
