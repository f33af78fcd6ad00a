"""Names for addresses."""

import re


def slug(title, most=40):
    """A title as part of an address.

    Letters become lower case; every run of other characters than a-z and 0-9 becomes one hyphen; there is none at either
    end. The result has at most `most` characters and is not cut within a word unless the first word alone is too long; a
    title without any letter or digit gives "untitled".
    """
    kept = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else " " for c in title.lower()).split()
    if len(kept) == 0:
        return "untitled"
    if len(kept[0]) > most:
        return kept[0][:most]
    for count in range(len(kept), 0, -1):
        whole = "-".join(kept[:count])
        if len(whole) <= most:
            return whole
