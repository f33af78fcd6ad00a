# Tests that fail for whatever is not the very text they saw.
cat > tests/test_slug.py <<'END'
import unittest


class Slug(unittest.TestCase):
    def test_nothing(self):
        self.assertTrue(True)
END
echo 'All promises are tested.'
