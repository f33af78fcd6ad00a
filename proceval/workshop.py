"""Workspaces made to one measure."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from proceval.errors import InputError, ProcevalError, Unscored
from sandbox.contract import Limits
from sandbox.conversation import Refused, SandboxFault
from sandbox.workspace import Workspace, needed_in

_OURSELVES = str(Path(__file__).resolve().parent)
"""Where we are installed among programmes that a workspace shows, our own suites lie there with their keys."""


class CaseFault(Exception):
    """A case's own set-up failed: nobody's answer; the message is one line."""


class Unusable(Exception):
    """What was left in a workspace can be neither kept nor looked at: whoever worked there failed; one line."""


class Workshop:
    """Opens workspaces; at most `at_once` agents work at a time, further ones wait. `limits` are those of each command."""

    def __init__(
        self,
        *,
        limits: Limits,
        processes: Annotated[int, Field(ge=1)],
        disk_bytes: Annotated[int, Field(ge=1 << 20)],
        temporary_bytes: Annotated[int, Field(ge=1 << 16)],
        environment: list[str],
        programmes: list[str],
        degraded: Literal["warn", "refuse"],
        at_once: Annotated[int, Field(ge=1)],
    ):
        self.limits, self.most_bytes = limits, 2 * disk_bytes + (256 << 20)
        self._processes, self._disk_bytes, self._temporary_bytes = processes, disk_bytes, temporary_bytes
        self._environment, self._programmes, self._degraded = environment, programmes, degraded
        self._at_once = at_once
        self.missing_layers: tuple[str, ...] = ()
        """What the commands of the workspaces so far had to do without."""
        self._runs: tuple[Path, ...] = ()
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def hide(self, *runs: Path) -> None:
        """Show no command what lies in these folders, where runs are kept: records of cases hold what is expected of them.

        Raises InputError where programmes that commands need lie there, too.
        """
        for folder in runs:
            needed = needed_in(str(folder), self._programmes)
            if needed is not None:
                raise InputError(
                    f"outputs={folder}: workspaces show what lies there, {needed} among it, so an agent could read the "
                    "keys in the records of its runs; give an outputs= of its own"
                )
        self._runs = tuple(runs)

    @contextlib.asynccontextmanager
    async def open(
        self, source: Path | None, setup: Sequence[str] = (), *, covered: Sequence[Path] = (), waiting: bool = False
    ) -> AsyncIterator[Workspace]:
        """A copy of `source` after `setup`; what it is then is its baseline. `waiting`: for a place among `at_once`.

        No command sees what lies in the folders `covered`, where runs are kept (`hide`), or in this package, wherever
        they are installed.

        Raises CaseFault when the folder cannot be copied, a command of `setup` fails or leaves what cannot be kept,
        Unscored for the sandbox's own failures, here and inside the block, InputError for a layer that may not be missing.
        """
        async with self._place() if waiting else contextlib.nullcontext():
            try:
                workspace = await asyncio.to_thread(self._make, source, covered)
            except ValueError as error:
                raise CaseFault(f"the fixture cannot be copied: {error}") from error
            except SandboxFault as error:
                raise _fault(error) from error
            try:
                for command in setup:
                    await self._set_up(workspace, command)
                await self._settle(workspace)
                yield workspace
            except SandboxFault as error:
                raise _fault(error) from error
            finally:
                self.missing_layers = tuple(dict.fromkeys((*self.missing_layers, *workspace.missing_layers())))
                _close(workspace)

    def _place(self) -> asyncio.Semaphore:
        """The places of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            self._places = (loop, asyncio.Semaphore(self._at_once))
        return self._places[1]

    def _make(self, source: Path | None, covered: Sequence[Path]) -> Workspace:
        return Workspace(
            source,
            limits=self.limits,
            processes=self._processes,
            disk_bytes=self._disk_bytes,
            temporary_bytes=self._temporary_bytes,
            environment=self._environment,
            programmes=self._programmes,
            covered=[_OURSELVES, *map(str, (*self._runs, *covered))],
            degraded=self._degraded,
        )

    async def _settle(self, workspace: Workspace) -> None:
        try:
            await asyncio.to_thread(workspace.settle)
        except ValueError as error:
            raise CaseFault(f"what setup left cannot be kept: {error}") from error

    async def _set_up(self, workspace: Workspace, command: str) -> None:
        outcome = await workspace.arun(command)
        if outcome.fault is not None:
            raise Unscored(f"workspace: {outcome.fault}")
        if outcome.exit_code != 0:
            ended = f"exit {outcome.exit_code}" if outcome.kind == "exited" else outcome.kind
            said = " ".join((outcome.stderr.strip() or outcome.stdout.strip()).split())[-200:]
            raise CaseFault(
                f"setup failed ({ended}): {' '.join(command.split())[:200]}" + (f": {said}" if said else "")
            )


def _fault(error: SandboxFault) -> ProcevalError:
    if isinstance(error, Refused):
        return InputError(f"track.workspace: {error}")
    return Unscored(f"workspace: {error}")


def _close(workspace: Workspace) -> None:
    """Raises Unscored when the host cannot take away what it made."""
    try:
        workspace.close()
    except OSError as error:
        raise Unscored(f"workspace: it cannot be removed: {error}") from error
