case $1 in
  1)
    python3 - <<'END'
text = open("stats/numbers.py").read()
new = "def median(values):\n    ordered = sorted(values)\n    return ordered[len(ordered) // 2]\n\n\n"
text = text.replace("FIGURES =", new + "FIGURES =").replace('{"mean": mean}', '{"mean": mean, "median": median}')
open("stats/numbers.py", "w").write(text)
END
    python3 -m stats median 3 1 2
    ;;
  2)
    python3 - <<'END'
text = open("stats/numbers.py").read()
check = '    if not values:\n        raise ValueError("no values")\n'
text = text.replace("def mean(values):\n", "def mean(values):\n" + check)
text = text.replace("def median(values):\n", "def median(values):\n" + check)
text = text.replace("[len(ordered) // 2]", "[(len(ordered) - 1) // 2]")
open("stats/numbers.py", "w").write(text)
END
    echo 'Both raise ValueError, and the lower of two middle values counts.'
    ;;
  3)
    python3 - <<'END'
text = open("stats/__main__.py").read()
old = "print(FIGURES[name]([float(text) for text in texts]))\n"
new = 'try:\n    print(FIGURES[name]([float(text) for text in texts]))\nexcept ValueError as error:\n    print(f"stats: {error}", file=sys.stderr)\n    sys.exit(2)\n'
open("stats/__main__.py", "w").write(text.replace(old, new))
END
    echo "LINE: $(python3 -m stats median 4 1 3 2)"
    ;;
esac
