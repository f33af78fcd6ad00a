"""Where the first allocations of a forked child land: on fresh pages side by side, not in the holes of shared ones.

The first write to a page shared with the fork-server costs a fault and a copy. After a warm-up the free places of both
allocators are strewn over hundreds of pages, so they are taken and kept. Nothing depends on this but speed.
"""

import ctypes
import os

_POOL_BYTES, _POOL_HEAD_BYTES = 1 << 14, 48
"""Of the interpreter's small-object allocator; with others, filling stops at `_AT_MOST` and has gained nothing."""
_AT_MOST = 1000
_HEAP_BYTES = 200 << 10
"""Room at the top of the C heap, below the threshold from which blocks get a mapping of their own."""


def fill() -> list[object]:
    """Take the holes; the small objects in the returned list must be kept, the C blocks stay taken."""
    if "CS_GNU_LIBC_VERSION" in os.confstr_names:
        _fill_heap()
    return _fill_pools()


def _fill_heap() -> None:
    libc = ctypes.PyDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    top = libc.malloc(_HEAP_BYTES)
    beyond = []
    for size in (1 << 16, 1 << 15, 1 << 14, 1 << 13, 1 << 12, 3 << 10, 1 << 11, *range(1536, 15, -16)):
        for _ in range(_AT_MOST):
            block = libc.malloc(size - 8)
            if block is None or block > top:
                beyond.append(block)
                break
    for block in [*beyond, top]:
        libc.free(block)


def _fill_pools() -> list[object]:
    taken: list[object] = []
    for size in range(16, 513, 16):
        for _ in range(_AT_MOST):
            # Objects of exactly that size, outside of garbage collection, whose address is their block's.
            block = bytes(size - 33) if size > 32 else (1 << 29) + len(taken) if size > 16 else object()
            taken.append(block)
            if id(block) % _POOL_BYTES == _POOL_HEAD_BYTES:
                break  # the first of a pool that nothing else is in
    return taken
