cat > frames/encoding.py <<'END'
"""One frame."""

import re

HEAD = re.compile(rb"(0|[1-9][0-9]*):")


def encode(message: str) -> bytes:
    body = message.encode("utf-8")
    return b"%d:%b\n" % (len(body), body)


def decode(frame: bytes) -> str:
    head = HEAD.match(frame)
    if head is None or frame[-1:] != b"\n" or len(frame) != head.end() + int(head[1]) + 1:
        raise ValueError("bad frame")
    try:
        return frame[head.end() : -1].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("bad frame") from None
END
cat > frames/stream.py <<'END'
"""Many frames."""

from frames.encoding import HEAD, decode, encode


def join(messages: list[str]) -> bytes:
    return b"".join(encode(message) for message in messages)


def split(data: bytes) -> tuple[list[str], bytes]:
    """The messages of whole frames, and the bytes that are left."""
    messages = []
    while b":" in data:
        head = HEAD.match(data)
        if head is None:
            raise ValueError("bad frame")
        end = head.end() + int(head[1]) + 1
        if len(data) < end:
            break
        messages.append(decode(data[:end]))
        data = data[end:]
    return messages, data
END
echo 'Frames are bytes, messages are text.'
