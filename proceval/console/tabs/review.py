"""The Review page: cases of the review track where a run holds them."""

import streamlit as st

from proceval.console.tabs import show


def page() -> None:
    st.title("Review")
    show.empty("No review cases here.", "python -m proceval track=review")


if __name__ == "__main__":
    page()
