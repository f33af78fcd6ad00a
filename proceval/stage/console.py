"""stage=console: look at problems, proofs, mutants and runs in a browser; nothing is written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval.console import launch
from proceval.console.desk import Desk
from proceval.console.parts import Parts
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.protocols import Family, Prover
from proceval.stage import progress


class Console:
    """Serves until it is interrupted; proofs run in a killable worker and completions in the sandbox, on request only."""

    writes = False
    then: Sequence[str] = ()
    in_place = False

    def __init__(
        self,
        *,
        families: Mapping[str, Mapping[str, Family]],
        prover: Prover,
        track: Any,
        sandbox: Any,
        pass_k: list[int],
        port: Annotated[int, Field(ge=1, le=65535)],
        address: str,
    ) -> None:
        known = {name: family for group in families.values() for name, family in group.items()}
        self.desk = Desk(families=known, prover=prover, track=track, sandbox=sandbox)
        self.pass_k, self.port, self.address = pass_k, port, address

    def check(self, folder: RunFolder) -> None:
        launch.check(self.address, self.port)
        if folder.dataset is not None and not Path(folder.dataset).exists():
            raise InputError(f"dataset={folder.dataset}: no such file or folder")

    def run(self, folder: RunFolder) -> int:
        root = Path(folder.dataset) if folder.dataset is not None else folder.outputs
        self.desk.start()  # forks before the server has threads
        try:
            if (warning := launch.warning(self.address)) is not None:
                progress.say(warning)
            progress.say(f"console  {root} on http://{launch.host(self.address)}:{self.port}  (Ctrl-C ends it)")
            launch.serve(
                Parts(root=root.absolute(), desk=self.desk, pass_k=tuple(self.pass_k)), self.address, self.port
            )
        finally:
            self.desk.close()
        return 0
