"""The Agent page: cases of the agent track where a run holds them."""

import streamlit as st

from proceval.console.tabs import show


def page() -> None:
    st.title("Agent")
    show.empty("No agent cases here.", "python -m proceval track=agent")


if __name__ == "__main__":
    page()
