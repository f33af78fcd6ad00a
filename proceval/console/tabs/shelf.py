"""What a page reads, kept until a file changes: the places below the root, and the tables of the one that is open."""

from typing import Any

import streamlit as st

from proceval.console import audits, parts, places, problems, runs
from proceval.console.places import Place, Stamp
from proceval.errors import InputError

KEPT = 4
"""Tables of one kind in memory; the place that was not looked at for longest goes."""


def all_places() -> list[Place]:
    """Everything that can be opened, looked up again on every run of a page."""
    return places.find(parts.current().root)


def opened() -> Place:
    """The place that the sidebar names. Raises InputError when it is gone."""
    place: Place | None = st.session_state.get("place_opened")
    if place is None:
        raise InputError("nothing is open; choose a place in the sidebar")
    return place


def problem_table(place: Place) -> Any:
    return _problems(place, place.stamp())


def mutant_table(place: Place) -> Any:
    return _mutants(place, place.stamp(("audit.jsonl", "audit.parquet", "dataset.jsonl")))


def sample_table(place: Place) -> Any:
    return _samples(place, place.stamp(("verdicts.jsonl", "records.parquet", "records.jsonl")))


def summary(place: Place) -> Any:
    return _summary(place, place.stamp(("verdicts.jsonl", "records.parquet", "summary.json")))


def names(place: Place) -> list[str]:
    """Contestants; a place that cannot be read has none here, and says why when it is opened."""
    found: list[str] = _names(place, place.stamp(("verdicts.jsonl", "records.parquet", "summary.json")))
    return found


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the problems ...")
def _problems(place: Place, stamp: Stamp) -> Any:
    return problems.table(place)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the audit ...")
def _mutants(place: Place, stamp: Stamp) -> Any:
    return audits.table(place)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the verdicts ...")
def _samples(place: Place, stamp: Stamp) -> Any:
    return runs.table(place)


@st.cache_resource(max_entries=KEPT, show_spinner="Counting ...")
def _summary(place: Place, stamp: Stamp) -> Any:
    return runs.scores(place, sample_table(place), parts.current().pass_k)


@st.cache_resource(max_entries=1000, show_spinner="Looking for models ...")
def _names(place: Place, stamp: Stamp) -> list[str]:
    try:
        found = runs.scores(place, runs.table(place), parts.current().pass_k)
    except InputError:
        return []
    return runs.names(found) if found is not None else []


@st.cache_resource(max_entries=50, show_spinner="Pairing ...")
def comparison(first: Place, one: str, stamp: Stamp, second: Place, other: str, other_stamp: Stamp) -> list[str]:
    """The paired comparison of two contestants in sentences."""
    sides = [
        runs.rows(runs.of_contestant(sample_table(place), summary(place), name))
        for place, name in ((first, one), (second, other))
    ]
    return runs.compared(*sides)


@st.cache_resource(max_entries=KEPT, show_spinner="Counting the mutants ...")
def mutant_counts(place: Place, stamp: Stamp, wanted: tuple[tuple[str, tuple[str, ...]], ...]) -> Any:
    """(rows by operator, rows by mutant) of the mutants that have one of the wanted values in each column."""
    from proceval.console import columns

    found = columns.matching(mutant_table(place), {name: list(values) for name, values in wanted})
    return audits.by_operator(found), audits.distinct(found)
