import os
import sys
from pathlib import Path

sys.path.append(".")
from thumbs.journal import count, note
from thumbs.picture import shrink
from thumbs.upload import upload

names = ["plain.png", "two words.png", "a;touch pwned1;.png", "$(touch pwned2).png", "-n", "`touch pwned3`", "it's \"odd\" & > x.png", "tab\tand\nline"]
remarks = ["hello", '"; touch pwned4; echo "', "$(touch pwned5)", "-e a\\tb", "`touch pwned6`", "$HOME and * and \\", "it's", ""]
for number, (name, remark) in enumerate(zip(names, remarks)):
    print(upload("in box", name, b"%d%d-123456" % (number, number * number), remark))
for name in sorted(os.listdir("in box/small")):
    print(ascii(name), Path("in box/small", name).read_bytes())
print(ascii(Path("in box/journal").read_text()))
print(count("in box/journal", "hello"), count("in box/journal", "it's"), count("in box/journal", "-e"), count("in box/journal", "x' y"))
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
print(shrink("in box", "missing"))
note("in box/journal", "two\nlines")
print(count("in box/journal", "lines"), sorted(name for name in os.listdir(".") if name.startswith("pwned")))
