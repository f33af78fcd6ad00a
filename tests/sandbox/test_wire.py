"""The canonical text: injective, order-free, type-strict, bounded, and safe to read when hostile."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import wire

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(1 << 300), max_value=1 << 300)
    | st.floats()
    | st.binary(max_size=8)
    | st.text(st.characters(), max_size=6)
    | st.text(st.sampled_from('\ud83d\ude00\ud800aé\U0001f600\\"\n'), max_size=6)
)
hashable = st.recursive(leaves, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=6)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(hashable, max_size=4)
        | st.dictionaries(hashable, inner, max_size=4)
    ),
    max_leaves=12,
)

DIFFERENT = [
    None, False, True, 0, 1, -1, 0.0, 1.0, 1e16, 10**16, float("inf"), float("-inf"), float("nan"), "", "0", "null",
    "nan", b"", b"0", (), [], set(), frozenset(), {}, (1,), [1], {1}, {1.0}, {True}, frozenset({1}), {1: 1}, {1: True},
    {"1": 1}, [[1]], [(1,)], ([1],), [1, 2], [12], ["1,2"], ["1", "2"], 2**63 - 1, 2**63, -(2**63), 10**5000,
    "\ud83d\ude00", "\U0001f600", "\ud83d", '{"tuple":[]}', {"tuple": []}, {"tuple": ()}, [["tuple", []]],
]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(values)
def test_what_is_written_is_read_back_with_the_same_types(value):
    text = wire.encode(value)
    assert text.isascii()
    assert wire.encode(wire.decode(text)) == text
    assert repr(type(wire.decode(text))) == repr(type(value))


def test_different_values_or_types_have_different_texts():
    for one, other in itertools.combinations(DIFFERENT, 2):
        assert wire.encode(one) != wire.encode(other), (one, other)


def test_order_and_history_of_sets_and_dicts_do_not_show():
    members = ["b", "a", 3, (1, 2), None, 2.5, frozenset({1, 2})]
    texts = {wire.encode(dict.fromkeys(order, 0)) for order in itertools.permutations(members, len(members))}
    assert len(texts) == 1
    assert wire.encode({1, 9, 17, 33}) == wire.encode({33, 17, 9, 1})


def test_equality_follows_python_but_for_nan_and_types():
    assert wire.encode(-0.0) == wire.encode(0.0)
    assert wire.encode(float("nan")) == wire.encode(-math.nan)
    assert wire.encode([10**30]) == wire.encode([10**30 + 1 - 1])
    assert len(wire.decode(wire.encode({float("nan"), float("nan")}))) == 2


class Shouting(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Lying:
    __class__ = int


class Meta(type):
    __name__ = property(lambda self: 1 / 0)


@pytest.mark.parametrize(
    "value",
    [
        Shouting("x"), Meta("M", (), {})(), object(), int, len, bytearray(b"x"), 1j, range(3), (x for x in ()),
        pytest.param(Lying(), id="lying"),  # its own repr would name an address
        [[Shouting("x")]], {Shouting("k"): 1}, {1: object()}, type("I", (int,), {})(3), type("D", (dict,), {})(),
    ],
)  # fmt: skip
def test_only_exact_builtin_types_are_plain(value):
    with pytest.raises(wire.Unserialisable):
        wire.encode(value)


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def cyclic():
    value = []
    value.append(value)
    return value


def doubling(depth):
    value = [1]
    for _ in range(depth):
        value = [value, value]
    return value


def test_depth_is_bounded():
    assert wire.decode(wire.encode(nested(wire.MAX_DEPTH))) == nested(wire.MAX_DEPTH)
    for value in (nested(wire.MAX_DEPTH + 1), nested(100_000), cyclic()):
        with pytest.raises(wire.Unserialisable):
            wire.encode(value)


@pytest.mark.parametrize(
    "value",
    [doubling(80), "x" * 10**6, b"x" * 10**6, 1 << 10**7, list(range(10**6)), ["\x00"] * 999],
    ids=["shared", "str", "bytes", "int", "list", "escapes"],
)
def test_size_is_bounded_before_the_work_is_done(value):
    with pytest.raises(wire.TooLarge):
        wire.encode(value, 5000)


@pytest.mark.parametrize(
    "text",
    [
        "", " 1", "1 ", "01", "+1", "1.50", "-0.0", "1E5", "[1, 2]", '"\\u0041"', '"\\ud800"', "{}", '{"set":[2,1]}',
        '{"set":[1,1]}', '{"set":[[1]]}', '{"set":1}', '{"dict":[[1]]}', '{"dict":[[2,1],[1,1]]}', '{"int":"0x5"}',
        '{"int":"5"}', '{"bytes":"AB"}', '{"str":"61"}', '{"str":"ff"}', '{"list":[]}', '{"tuple":[],"set":[]}',
        "9" * 5000, "9223372036854775808", "[" * 100_000, "nul", "NaN0", '{"dict":[[1,1],[true,1]]}', "{" * 9,
        '{"int":["0x5"]}', '{"tuple":{"tuple":[]}}', "[1]]", '{"\\ud800":1}',
    ],
)  # fmt: skip
def test_a_text_that_encode_would_not_write_is_refused(text):
    with pytest.raises(ValueError, match="canonical|hex|int|utf|JSON"):
        wire.decode(text)


def test_a_flood_of_equal_hashes_is_refused_before_the_table_is_built():
    period = (1 << 61) - 1
    keys = sorted(f'{{"int":"{hex(period * number)}"}}' for number in range(10, 30_000))
    for text in ('{"set":[' + ",".join(keys) + "]}", '{"dict":[' + ",".join(f"[{key},0]" for key in keys) + "]}"):
        with pytest.raises(ValueError, match="equal hash"):
            wire.decode(text)
