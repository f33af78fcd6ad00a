"""The paid answers of one run on disk, found again by key."""

import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from proceval.credentials import identified
from proceval.engine.estimate import request_tokens
from proceval.errors import InputError
from proceval.schema import Completion, Json, Message, Response
from proceval.seeding import digest
from proceval.store import Log, parsed


def prompt_digest(messages: tuple[Message, ...]) -> str:
    """SHA-256 of a first request: samples that share it are one task for statistics."""
    return digest([[message.role, message.content] for message in messages])


def response_key(
    *,
    model: str,
    base_url: str | None,
    parameters: Mapping[str, Json],
    prompt_sha256: str,
    arm: str,
    strategy: str,
    problem_id: str,
    sample: int,
    turn: int,
) -> str:
    """What makes two answers the same answer; leaving any part out would hand one model's answers to another."""
    return digest(
        [model, base_url, identified(dict(parameters)), prompt_sha256, arm, strategy, problem_id, sample, turn],
    )


class Responses:
    """records.jsonl with an index in memory (about 100 bytes an answer); the first of two lines with one key counts."""

    def __init__(self, path: Path, *, fsync_s: float):
        self.written_s_ago = max(0.0, time.time() - path.stat().st_mtime) if path.exists() else float("inf")
        """Seconds since the last answer found on disk was recorded; records carry no time of their own."""
        self._log = Log(path, fsync_s=fsync_s)
        self.torn_bytes = self._log.torn_bytes
        self.duplicates = 0
        self.spent: list[tuple[int, float | None]] = []
        """(tokens, cost_usd) of every answer found on disk; where the usage is unknown, what was reserved for it."""
        self.whose: dict[tuple[str, str], dict[str, Json]] = {}
        """(model, strategy) of the answers found on disk -> the parameters of the first of them."""
        self._offsets: dict[bytes, int] = {}
        for offset, line in parsed(path):
            try:
                key, completion = bytes.fromhex(line["key"]), line["completion"]
                tokens = _sum(completion["prompt_tokens"], completion["completion_tokens"])
                if tokens is None:
                    tokens = request_tokens((m["content"] for m in line["messages"]), line["parameters"])
                self.spent.append((tokens, completion["cost_usd"]))
                self.whose.setdefault((line["model"], line["strategy"]), dict(line["parameters"]))
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"{path}, byte {offset}: not a response record ({error!r})") from error
            if key in self._offsets:
                self.duplicates += 1
            else:
                self._offsets[key] = offset

    def __len__(self) -> int:
        return len(self._offsets)

    def find(self, key: str) -> Response | None:
        """The recorded answer, read back from the disk. Raises InputError when its line is not a whole record."""
        offset = self._offsets.get(bytes.fromhex(key))
        if offset is None:
            return None
        try:
            return Response.model_validate_json(self._log.read(offset))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{self._log.path}, byte {offset}, field {where}: {first['msg']}") from error

    def add(self, response: Response) -> None:
        """Record an answer: on return it survives this process."""
        self._offsets[bytes.fromhex(response.key)] = self._log.append(response.model_dump_json(ensure_ascii=True))

    def close(self) -> None:
        self._log.close()


def tokens_of(completion: Completion) -> int | None:
    """Tokens billed: prompt and completion (reasoning is part of it), None where either is unknown."""
    return _sum(completion.prompt_tokens, completion.completion_tokens)


def _sum(prompt: int | None, completion: int | None) -> int | None:
    return None if prompt is None or completion is None else prompt + completion
