python3 - <<'END'
text = open("ages.py").read()
text = text.replace("def age(born):", "def age(born, *, today=None):")
text = text.replace("    today = datetime.date.today()\n", "    today = today or datetime.date.today()\n")
text = text.replace("def greeting(name, born):", "def greeting(name, born, *, today=None):")
text = text.replace("years = age(born)", "years = age(born, today=today)")
open("ages.py", "w").write(text)
text = open("tests/test_ages.py").read()
text = text.replace("import unittest\n", "import datetime\nimport unittest\n", 1)
text = text.replace("class Ages", 'TODAY = datetime.date(2019, 6, 1)\n\n\nclass Ages')
for old in ('"2000-05-17"', '"1990-01-31"', '"2019-12-31"'):
    text = text.replace(old + ")", old + ", today=TODAY)")
open("tests/test_ages.py", "w").write(text)
END
python3 -m unittest
