python3 - <<'END'
def change(path, *pairs):
    text = open(path).read()
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new)
    open(path, "w").write(text)


change("items/store.py", ("self.number = len(self.items) + 1", "self.number += 1"))
change("items/handlers.py", ('{"count": store.number}', '{"count": len(store.items)}'))
with open("items/handlers.py", "a") as file:
    file.write('''

def delete_item(store, body, number):
    if store.items.pop(int(number), None) is None:
        return [404, {}, {"error": "not found"}]
    return [204, {}, None]
''')
change(
    "items/routes.py",
    ("handlers.get_item),\n", 'handlers.get_item),\n    ("DELETE", re.compile(r"/items/(\\d+)"), handlers.delete_item),\n'),
    ("    for wanted, pattern", "    allowed = []\n    for wanted, pattern"),
    ("        if match and wanted == method:\n            return handler(store, body, *match.groups())\n",
     "        if match and wanted == method:\n            return handler(store, body, *match.groups())\n"
     "        if match:\n            allowed.append(wanted)\n"
     "    if allowed:\n"
     '        return [405, {"allow": ", ".join(sorted(allowed))}, {"error": "method not allowed"}]\n'),
)
END
echo 'DELETE works, and other methods are answered with 405.'
