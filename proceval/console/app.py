"""The script that the server runs on every visit: what is open, the pages, and one of them."""

import time
from pathlib import Path

import streamlit as st

from proceval.console import look, parts
from proceval.console.places import Place
from proceval.console.tabs import shelf, show
from proceval.errors import InputError

TABS = Path(__file__).with_name("tabs")
LOOKS_EVERY_S = 3.0  # how often an open page looks whether its files have changed
ICONS = {"run": "●", "sweep": "▣", "release": "★", "set": "◆"}


def main() -> None:
    st.set_page_config(page_title="proceval console", layout="wide")
    st.html(look.css())
    page = st.navigation(
        [
            st.Page(TABS / "problems.py", title="Problems", default=True),
            st.Page(TABS / "audit.py", title="Audit", url_path="audit"),
            st.Page(TABS / "runs.py", title="Runs", url_path="runs"),
            st.Page(TABS / "compare.py", title="Compare", url_path="compare"),
            st.Page(TABS / "review.py", title="Review", url_path="review"),
            st.Page(TABS / "agent.py", title="Agent", url_path="agent"),
        ],
        position="top",
    )
    try:
        choose()
        page.run()
    except InputError as error:
        st.error(look.literal(error))
    follow()


def choose() -> None:
    """The sidebar: what is open."""
    root = parts.current().root
    if not root.exists():
        st.title("Nothing here yet")
        show.empty(f"There is no folder {root}.", "python -m proceval")
    places = {place.path.as_posix() + place.kind: place for place in shelf.all_places()}
    if not places:
        st.title("Nothing here yet")
        show.empty(f"{root} holds no run, no sweep and no dataset.", "python -m proceval")
    if st.session_state.get("place") not in places:
        asked = st.query_params.get("open")
        found = _named(places, asked) if asked else None
        st.session_state["place"] = found or next(iter(places))
        st.session_state["place_missing"] = asked if not found else None
    with st.sidebar:
        st.markdown("#### proceval console")
        key = st.selectbox(
            "Open",
            list(places),
            key="place",
            format_func=lambda one: f"{ICONS[places[one].kind]} {places[one].label}",
            on_change=lambda: st.session_state.pop("place_missing", None),
        )
        place = places[key]
        about(place)
    if st.session_state.get("place_missing"):
        missing, instead = (look.literal(label) for label in (st.session_state["place_missing"], place.label))
        st.warning(f'There is no place "{missing}" here; "{instead}" is shown instead.')
    st.session_state["place_opened"] = place


def _named(places: dict[str, Place], label: str) -> str | None:
    """The place of a label out of an address, where a + that nobody wrote as %2B has become a space."""
    spaced = {key: place.label.replace("+", " ") for key, place in places.items()}
    exact = (key for key, place in places.items() if place.label == label)
    return next(exact, next((key for key in places if spaced[key] == label.replace("+", " ")), None))


def _near(path: Path) -> Path:
    """The path as it is seen from where the console was started."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def about(place: Place) -> None:
    kinds = {
        "run": "a run",
        "sweep": f"a sweep of {len(place.folders)} jobs",
        "release": "a release",
        "set": "records without a run",
    }
    st.caption(kinds[place.kind])
    st.caption(look.literal(_near(place.path)))
    changed = max((time_ns for _, time_ns, _ in place.stamp()), default=0)
    if changed:
        st.caption(f"changed {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(changed / 1e9))}; files are followed")


@st.fragment(run_every=LOOKS_EVERY_S)
def follow() -> None:
    """Run the page again as soon as a file of the open place has changed."""
    place = st.session_state.get("place_opened")
    if place is None:
        return
    stamp = (place.path, place.stamp())
    before = st.session_state.get("place_stamp")
    st.session_state["place_stamp"] = stamp
    if before is not None and before[0] == stamp[0] and before[1] != stamp[1]:
        st.rerun()


main()
