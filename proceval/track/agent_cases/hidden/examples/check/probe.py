"""What each example shows, the code around the docstrings, what the module says of itself, and how many examples fail."""

import ast
import doctest
import io
import sys
import tokenize

with open("words.py", encoding="utf-8") as file:
    text = file.read()
shown, places = {}, set()
for node in ast.walk(ast.parse(text)):
    if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
        places.add((node.body[0].lineno, node.body[0].col_offset))
        for example in doctest.DocTestParser().get_examples(ast.get_docstring(node)):
            shown.setdefault(example.source.strip(), example.want.strip())
for asked in (
    'shorten("one two three", 9)', 'shorten("one two three", 7)', 'shorten("unbreakable", 4)', 'initials("ada lovelace")',
    'initials("Jean-Luc  Picard")', 'initials("")', 'count("b a b")', 'count("A a")', 'count("a, a")',
):
    print(asked, shown.get(asked, "is not there"))
passed_over = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
tokens = tokenize.generate_tokens(io.StringIO(text).readline)
lines = {}
for token in tokens:
    if token.type not in passed_over and token.start not in places:
        lines.setdefault(token.start[0], []).append(token.string)
for words in lines.values():
    print(*words)
about = ast.get_docstring(ast.parse(text)) or ""
print([name for name in ("shorten", "initials", "count", "garden") if name in about], flush=True)
sys.path.append(".")
import words

print(doctest.testmod(words).failed, "fail")
