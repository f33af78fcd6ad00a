"""Examples that are there, examples that fail, whether the code is the same, whether the module says what it offers."""

import ast
import doctest
import sys

text = open("words.py", encoding="utf-8").read()


def bare(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


sys.path.append(".")
same = bare(text) == bare(open("check/code.txt", encoding="utf-8").read())
import words

asked = [
    'shorten("one two three", 9)', 'shorten("one two three", 7)', 'shorten("unbreakable", 4)', 'initials("ada lovelace")',
    'initials("Jean-Luc  Picard")', 'initials("")', 'count("b a b")', 'count("A a")', 'count("a, a")',
]
examples = [example for test in doctest.DocTestFinder().find(words) for example in test.examples]
shown = sum(any(example.source.strip() == one for example in examples) for one in asked)
about = ast.get_docstring(ast.parse(text)) or ""
print(shown, doctest.testmod(words).failed, same, all(name in about for name in ("shorten", "initials", "count")) and "garden" not in about)
