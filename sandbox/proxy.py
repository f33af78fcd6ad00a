"""A loopback proxy that leads to one model endpoint and nowhere else, counts what goes there, and holds the key.

It serves a listening socket that may belong to another network namespace: whoever can connect to that reaches the
endpoint, without a route, a name server or a key of its own. One request a connection, bodies of any HTTP/1.1 form.
"""

import asyncio
import contextlib
import json
import posixpath
import re
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_HEAD_BYTES, _BODY_BYTES, _KEPT_BYTES, _CHUNK_BYTES = 1 << 16, 1 << 26, 1 << 24, 1 << 16
_HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "upgrade"}
_KEYS = ("authorization", "x-api-key", "api-key")
_CONNECT_S = 30.0


class CountingProxy:
    """Serves `listener`, which it closes at the end; an async context manager.

    Requests below the path of `base_url` are passed on, with `key` in place of whatever key they bear. `tunnel`: only
    CONNECT to the endpoint's host is passed on instead, and nobody sees what is in it.
    """

    def __init__(self, listener: socket.socket, *, base_url: str, key: str | None, tunnel: bool):
        self._listener, self._key, self._tunnel = listener, key, tunnel
        parts = urlsplit(base_url)
        self._secure = parts.scheme == "https"
        self._host = str(parts.hostname)
        self._port = parts.port or (443 if self._secure else 80)
        self._path = parts.path.rstrip("/")
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.base_url = address if tunnel else address + self._path
        """What the client is told."""
        self.answered = 0
        """POST requests that were answered with a status below 300."""
        self.refused: list[int] = []
        """Statuses of the other POST requests; 0 where the endpoint could not be reached."""
        self.usage: list[tuple[int | None, int | None]] = []
        """(prompt tokens, completion tokens) of every answered request, None where the answer does not say."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "CountingProxy":
        self._listener.setblocking(False)
        self._server = await asyncio.start_server(self._serve, sock=self._listener, limit=_HEAD_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._one(reader, writer)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            pass  # the client went away, or speaks something else
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        if self._tunnel:
            await self._pass_through(method, target, reader, writer)
            return
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        path = self._allowed(target)
        body = await _body(reader, headers)
        if path is None:
            await _answer(writer, 403, f"this proxy leads to {self._path or '/'} of one endpoint only")
            return
        try:
            await self._forward(method, path, headers, body, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError) as error:
            if method == "POST":
                self.refused.append(0)
            await _answer(writer, 502, f"the endpoint cannot be reached: {type(error).__name__}")

    def _allowed(self, target: str) -> str | None:
        """Path and query to ask the endpoint for, None when that is not below its base."""
        parts = urlsplit(target)
        plain = posixpath.normpath(parts.path)
        if plain != parts.path.rstrip("/") or not (plain + "/").startswith(self._path + "/"):
            return None
        return parts.path + (f"?{parts.query}" if parts.query else "")

    async def _forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        there, up = await self._connect()
        try:
            up.write(self._request(method, path, headers, body))
            await up.drain()
            head = await there.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            status = int(lines[0].split(" ")[1])
            kept = [line for line in lines[1:] if line and line.split(":")[0].lower() not in _HOP_BY_HOP]
            writer.write("\r\n".join([lines[0], *kept, "Connection: close", "", ""]).encode("latin-1"))
            chunked = any(re.match(r"transfer-encoding:.*chunked", line, re.IGNORECASE) for line in kept)
            seen = await _copy(there, writer, keep_bytes=_KEPT_BYTES)
        finally:
            up.close()
        if method == "POST" and status < 300:
            self.answered += 1
            self.usage.append(_usage(_unchunked(seen) if chunked else seen))
        elif method == "POST":
            self.refused.append(status)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(_CONNECT_S):
            secure = self._secure and not self._tunnel
            return await asyncio.open_connection(self._host, self._port, ssl=secure or None, limit=_HEAD_BYTES)

    def _request(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        dropped = {*_HOP_BY_HOP, "host", "content-length", "transfer-encoding", "accept-encoding", "expect"}
        sent = {name: value for name, value in headers.items() if name not in dropped}
        if self._key is not None:
            borne = [name for name in _KEYS if name in sent] or ["authorization"]
            sent |= {name: f"Bearer {self._key}" if name == "authorization" else self._key for name in borne}
        default = 443 if self._secure else 80
        host = self._host if self._port == default else f"{self._host}:{self._port}"
        sent |= {"host": host, "content-length": str(len(body)), "connection": "close", "accept-encoding": "identity"}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        return "\r\n".join(lines).encode("latin-1") + body

    async def _pass_through(
        self, method: str, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if method != "CONNECT" or target.lower() != f"{self._host}:{self._port}":
            await _answer(writer, 403, f"this proxy tunnels to {self._host}:{self._port} only")
            return
        try:
            there, up = await self._connect()
        except (OSError, TimeoutError):
            self.refused.append(0)
            await _answer(writer, 502, "the endpoint cannot be reached")
            return
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_copy(reader, up), _copy(there, writer))
        finally:
            up.close()


def _head(text: bytes) -> tuple[str, str, dict[str, str]]:
    """Method, target and headers by lower-case name; raises ValueError for anything else."""
    first, *lines = text.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines if line)
    return method, target, {name.strip().lower(): value.strip() for name, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """The whole body, chunks joined; ValueError when it is longer than is passed on."""
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= _BODY_BYTES:
            raise ValueError("the body is too long")
        return await reader.readexactly(length)
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if len(body) + size > _BODY_BYTES:
            raise ValueError("the body is too long")
        body += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return body


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, keep_bytes: int = 0) -> bytes:
    """Pass everything on as it comes; gives the first bytes of it."""
    kept = bytearray()
    while part := await source.read(_CHUNK_BYTES):
        kept += part[: max(0, keep_bytes - len(kept))]
        target.write(part)
        await target.drain()
    if target.can_write_eof():
        with contextlib.suppress(OSError):
            target.write_eof()
    return bytes(kept)


async def _answer(writer: asyncio.StreamWriter, status: int, message: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    head = f"HTTP/1.1 {status} Refused\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
    await writer.drain()


def _unchunked(body: bytes) -> bytes:
    """The content of a chunked body, as far as it is whole."""
    found, at = b"", 0
    with contextlib.suppress(ValueError):
        while size := int(body[at : (end := body.index(b"\r\n", at))].split(b";")[0], 16):
            found += body[end + 2 : end + 2 + size]
            at = end + 2 + size + 2
    return found


def _usage(body: bytes) -> tuple[int | None, int | None]:
    """What a JSON answer or an event stream says it took; several counts of one answer grow, so the largest holds."""
    text = body.decode("utf-8", "replace")
    events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")] or [text]
    prompt: list[int] = []
    completion: list[int] = []
    for event in events:
        with contextlib.suppress(ValueError, RecursionError):
            for usage in _usages(json.loads(event)):
                for names, counts in (
                    (("prompt_tokens", "input_tokens"), prompt),
                    (("completion_tokens", "output_tokens"), completion),
                ):
                    counts += [usage[name] for name in names if type(usage.get(name)) is int and usage[name] >= 0]
    return max(prompt, default=None), max(completion, default=None)


def _usages(event: Any) -> list[dict[str, Any]]:
    """The usage objects of an event: its own, its message's or its response's."""
    if not isinstance(event, dict):
        return []
    holders = [event, event.get("message"), event.get("response")]
    found = [holder.get("usage") for holder in holders if isinstance(holder, dict)]
    return [usage for usage in found if isinstance(usage, dict)]
