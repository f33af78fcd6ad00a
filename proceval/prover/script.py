"""Runs whole SMT-LIB scripts, with their own push, pop and several queries, in any solver that is installed."""

from collections.abc import Callable

Z3_LIMIT = 400_000
CVC5_LIMIT = 100_000
"""Each solver's own work counter for one query of a script; decides instead of a clock."""


def z3(text: str) -> list[str]:
    """The answers of a script's queries in order: sat, unsat or unknown. Raises ValueError for a bad script."""
    import z3 as solver

    context = solver.Context()
    return _checked(solver.Z3_eval_smtlib2_string(context.ref(), f"(set-option :rlimit {Z3_LIMIT})\n{text}"))


def cvc5(text: str) -> list[str]:
    """The same by cvc5, which needs the extra `cvc5`; raises ImportError without it."""
    import cvc5 as solver

    engine = solver.Solver()
    engine.setOption("incremental", "true")
    engine.setOption("rlimit-per", str(CVC5_LIMIT))
    parser = solver.InputParser(engine)
    parser.setStringInput(solver.InputLanguage.SMT_LIB_2_6, "(set-logic ALL)\n" + text, "script")
    answers = ""
    while not (command := parser.nextCommand()).isNull():
        answers += str(command.invoke(engine, parser.getSymbolManager()))
    return _checked(answers)


def _checked(printed: str) -> list[str]:
    answers = [line.split()[0] for line in printed.splitlines() if line.strip()]
    if not set(answers) <= {"sat", "unsat", "unknown"}:
        raise ValueError(f"the solver says {printed[:300]!r}")
    return answers


SOLVERS: dict[str, Callable[[str], list[str]]] = {"z3": z3, "cvc5": cvc5}
