"""stage=selftest track=agent: scripted agents through every case; right runs must pass, idle and cheating ones must not."""

from collections.abc import Callable
from typing import Any, get_args

from proceval import folder as files
from proceval import sandboxing
from proceval.folder import RunFolder
from proceval.model.scripted_agent import Behaviour, ScriptedAgent
from proceval.schema import AgentCase, Verdict
from proceval.strategy.flat import Flat

MUST_PASS = ("gold", "clumsy")
"""Behaviours that do the task; all others must fail it."""


def run(track: Any, folder: RunFolder, *, engine: Any, sandbox: Any, say: Callable[[str], None]) -> int:
    """Every behaviour on every case that has what it needs; 1 when one went the wrong way, 3 when one stayed unscored."""
    sandboxing.start(sandbox)
    scorer = track.scorer(sandbox)
    wrong = unscored = 0
    for behaviour in get_args(Behaviour):
        chosen = [case for case in track.cases(folder) if _can(case, behaviour)]
        if not chosen:
            say(f"selftest {behaviour:<8} no case has a script for it")
            continue
        place = folder / "selftest" / behaviour
        engine.evaluate(
            chosen,
            model=ScriptedAgent(id=f"scripted_agent/{behaviour}", behaviour=behaviour),
            strategy=Flat(),
            track=track,
            scorer=scorer,
            samples=1,
            folder=place,
            progress=lambda done, total: None,
        )
        verdicts = list(files.read(place / "verdicts.jsonl", Verdict))
        must = behaviour in MUST_PASS
        strange = [verdict for verdict in verdicts if verdict.scored and verdict.passed != must]
        lost = [verdict for verdict in verdicts if not verdict.scored]
        right = len(verdicts) - len(strange) - len(lost)
        print(f"{behaviour:<8} {right}/{len(verdicts)} {'pass' if must else 'fail'}, as they must")
        for verdict in (*strange, *lost):
            print(f"  {verdict.family}: {verdict.outcome}" + (f": {verdict.detail}" if verdict.detail else ""))
        wrong, unscored = wrong + len(strange), unscored + len(lost)
    without = [case.family for case in track.cases(folder) if "gold" not in case.scripted]
    if without:
        say(f"selftest without a gold.sh, so no right run was tried: {', '.join(without)}")
    sandbox.close()
    return 3 if unscored else int(bool(wrong))


def _can(case: AgentCase, behaviour: str) -> bool:
    if behaviour in MUST_PASS:
        return "gold" in case.scripted
    return not case.unchecked and (behaviour != "cheat" or "cheat" in case.scripted)
