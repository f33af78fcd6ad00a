cat > clean.py <<'END'
"""clean.py RAW CLEAN: order files by the rules."""

import csv
import sys
from decimal import Decimal


def cents(text):
    text = text.strip()
    if "," in text:
        text = text.replace(".", "").replace(",", ".")
    return int(Decimal(text) * 100)


def day(text):
    text = text.strip()
    return "-".join(reversed(text.split("."))) if "." in text else text


def main(raw, clean):
    orders = {}
    with open(raw, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            number = row["order"].strip()
            if number:
                orders[int(number)] = [" ".join(row["customer"].split()), day(row["day"]), cents(row["euros"])]
    with open(clean, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["order", "customer", "day", "cents"])
        writer.writerows([number, *orders[number]] for number in sorted(orders))


main(*sys.argv[1:])
END
python3 clean.py orders.csv clean.csv && cat clean.csv
