python3 - <<'END'
text = open("words.py").read()
text = text.replace('"""Tools for the garden."""', '"""Texts: shorten cuts them, initials abbreviates names, count counts words."""')
text = text.replace(">>> shorten(\"one two three\", 7)\n    'one'", ">>> shorten(\"one two three\", 7)\n    'one two'")
text = text.replace("'al'", "'AL'").replace("'J.P.'", "'JP'")
text = text.replace("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}").replace("{'a': 2}", "{'A': 1, 'a': 1}")
open("words.py", "w").write(text)
END
python3 -m doctest words.py && echo 'All examples hold.'
