import builtins
import io
import os
import pathlib
import sys

sys.path.append(".")
real, opened = io.open, []


def counting(file, *arguments, **named):
    if os.path.basename(str(file)) == "prices.csv":
        opened.append(file)
    return real(file, *arguments, **named)


builtins.open = io.open = counting
from shop.catalogue import price
from shop.quotes import quote


def said(lines):
    del opened[:]
    return (*quote(lines), len(opened))


print(said([[2, "apple"], [1, "pear"], [1, "plum"], [3, "apple"]] * 50))
print(said([]))
stamp = os.stat("prices.csv").st_mtime_ns
with real("prices.csv", "w") as file:
    file.write("article,cents\napple,31\npear,45\n")
os.utime("prices.csv", ns=(stamp, stamp))
print(said([[1, "apple"]]), price("pear"))
with real("prices.csv", "a") as file:
    file.write("plum,7\napple,99\n")
print(said([[1, "plum"], [1, "apple"]]), price("apple"))
try:
    price("fig")
except KeyError as error:
    print("KeyError", error.args)
