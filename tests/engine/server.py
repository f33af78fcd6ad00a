"""A scripted OpenAI-compatible endpoint on loopback, in a process of its own.

    python tests/engine/server.py '{"latency_s": 0.05, "share_429": 0.1}'

prints its port and serves until its standard input ends. Settings, any of which can be posted to /settings later:
latency_s, share_429, share_500, retry_after (text of the header, or null), seed, per_window and window_s (a true
sliding window), most_in_flight, status and body (answer everything with these), headers, reply (text, or a list that is
walked through), finish_reason, message (more fields of it, or a list of them that is walked through), usage (an object,
or null for none), raw (bytes sent instead of an answer), cut (send so many bytes and break off), hang (never
answer), keep (remember the request bodies).
GET /stats tells what it saw.
"""

import asyncio
import collections
import json
import random
import sys
import time
from typing import Any

from aiohttp import web

DEFAULTS: dict[str, Any] = {
    "latency_s": 0.0, "share_429": 0.0, "share_500": 0.0, "retry_after": "1", "seed": 7, "per_window": None,
    "window_s": 60.0, "most_in_flight": None, "status": None, "body": None, "headers": {}, "reply": "no program here",
    "finish_reason": "stop", "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}, "raw": None,
    "cut": None, "hang": False, "message": {}, "keep": True,
}  # fmt: skip


class Endpoint:
    def __init__(self, settings: dict[str, Any]):
        self.apply(settings)

    def apply(self, settings: dict[str, Any]) -> None:
        unknown = set(settings) - set(DEFAULTS)
        if unknown:
            raise ValueError(f"unknown settings: {unknown}")
        self.settings = DEFAULTS | settings
        self.random = random.Random(self.settings["seed"])
        self.counts: collections.Counter[str] = collections.Counter()
        self.window: collections.deque[float] = collections.deque()
        self.in_flight = self.peak = 0
        self.told: dict[str, float] = {}
        self.started: float | None = None
        self.bodies: list[dict[str, Any]] = []
        self.authorizations: set[str] = set()
        self.finished = 0.0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        now = time.monotonic()
        self.started = self.started or now
        self.counts["requests"] += 1
        self.authorizations.add(request.headers.get("Authorization", ""))
        if self.settings["keep"]:
            self.bodies.append(body)
        identity = json.dumps(body["messages"])
        if now < self.told.pop(identity, 0.0):
            self.counts["early"] += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self.answer(request, body, identity, now)
        finally:
            self.in_flight -= 1
            self.finished = time.monotonic()

    async def answer(self, request: web.Request, body: dict[str, Any], identity: str, now: float) -> web.StreamResponse:
        s = self.settings
        draw = self.random.random()
        full = s["most_in_flight"] is not None and self.in_flight > s["most_in_flight"]
        if s["per_window"] is not None:
            while self.window and now - self.window[0] >= s["window_s"]:
                self.window.popleft()
            full = full or len(self.window) >= s["per_window"]
            if not full:
                self.window.append(now)
        if full or draw < s["share_429"]:
            self.counts["429"] += 1
            advice = s["retry_after"]
            if advice is not None and advice.replace(".", "").isdigit():
                self.told[identity] = time.monotonic() + float(advice) - 0.02
            return self.refuse(429, "Rate limit reached", {} if advice is None else {"Retry-After": advice})
        if s["hang"]:
            await asyncio.sleep(3600)
        if s["latency_s"]:
            await asyncio.sleep(s["latency_s"])
        if draw < s["share_429"] + s["share_500"]:
            self.counts["500"] += 1
            return self.refuse(500, "internal error", {})
        if s["status"] is not None:
            self.counts[str(s["status"])] += 1
            return self.refuse(s["status"], s["body"] or "refused", s["headers"])
        if s["raw"] is not None:
            return web.Response(body=s["raw"].encode(), content_type="application/json")
        if s["cut"] is not None:
            begun = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
            await begun.prepare(request)
            await begun.write(b'{"choices": [{"message": '[: s["cut"]])
            assert request.transport is not None
            request.transport.close()
            return begun
        reply = s["reply"]
        if isinstance(reply, list):
            reply = reply[self.counts["answered"] % len(reply)]
        more = s["message"]
        if isinstance(more, list):
            more = more[self.counts["answered"] % len(more)]
        self.counts["answered"] += 1
        answer = {
            "id": f"c{self.counts['answered']}", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": s["finish_reason"],
                         "message": {"role": "assistant", "content": reply} | more}],
        }  # fmt: skip
        if s["usage"] is not None:
            answer["usage"] = s["usage"]
        return web.json_response(answer, headers=s["headers"])

    def refuse(self, status: int, message: str, headers: dict[str, str]) -> web.Response:
        error = {"message": message, "type": "error", "param": None, "code": None}
        return web.json_response({"error": error}, status=status, headers=headers)

    async def stats(self, request: web.Request) -> web.Response:
        span = self.finished - self.started if self.started else 0.0
        return web.json_response(
            {"peak": self.peak, "span_s": span, "bodies": self.bodies, "authorizations": sorted(self.authorizations)}
            | {name: self.counts[name] for name in ("requests", "answered", "429", "500", "early")}
            | dict(self.counts)
        )

    async def change(self, request: web.Request) -> web.Response:
        self.apply(await request.json())
        return web.json_response({})


async def serve(settings: dict[str, Any]) -> None:
    endpoint = Endpoint(settings)
    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", endpoint.chat)
    app.router.add_get("/stats", endpoint.stats)
    app.router.add_post("/settings", endpoint.change)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}))
