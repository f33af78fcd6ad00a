"""The guest's half of a conversation: load the code, then answer one request at a time with a value or an exception.

It runs in the same process as the code it serves and holds nothing worth stealing: no expected value, no later input.
All that hostile code can do from here is to forge its own answer, which it could have returned anyway. As a program
(`guest.py REQUESTS REPLIES CPU_S MEMORY_BYTES FILE_BYTES`) it first puts the limits on itself; a fork-server calls
`serve` after it has done so.

A frame is four bytes of length, sixteen of nonce, then the body; a reply's body starts with a letter: G set up (only a
fresh interpreter says so, whose start takes time that is not the code's), F set-up failed, R loaded, V value, E exception,
X SystemExit, M MemoryError, U unserialisable, L too large. A reply without the nonce of the request that is open now is a
forgery.
"""

import builtins
import gc
import os
import random
import resource
import sys
import time
import types
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sandbox import wire

# Code that runs later may patch the builtins and the modules; the functions below keep what they were born with.
globals()["__builtins__"] = dict(vars(builtins))

FILENAME = "<solution>"
NO_NONCE = b"-" * 16
MESSAGE_CHARACTERS = 500
_CHUNK_BYTES = 1 << 13
"""Small: the interpreter sets aside as much for every read, and a fresh guest pays for each page of it."""
_read, _write, _leave, _process_time = os.read, os.write, os._exit, time.process_time
_getrlimit, _setrlimit = resource.getrlimit, resource.setrlimit
_RLIMIT_CPU, _INFINITY = resource.RLIMIT_CPU, resource.RLIM_INFINITY
_soft_limit_s = 0
_stdout, _enable_gc, _module = sys.stdout, gc.enable, types.ModuleType
_encode, _parse, _unserialisable, _too_large = wire.encode, wire.parse, wire.Unserialisable, wire.TooLarge
_traceback_of = BaseException.__dict__["__traceback__"].__get__
_name_of = type.__dict__["__name__"].__get__
_syntax_line, _syntax_file = (SyntaxError.__dict__[name].__get__ for name in ("lineno", "filename"))


def serve(requests: int, replies: int, *, greet: bool) -> NoReturn:
    """Answer until `requests` ends; never returns, runs no exit handlers."""
    try:
        if greet:
            _send(replies, NO_NONCE, b"G")
        nonce, body = _receive(requests)
        code, entry_point, output_bytes, cpu_s = _parse(body.decode())
        _enable_gc()
        _limit_next_section(cpu_s)
        function, answer = _load(code, entry_point)
        _send(replies, nonce, answer)
        while function is not None:
            nonce, body = _receive(requests)
            _limit_next_section(cpu_s)
            _send(replies, nonce, _answer(function, body, output_bytes))
    finally:
        _leave(70)


def _load(code: str, entry_point: str) -> tuple[Any, bytes]:
    module = _module("solution")
    sys.modules["solution"] = module
    try:
        exec(compile(code, FILENAME, "exec", dont_inherit=True), module.__dict__)
        if entry_point not in module.__dict__:
            raise NameError(f"the code defines no {entry_point!r}")
        return module.__dict__[entry_point], b"R"
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its answer
        return None, _describe(error)
    finally:
        _flush()


def _answer(function: Any, arguments: bytes, output_bytes: int) -> bytes:
    try:
        value = function(**_parse(arguments.decode()))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its answer
        return _describe(error)
    finally:
        _flush()
    try:
        return b"V" + _encode(value, output_bytes).encode()
    except _too_large:
        return b"L"
    except _unserialisable as error:
        return b"U" + _encode(str(error)[:MESSAGE_CHARACTERS]).encode()
    except MemoryError:
        return b"M"


