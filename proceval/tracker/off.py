"""No tracker: the run folder is all there is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Off:
    """Keeps the protocol and does nothing."""

    def start(self) -> None: ...

    def write(self, run_folder: Path, summary: Mapping[str, Any], config: Mapping[str, Any]) -> None: ...

    def close(self, exit_status: int) -> None: ...
