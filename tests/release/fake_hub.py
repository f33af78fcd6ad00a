"""A hub on this machine, enough for huggingface_hub and datasets: repositories are folders, all uploads are regular."""

import base64
import hashlib
import json
import re
import shutil
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROUTE = re.compile(
    r"/(?:api/)?datasets/([^/]+/[^/]+)(?:/(preupload|commit|tree|paths-info|resolve|revision)/([^/]+)/?(.*))?$"
)


class FakeHub:
    """`url` answers while the block lasts; `root/USER/NAME` is a repository, `public` names those that are public."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.public: set[str] = set()
        self.tokens: set[str] = set()
        self.broken = False
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words: Any) -> None:
                pass

            def answer(self) -> None:
                status, body, headers = hub.reply(
                    self.command, urllib.parse.urlsplit(self.path), self.sent(), self.headers
                )
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {
                    "content-length": str(len(data)),
                    "content-type": "application/json",
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def sent(self) -> bytes:
                if self.headers.get("transfer-encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("content-length") or 0))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            do_GET = do_HEAD = do_POST = answer  # noqa: N815

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "FakeHub":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.server.shutdown()
        self.server.server_close()

    def files(self, repo: str) -> dict[str, Path]:
        home = self.root / repo
        return {p.relative_to(home).as_posix(): p for p in sorted(home.rglob("*")) if p.is_file()}

    def reply(
        self, method: str, url: urllib.parse.SplitResult, body: bytes, headers: Any
    ) -> tuple[int, Any, dict[str, str]]:
        path = urllib.parse.unquote(url.path)
        self.tokens.add(str(headers.get("authorization")))
        if self.broken:
            return 400, {"error": "no room here"}, {}
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}, {}
        found = ROUTE.match(path)
        if found is None or not (self.root / found[1]).is_dir():
            return 404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"}
        repo, what, rest = found[1], found[2], found[4]
        if what == "preupload":
            asked = json.loads(body)["files"]
            told = [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in asked]
            return 200, {"files": told}, {}
        if what == "commit":
            return self._commit(repo, body)
        if what == "tree" or what == "paths-info":
            return 200, self._entries(repo, what, rest, body, url.query), {}
        if what == "resolve":
            return self._resolve(repo, rest)
        private = repo not in self.public
        siblings = [{"rfilename": name} for name in self.files(repo)]
        return 200, {"id": repo, "sha": self._sha(repo), "private": private, "siblings": siblings, "tags": []}, {}

    def _create(self, asked: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        repo = f"{asked.get('organization') or 'me'}/{asked['name']}"
        exists = (self.root / repo).is_dir()
        (self.root / repo).mkdir(parents=True, exist_ok=True)
        if not exists and not asked.get("private") and asked.get("visibility") != "private":
            self.public.add(repo)
        return 409 if exists else 200, {"url": f"{self.url}/datasets/{repo}", "name": repo}, {}

    def _commit(self, repo: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        for line in body.splitlines():
            step = json.loads(line)
            place = self.root / repo / str(step["value"].get("path"))
            if step["key"] == "file":
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(base64.b64decode(step["value"]["content"]))
            elif step["key"] == "deletedFile":
                place.unlink()
            elif step["key"] == "deletedFolder":
                shutil.rmtree(place)
        url = f"{self.url}/datasets/{repo}/commit/{self._sha(repo)}"
        return 200, {"success": True, "commitOid": self._sha(repo), "commitUrl": url, "hookOutput": ""}, {}

    def _entries(self, repo: str, what: str, folder: str, body: bytes, query: str) -> list[dict[str, Any]]:
        entries = [
            {"type": "file", "path": name, "size": p.stat().st_size, "oid": hashlib.sha1(p.read_bytes()).hexdigest()}
            for name, p in self.files(repo).items()
        ]
        if what == "paths-info":
            wanted = (
                json.loads(body)["paths"] if body[:1] == b"{" else urllib.parse.parse_qs(body.decode()).get("paths", [])
            )
            return [entry for entry in entries if entry["path"] in wanted]
        inside = folder.rstrip("/") + "/" if folder else ""
        entries = [entry for entry in entries if str(entry["path"]).startswith(inside)]
        if "recursive=true" in query.lower():
            return entries
        below = {str(e["path"])[len(inside) :].split("/")[0] for e in entries if "/" in str(e["path"])[len(inside) :]}
        flat = [entry for entry in entries if "/" not in str(entry["path"])[len(inside) :]]
        return flat + [
            {"type": "directory", "path": inside + name, "size": 0, "oid": "0" * 40} for name in sorted(below)
        ]

    def _resolve(self, repo: str, name: str) -> tuple[int, Any, dict[str, str]]:
        file = self.files(repo).get(name)
        if file is None:
            return 404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"}
        data = file.read_bytes()
        return 200, data, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": self._sha(repo)}

    def _sha(self, repo: str) -> str:
        return hashlib.sha1(b"".join(n.encode() + p.read_bytes() for n, p in self.files(repo).items())).hexdigest()