def _describe(error: BaseException) -> bytes:
    kind = type(error)
    if issubclass(kind, MemoryError):
        return b"M"
    try:
        message = str(error)[:MESSAGE_CHARACTERS]
    except BaseException:  # noqa: BLE001 - a hostile __str__
        message = ""
    line = None
    trace = _traceback_of(error)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    if issubclass(kind, SyntaxError) and _syntax_file(error) == FILENAME and type(_syntax_line(error)) is int:
        line = _syntax_line(error)
    letter = b"X" if issubclass(kind, SystemExit) else b"E"
    return letter + _encode([_name_of(kind), message if type(message) is str else "", line]).encode()


def _flush() -> None:
    try:
        _stdout.flush()
    except BaseException:  # noqa: BLE001 - closed or broken by the code; what it printed proves nothing anyway
        return


def _limit_next_section(cpu_s: float) -> None:
    # Backstop in whole seconds for a host that is late, or that cannot read our CPU clock (macOS).
    global _soft_limit_s
    wanted = int(_process_time() + cpu_s) + 2
    if wanted != _soft_limit_s:
        _soft_limit_s = wanted
        hard = _getrlimit(_RLIMIT_CPU)[1]
        if hard == _INFINITY or wanted <= hard:
            _setrlimit(_RLIMIT_CPU, (wanted, hard))


def _receive(requests: int) -> tuple[bytes, bytes]:
    # The host asks one thing at a time, so nothing follows a frame.
    parts, received, size = [], 0, 20
    while received < size:
        part = _read(requests, _CHUNK_BYTES if size <= _CHUNK_BYTES else 8 * _CHUNK_BYTES)
        if not part:
            _leave(0)
        parts.append(part)
        received += len(part)
        if size == 20 and received >= 4:
            size = 4 + int.from_bytes(b"".join(parts)[:4], "big")
    frame = parts[0] if len(parts) == 1 else b"".join(parts)
    return frame[4:20], frame[20:]


def _send(replies: int, nonce: bytes, body: bytes) -> None:
    frame = (len(body) + 16).to_bytes(4, "big") + nonce + body
    sent = 0
    while sent < len(frame):
        sent += _write(replies, frame[sent:] if sent else frame)


def _confine(cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    from sandbox import reaper

    reaper.die_with_parent()
    reaper.no_new_privileges()
    for which, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
    ):
        reaper.cap(which, amount)


def _main() -> NoReturn:
    requests, replies, cpu_s, memory_bytes, file_bytes = (int(word) for word in sys.argv[1:])
    try:
        _confine(cpu_s, memory_bytes, file_bytes)
    except (OSError, ValueError) as error:
        refuse(replies, repr(error))
    forget()
    serve(requests, replies, greet=True)


def refuse(replies: int, reason: str) -> NoReturn:
    """Report that the limits could not be set; the code is never read."""
    _send(replies, NO_NONCE, b"F" + reason.encode("ascii", "replace")[:MESSAGE_CHARACTERS])
    _leave(71)


def warm_up() -> None:
    """Run the machinery on harmless code, so that a fork-server's children find it compiled, specialised and cached."""
    code = "import math\ndef f(a):\n    return [sorted(a), (1, 2.5), {3}, {'k': None}, 'x', True]\n"
    failing = "def f(a):\n    raise ValueError(a)\n"
    request = _encode({"a": [3, 2, 1]}).encode()
    for source in [code, failing] * 12:
        function, _ = _load(source, "f")
        _answer(function, request, 1 << 20)
    _load("", "f")
    inner, outer = os.pipe()
    for _ in range(20):
        _send(outer, NO_NONCE, request)
        _parse(_receive(inner)[1].decode())
    os.close(inner)
    os.close(outer)
    del sys.modules["solution"]


def forget() -> None:
    """Leave a plain interpreter to the code: none of our modules, paths and arguments, and always the same chance."""
    random.seed(0)
    sys.path.pop(0)
    sys.argv[1:] = []
    for name in [name for name in sys.modules if name == "sandbox" or name.startswith("sandbox.")]:
        del sys.modules[name]


if __name__ == "__main__":
    _main()
