"""What the pages of both tracks share: the list of judged samples, and the head of the one that is open."""

from collections import Counter

import streamlit as st

from proceval.console import cases
from proceval.console.cases import Case, Track
from proceval.console.look import NOTHING, literal, number
from proceval.console.places import Place, Stamp
from proceval.console.tabs import shelf, show


def chosen(track: Track, command: str) -> Case | None:
    """Filters and list of a track's samples; the one that is open. Ends the page where there is none."""
    place = shelf.opened()
    found = _cases(place, track, place.stamp(cases.MARKS))
    if not found:
        show.empty(f"No judged case of this track lies here ({cases.SHEETS[track]}).", command)
    outcomes = Counter(case.outcome for case in found)
    show.facts({
        "samples": f"{len(found):,}", "cases": f"{len({case.name for case in found}):,}",
        "arms": ", ".join(dict.fromkeys(case.arm for case in found)),
        **{outcome.replace("_", " "): f"{count:,}" for outcome, count in outcomes.most_common(4)},
    })  # fmt: skip
    if len(found) == cases.MOST:
        st.caption(f"Only the first {cases.MOST:,} samples are listed.")
    left, middle, right = st.columns(3)
    wanted = {
        "arm": left.multiselect("Arm", sorted({c.arm for c in found}), key=f"{track}_arm", placeholder="all"),
        "outcome": middle.multiselect("Outcome", sorted(outcomes), key=f"{track}_outcome", placeholder="all"),
        "name": right.multiselect("Case", sorted({c.name for c in found}), key=f"{track}_case", placeholder="all"),
    }
    fitting = [case for case in found if all(not values or getattr(case, n) in values for n, values in wanted.items())]
    at = show.paged(len(fitting), track, "samples")
    rows = fitting[at * show.PAGE : (at + 1) * show.PAGE]
    labels = {case.key: f"{case.name}  ·  {case.arm}, sample {case.sample}: {case.outcome}" for case in rows}
    shown = [
        {
            "case": case.name, "arm": case.arm, "sample": case.sample, "outcome": case.outcome, "score": case.score,
            "fault": case.fault, "detail": case.detail,
        }
        for case in rows
    ]  # fmt: skip
    one = show.chosen(shown, [case.key for case in rows], labels, track, "Sample")
    return next((case for case in rows if case.key == one), None)


def head(case: Case) -> None:
    """Name and judgement of a sample."""
    st.subheader(literal(case.name), divider="gray")
    show.facts({
        "outcome": case.outcome, "score": NOTHING if case.score is None else number(case.score, "", 2), "arm": case.arm,
        "sample": str(case.sample), "fault": case.fault,
    })  # fmt: skip
    if case.detail:
        show.text(case.detail)


@st.cache_resource(max_entries=shelf.KEPT, show_spinner="Reading the cases ...")
def _cases(place: Place, track: Track, stamp: Stamp) -> list[Case]:
    return cases.cases(place, track)
