cat > served.py <<'END'
"""Files for everybody."""

import os
import stat


def read_file(root, path):
    """The text of a file below the root; PermissionError for whatever is not one."""
    try:
        top = os.path.realpath(root)
        full = os.path.realpath(os.path.join(top, path.lstrip("/")))
        if os.path.commonpath([top, full]) != top or path.endswith("/") or not stat.S_ISREG(os.stat(full).st_mode):
            raise PermissionError("not available")
        with open(full, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        raise PermissionError("not available") from None
END
echo 'The real path decides, not how it is written.'
