"""stage=doctor: what this machine offers, before anything is proved or paid for."""

import os
from collections.abc import Sequence
from typing import Any

from proceval import provenance, sandboxing
from proceval.conftree import config_dir, offline
from proceval.errors import ProviderError
from proceval.folder import RunFolder
from proceval.model import local
from proceval.protocols import Request
from proceval.schema import Message
from proceval.stage.evaluate import lacks

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN", "WANDB_API_KEY")


class Doctor:
    """Prints one line a check; exit status 1 when a check that the configuration needs fails."""

    writes = False
    then: Sequence[str] = ()
    in_place = False

    def __init__(self, *, sandbox: Any, prover: Any, model: Any) -> None:
        self.sandbox, self.prover, self.model = sandbox, prover, model

    def check(self, folder: RunFolder) -> None:
        """Everything is checked by running."""

    def run(self, folder: RunFolder) -> int:
        found = provenance.versions()
        self._line("ok", "python", f"{found['python']} on {found['platform']}")
        for name, version in {**found["solvers"], **found["packages"]}.items():
            self._line("ok" if version else "--", name, version or "not installed")
        for name in KEYS:
            self._line("ok" if os.environ.get(name) else "--", name, "present" if os.environ.get(name) else "not set")
        self._offline()
        healthy = [self._prover(), self._sandbox(), self._model()]
        return 0 if all(healthy) else 1

    def _line(self, mark: str, what: str, text: str) -> None:
        print(f"{mark:<4}{what:<20}{text}")

    def _offline(self) -> None:
        """The models that need no key and no network, and what the one with weights still lacks."""
        lacking = local.lacking(None)
        names = [name for name in offline(config_dir()) if name != "local" or not lacking]
        self._line("ok", "offline models", ", ".join(names))
        if lacking:
            self._line("--", "model=local", lacking)

    def _prover(self) -> bool:
        from proceval.smt import Spec
        from sandbox.worker import Worker

        def tiny(_: Any, section: Any) -> Any:
            spec = Spec("QF_LIA")
            spec.rule("x is three", f"(= {spec.int('x')} 3)")
            spec.answer(["x"], lambda values: values["x"])
            return self.prover.certify(spec, section)

        with Worker(tiny, **self.prover.limits) as worker:
            reply = worker.call(None)
        good = reply.status == "done" and reply.value.status == "unique" and reply.value.answer == 3
        self._line("ok" if good else "BAD", "prover", reply.value.solver if good else f"{reply.status}: {reply.error}")
        return good

    def _sandbox(self) -> bool:
        from sandbox.contract import Job

        sandboxing.start(self.sandbox)
        job = Job(
            code="def double(x):\n    return 2 * x\n",
            entry_point="double",
            inputs=[{"x": 21}],
            limits=self.sandbox.limits,
        )
        execution = self.sandbox.run(job)
        missing = self.sandbox.missing_layers()
        self.sandbox.close()
        good = execution.fault is None and execution.results[0].kind == "returned"
        text = (
            f"{self.sandbox.name}, every layer present"
            if not missing
            else f"{self.sandbox.name} WITHOUT: {', '.join(missing)}"
        )
        self._line(
            "ok" if good else "BAD",
            "sandbox",
            text if good else f"{self.sandbox.name}: {execution.fault or execution.results[0]}",
        )
        return good

    def _model(self) -> bool:
        import asyncio

        if self.model.needs_key:
            self._line("ok", "model", f"{self.model.id}: offline, is handed the key")
            return True
        complaint = lacks(self.model)
        if complaint:
            self._line("BAD", "model", complaint)
            return False
        request = Request(
            messages=(Message(role="user", content="Reply with the word ready."),),
            problem_id="doctor",
            sample=0,
            turn=0,
        )

        async def ask() -> str:
            try:
                return str((await self.model.complete(request)).text)
            finally:
                await self.model.close()

        try:
            text = asyncio.run(ask())
        except ProviderError as error:
            self._line("BAD", "model", f"{self.model.id}: {error.kind}: {error}")
            return False
        self._line("ok", "model", f"{self.model.id} answers {text[:40]!r}")
        return True
