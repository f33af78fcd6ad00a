"""Names for addresses."""

import re


def slug(title, most=40):
    """A title as part of an address.

    Letters become lower case; every run of other characters than a-z and 0-9 becomes one hyphen; there is none at either
    end. The result has at most `most` characters and is not cut within a word unless the first word alone is too long; a
    title without any letter or digit gives "untitled".
    """
    joined = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
    if not joined:
        return "untitled"
    if len(joined) <= most:
        return joined
    end = joined.rfind("-", 0, most + 1)
    return joined[:most] if end < 0 else joined[:end]
