cat > tests/test_slug.py <<'END'
import unittest

from slug import slug


class Slug(unittest.TestCase):
    def test_letters_become_lower_case(self):
        self.assertEqual(slug("Hello World"), "hello-world")

    def test_digits_stay(self):
        self.assertEqual(slug("Top 10 of 2024"), "top-10-of-2024")

    def test_a_run_becomes_one_hyphen_and_none_at_the_ends(self):
        self.assertEqual(slug("  a -- b!  "), "a-b")

    def test_nothing_left(self):
        self.assertEqual(slug(" !?"), "untitled")

    def test_exactly_as_long_as_allowed(self):
        self.assertEqual(slug("abc def", most=7), "abc-def")
        self.assertEqual(slug("abc def", most=6), "abc")

    def test_cut_at_the_first_word_that_does_not_fit(self):
        self.assertEqual(slug("abc longword d", most=6), "abc")

    def test_a_first_word_that_is_too_long(self):
        self.assertEqual(slug("abcdefgh", most=5), "abcde")

    def test_default_length(self):
        self.assertEqual(slug("a" * 20 + " " + "b" * 19), "a" * 20 + "-" + "b" * 19)
        self.assertEqual(slug("a" * 20 + " " + "b" * 20), "a" * 20)
END
python3 -m unittest discover -s tests -t .
