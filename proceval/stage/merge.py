"""stage=merge: join the shards of a dataset; gives the same bytes as one run without shards."""

from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.stage import progress
from proceval.stage.generate import Generate


class Merge(Generate):
    """Reads the shards of the same domain, difficulty, seed and count, checks that none is missing, drops duplicates once."""

    def __init__(self, **parameters: object) -> None:
        self.expected = dict(parameters["shard"])["count"]  # type: ignore[call-overload]
        super().__init__(**{**parameters, "shard": {"count": 1, "index": 0}})  # type: ignore[arg-type]
        self.then = ["stage=audit"]

    def check(self, folder: RunFolder) -> None:
        super().check(folder)
        if self.expected < 2:
            raise InputError("shard.count is missing: stage=merge needs the number of shards, e.g. shard.count=64")
        paths = [folder.shard(index, self.expected) for index in range(self.expected)]
        missing = [index for index, path in enumerate(paths) if not path.is_file()]
        if missing:
            shown = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
            raise InputError(
                f"{len(missing)} of {self.expected} shards are missing: shard.index={shown}; run them with the same keys first"
            )

    def run(self, folder: RunFolder) -> int:
        paths = [folder.shard(index, self.expected) for index in range(self.expected)]
        if not (folder / "generation.json").is_file():
            with folder.generating():
                folder.adopt(paths[0].parent, ("certificates",))
                self._make(folder, paths)
                folder.publish()
        progress.say(f"merge    {self.expected} shards joined")
        return self._end(folder)
