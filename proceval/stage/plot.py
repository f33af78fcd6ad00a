"""stage=plot: the figures alone, from the records of a run folder."""

from proceval.folder import RunFolder
from proceval.stage import progress
from proceval.stage.report import need_verdicts


class Plot:
    """Draws figures/ as PNG and SVG and says which figures have no data yet."""

    writes = True
    then = ["stage=report"]
    in_place = True

    def __init__(self, *, pass_k: list[int]) -> None:
        self.pass_k = pass_k

    def check(self, folder: RunFolder) -> None:
        if not (folder / "verdicts.jsonl").is_file():  # a track with cases of its own has no dataset
            need_verdicts(folder)

    def run(self, folder: RunFolder) -> int:
        from proceval.report import plots, summary
        from proceval.report.run import Run

        for figure in plots.draw(folder.path, summary.summarise(Run(folder.path), self.pass_k)):
            progress.say(f"plot     {figure.name}: {', '.join(figure.files) if figure.files else figure.reason}")
        return 0
