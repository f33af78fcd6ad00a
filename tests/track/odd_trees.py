"""Trees that somebody may leave, as bash commands that make them in a workspace: shared by the tests of both tracks.

There are README.md and src/core.py at first; OUTSIDE stands for a folder of the host's that everybody may write to.
"""

ODD = {
    "names with line ends": r"touch $'a\nb' $'c\r' $'\x1b[2J'; mkdir $'d\n'; touch $'d\n/e'; ln -s $'a\nb' $'l\n'",
    "names with backslashes": r"touch 'a\b' '\' 'c\n'; mkdir 'd\'; touch 'd\/e\f'; ln -s 'a\b' 'l\'",
    "names that are not UTF-8": (
        r"echo a > $'\xff\xfe'; mkdir $'\xed\xa0\x80'; echo 'x = 1' > $'\xed\xa0\x80/\xfe.py'; ln -s $'\xfd' $'\xfc'"
    ),
    "names as long as can be": (
        "x=$(printf 'x%.0s' $(seq 255)); touch $x; mkdir -p y/$x/$x/$x/$x; touch y/$x/$x/$x/$x/$x; "
        "ln -s $(printf 'z%.0s' $(seq 4000)) long"
    ),
    "names like options": "touch -- -rf --help '*' '?' '~' ' ' '#' '%s' '{}' '[x' '.gitignore' '...'",
    "links that lead out": (
        "ln -s OUTSIDE out; ln -s / top; ln -s ../../.. up; ln -s /proc/self/root root; "
        "rm -f README.md; ln -s OUTSIDE/secret README.md"
    ),
    "links where others write": "ln -s OUTSIDE check; mkdir -p .claude; ln -s OUTSIDE .claude/skills",
    "links in a circle": (
        "ln -s b a; ln -s a b; ln -s . here; mkdir d; ln -s ../d d/d; rm -f README.md; ln -s README.md README.md"
    ),
    "links to nothing": "ln -s nowhere n; ln -s /no/such/place m; rm -f README.md; ln -s gone README.md",
    "a link for a folder": "rm -rf src; ln -s OUTSIDE src",
    "pipes, sockets and devices": (
        "mkfifo pipe; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"; mknod dev c 1 3; "
        "rm -f README.md; mkfifo README.md; rm -rf src; mkfifo src"
    ),
    "a socket for a file": (
        "rm -f README.md; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('README.md')\""
    ),
    "modes that deny everything": (
        "mkdir -p a/b/c; touch a/b/c/d; chmod 000 a/b/c/d a/b/c a/b a README.md src/core.py src; chmod 000 ."
    ),
    "modes of all kinds": (
        "touch s t u; chmod 7777 s; chmod 4755 t; chmod 2000 u; mkdir v w; chmod 1777 v; chmod 6111 w; chmod 0222 README.md"
    ),
    "a folder for a file": (
        "rm -f README.md; mkdir README.md; touch README.md/README.md; rm -f src/core.py; mkdir -p src/core.py/core.py"
    ),
    "a file for a folder": "rm -rf src; echo src > src",
    "nothing": "rm -rf -- * .[!.]*",
    "hard links": "echo same > one; for n in $(seq 100); do ln one same$n; done; ln README.md other; ln src/core.py again.py",
    "one file under many names": "head -c 9000000 /dev/zero > big; for n in $(seq 99); do ln big big$n; done",
    "files with holes": "truncate -s 9000000 $(seq 999)",
    "one file with a hole": "truncate -s 9000000 README.md; truncate -s 5000000 src/core.py",
    "folders in folders": "for n in $(seq 230); do mkdir d && cd d; done",
    "folders in folders, just": "for n in $(seq 64); do mkdir d && cd d; done; touch e",
    "full to the last byte": "cat /dev/zero > full 2> /dev/null; cat /dev/zero > fuller 2> /dev/null; true",
    "texts that are none": (
        r"printf '\xff\xfe\x00' > README.md; printf '\xed\xa0\x80 = 1\n' > src/core.py; printf '\0\0' > null.py"
    ),
    "one line without an end": "head -c 8000000 /dev/zero | tr '\\0' x > README.md",
    "a repository that runs things": (
        "git init -q; git config core.fsmonitor 'touch /workspace/PWNED; false'; git config core.hooksPath /workspace"
    ),
    "processes that stay": (
        "echo x > first; (setsid sleep 600 &); "
        "(while :; do echo x >> grows; mv grows grown; mv grown grows; done &); exec 1>&- 2>&-"
    ),
}
HEAVY = {
    "sixty thousand entries": "mkdir many; cd many; seq 60000 | xargs touch 2> /dev/null; true",
    "forty thousand folders": "seq 40000 | xargs mkdir 2> /dev/null; true",
    "millions of lines": "yes | head -c 8000000 > README.md",
}
"""They take the host half a minute."""
