import sys
import typing

sys.path.append(".")
from frames.encoding import decode, encode
from frames.stream import join, split

for function in (encode, decode, join, split):
    hints = typing.get_type_hints(function)
    print(function.__name__, {name: getattr(hint, "__name__", str(hint)) if not typing.get_args(hint) else str(hint) for name, hint in hints.items() if name == "return"}, len(hints))
print(type(encode("né")).__name__, encode("né"), type(decode(b"3:n\xc3\xa9\n")).__name__)
for bad in (b"3:abcd\n", b"03:abc\n", b"3:abc", b"x:abc\n", b"3abc\n", b"", b"2:\xc3\x28\n", b"-1:\n", b"3:abc\n3:abc\n", b"+3:abc\n", "\u0663:abc\n".encode()):
    try:
        print(repr(decode(bad)))
    except ValueError as error:
        print(error)
