"""Names for addresses."""

import re


def slug(title, most=40):
    """A title as part of an address.

    Letters become lower case; every run of other characters than a-z and 0-9 becomes one hyphen; there is none at either
    end. The result has at most `most` characters and is not cut within a word unless the first word alone is too long; a
    title without any letter or digit gives "untitled".
    """
    words = re.findall(r"[a-z0-9]+", title)
    if not words:
        return "untitled"
    found = words[0][:most]
    for word in words[1:]:
        if len(found) + 1 + len(word) > most:
            break
        found += "-" + word
    return found
