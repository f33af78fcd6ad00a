import os
import sys
import warnings

sys.path.append(".")
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as caught:
    import rows
    import rows.export
    import rows.source
    import rows.summary

    print(rows.summary.top([1, 5, 3]), rows.export.text([2, 1]))
    print(rows.fetch_rows([3, 1, 2], 2), rows.source.fetch_rows([3, 1, 2], most=1, reverse=True))
print(len(caught))
for old in (rows.get_data, rows.source.get_data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(old([3, 1, 2], 2, reverse=True))
    for one in caught:
        print(one.category.__name__, "fetch_rows" in str(one.message), os.path.basename(one.filename))
print("fetch_rows" in rows.__all__)
