"""model=command: an external agent behind walls, its requests counted by the proxy that alone leads anywhere."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError
from proceval.model.command import Command, prompt_of
from proceval.protocols import Request
from proceval.schema import Message
from sandbox.contract import Limits
from sandbox.proxy import CountingProxy
from sandbox.workspace import Workspace
from tests.arena import Endpoint
from tests.track import yard

AGENT = """
import json, os, socket, sys, urllib.error, urllib.request

base, asked = os.environ.get("BASE", ""), int(sys.argv[1])
text = sys.argv[2] if len(sys.argv) > 2 else sys.stdin.read()


def ask(url):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer dummy"}
    try:
        return json.load(urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20))
    except urllib.error.HTTPError as error:
        return error.code


answers = [ask(base + "/chat/completions") for _ in range(asked)]
core = open("sums/core.py").read()
open("sums/core.py", "w").write(core.replace("- value", "+ value"))
seen = {"home": os.listdir(os.environ["HOME"]), "names": sorted(os.environ), "text": text}
if base:
    seen["elsewhere"] = [ask(base.replace("/v1", path)) for path in ("/settings", "/v1/../settings", "/v2/x")]
try:
    socket.create_connection(("192.0.2.1", 80), 3)
    seen["network"] = "there is one"
except OSError as error:
    seen["network"] = error.strerror
print(json.dumps(seen))
print("mended: core")
if "stop" in text:
    sys.exit(4)
"""
LIMITS = Limits(cpu_s=30, wall_s=60, memory_bytes=1 << 32, output_bytes=1 << 20, file_bytes=1 << 24)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return yard.build(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def programme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programme")
    (folder / "agent.py").write_text(AGENT)
    folder.chmod(0o755)
    return folder


def command(programme: Path, *words: str, **changes: Any) -> Command:
    given: dict[str, Any] = {
        "id": "tester",
        "argv": ["python3", str(programme / "agent.py"), *words],
        "programmes": [str(programme)],
        "environment": ["PROCEVAL_TEST_SEEN"],
        "variables": ["BASE={base_url}"],
        "base_url": None,
        "tunnel": False,
        "key_variable": None,
        "usd_per_million_prompt_tokens": 1.0,
        "usd_per_million_completion_tokens": 2.0,
        "limits": LIMITS,
        "max_in_flight": None,
    }
    return Command(**(given | changes))


def track(suite: Path, programme: Path, globs: str) -> Any:
    made = yard.track(suite, globs)
    made._workshop._programmes = [str(programme)]
    return made


def test_a_command_works_behind_walls_and_its_requests_are_counted(
    suite: Path, programme: Path, endpoint: Endpoint, box: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCEVAL_TEST_SEEN", "yes")
    monkeypatch.setenv("PROCEVAL_TEST_HIDDEN", "no")
    monkeypatch.setenv("PROCEVAL_TEST_KEY", "s3cret-key")
    endpoint.script()
    model = command(programme, "2", "{prompt}", base_url=endpoint.base_url, key_variable="PROCEVAL_TEST_KEY")
    _, (verdict,) = yard.run(track(suite, programme, "mend/sum"), tmp_path, model, box)
    assert verdict.outcome == "passed", verdict.detail
    (response,) = yard.responses(tmp_path)
    done = response.completion
    seen = json.loads(done.text.splitlines()[0])
    assert seen["home"] == []
    assert "PROCEVAL_TEST_SEEN" in seen["names"]
    assert not {"PROCEVAL_TEST_HIDDEN", "PROCEVAL_TEST_KEY"} & set(seen["names"])
    assert seen["network"] == "Network is unreachable"
    assert seen["elsewhere"] == [403, 403, 403]
    assert seen["text"].endswith("Mend sums/core.py.")
    stats = endpoint.stats()
    assert (done.requests, stats["requests"], stats["authorizations"]) == (2, 2, ["Bearer s3cret-key"])
    assert (done.prompt_tokens, done.completion_tokens) == (40, 10)
    assert done.cost_usd == pytest.approx(60e-6)
    assert "s3cret" not in (tmp_path / "records.jsonl").read_text()
    assert done.workspace_sha256 is not None
    assert (tmp_path / "workspaces" / done.workspace_sha256).is_file()


@pytest.mark.parametrize("place", ["", "bin"])
def test_a_command_is_found_by_its_name_in_its_folders(
    suite: Path, programme: Path, box: Any, tmp_path: Path, place: str
) -> None:
    tool = programme / place / f"my-agent-{place}"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(f"#!/bin/sh\nexec python3 {programme}/agent.py 0\n")
    tool.chmod(0o755)
    model = command(programme, argv=[tool.name])
    _, (verdict,) = yard.run(track(suite, programme, "mend/sum"), tmp_path / "run", model, box)
    assert verdict.outcome == "passed", verdict.detail


def test_what_it_left_is_judged_again_without_running_it(
    suite: Path, programme: Path, box: Any, tmp_path: Path
) -> None:
    model = command(programme, "0")
    made = track(suite, programme, "mend/sum")
    _, (first,) = yard.run(made, tmp_path, model, box)
    assert first.outcome == "passed", first.detail
    (response,) = yard.responses(tmp_path)
    assert response.completion.requests is None, "without an endpoint nobody knows what it asked"
    assert "Mend sums/core.py." in response.completion.text, "the prompt came on standard input"
    model._argv[:] = ["no-such-command"]
    _, (again,) = yard.run(made, tmp_path, model, box, rescore=True)
    assert again == first
    kept = tmp_path / "workspaces" / str(response.completion.workspace_sha256)
    kept.write_bytes(kept.read_bytes().replace(b"+ value", b"- value"))
    _, (lost,) = yard.run(made, tmp_path, model, box, rescore=True)
    assert (lost.outcome, lost.fault) == ("sandbox_fault", "sandbox")


def test_too_many_counted_requests_are_over_the_limit(
    suite: Path, programme: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    endpoint.script()
    model = command(programme, "4", base_url=endpoint.base_url)
    _, (verdict,) = yard.run(track(suite, programme, "mend/two"), tmp_path, model, box)
    assert (verdict.outcome, verdict.detail) == ("turn_limit", "turn limit 3 exceeded")


def test_an_endpoint_that_refuses_is_never_the_agents_wrong_answer(
    suite: Path, programme: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    endpoint.script(status=401, body="no such key")
    model = command(programme, "1", base_url=endpoint.base_url)
    report, (verdict,) = yard.run(track(suite, programme, "mend/sum"), tmp_path / "a", model, box)
    assert (verdict.outcome, report.faults, report.exit_status) == ("provider_fault", {"authentication": 1}, 3)
    unreachable = command(programme, "1", base_url="http://127.0.0.1:9/v1")
    report, (verdict,) = yard.run(track(suite, programme, "mend/sum"), tmp_path / "b", unreachable, box, attempts=1)
    assert (verdict.outcome, report.faults) == ("provider_fault", {"connection": 1})


@pytest.mark.slow
def test_a_command_that_ends_badly_says_so_and_one_that_is_not_there_is_bad_input(
    suite: Path, programme: Path, box: Any, tmp_path: Path
) -> None:
    made = track(suite, programme, "mend/sum")
    _, (verdict,) = yard.run(made, tmp_path / "a", command(programme, "0", "please stop"), box)
    (response,) = yard.responses(tmp_path / "a")
    assert response.completion.finish_reason == "other"
    assert "[the command ended with exit 4]" in response.completion.text
    assert verdict.outcome == "passed", "what it left counts, not how it ended"
    with pytest.raises(InputError, match=r"model\.argv=no-such-agent: cannot be started"):
        yard.run(made, tmp_path / "b", command(programme, argv=["no-such-agent"]), box)
    with pytest.raises(InputError, match="give track=agent"):
        asyncio.run(command(programme).complete(Request((Message(role="user", content="x"),), "p", 0, 0)))


def test_a_tree_that_cannot_be_kept_is_the_commands_own_failure(
    suite: Path, programme: Path, box: Any, tmp_path: Path
) -> None:
    """Else a command takes its failures out of the count by leaving more than is kept."""
    deep = "folders are nested more than 64 deep"
    nest = "echo mended: core; sed -i 's/- value/+ value/' sums/core.py; for n in $(seq 99); do mkdir d; cd d; done"
    model = command(programme, argv=["bash", "-c", nest])
    for rescore in (False, True):
        _, (verdict,) = yard.run(track(suite, programme, "mend/sum"), tmp_path, model, box, rescore=rescore)
        assert (verdict.outcome, verdict.fault) == ("failed", "model"), verdict.detail
        assert verdict.detail == f"the workspace as it was left cannot be judged: {deep}", "and not by an earlier tree"
    (response,) = yard.responses(tmp_path)
    assert response.completion.text.endswith("they cannot be kept: folders are nested more than 64 deep]")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"programmes": ["/no/such/folder"]}, "no such folder"),
        ({"tunnel": True}, "model.base_url: missing"),
        ({"variables": ["lower case"]}, "NAME=VALUE"),
        ({"base_url": "ftp://x"}, "model.base_url"),
    ],
)
def test_bad_settings_are_named(programme: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        command(programme, **changes)


def test_a_conversation_becomes_one_prompt() -> None:
    said = [("system", "Be brief."), ("user", "One."), ("assistant", "Done."), ("user", "Two.")]
    messages = tuple(Message(role=role, content=text) for role, text in said)  # type: ignore[arg-type]
    assert prompt_of(messages[1:2]) == "One."
    assert (
        prompt_of(messages)
        == "Be brief.\n\nEarlier in this conversation:\n\nuser: One.\n\nassistant: Done.\n\nNow:\n\nTwo."
    )


@pytest.fixture(scope="module")
def workspace() -> Any:
    limits = Limits(cpu_s=20, wall_s=30, memory_bytes=1 << 32, output_bytes=1 << 20, file_bytes=1 << 20)
    with Workspace(
        None, limits=limits, processes=64, disk_bytes=1 << 24, temporary_bytes=1 << 20, environment=[], degraded="warn"
    ) as made:
        yield made


def served(workspace: Workspace, script: str, base_url: str, *, tunnel: bool = False) -> tuple[str, CountingProxy]:
    """What a Python script prints that is given the proxy's address as its argument."""

    async def go() -> tuple[str, CountingProxy]:
        proxy = CountingProxy(workspace.listener(), base_url=base_url, key=None, tunnel=tunnel)
        async with proxy:
            workspace.write("script.py", script.encode())
            outcome = await workspace.arun(f"python3 script.py {proxy.base_url}")
        assert outcome.exit_code == 0, outcome
        return outcome.stdout, proxy

    return asyncio.run(go())


RAW = """
import socket, sys
from urllib.parse import urlsplit

place = urlsplit(sys.argv[1])


def talk(text):
    with socket.create_connection((place.hostname, place.port), 20) as line:
        line.sendall(text)
        got = b""
        while part := line.recv(65536):
            got += part
    return got


"""


def test_bodies_in_chunks_and_streams_of_events_pass_and_are_counted(workspace: Workspace, endpoint: Endpoint) -> None:
    events = 'data: {"message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}\n\ndata: {"usage": {"output_tokens": 9}}\n\n'
    endpoint.script(raw=events)
    body = b'{"model": "m", "messages": []}'
    script = RAW + (
        "head = b'POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\n'\n"
        f"body = {body!r}\n"
        "half = len(body) // 2\n"
        "chunks = b''.join(b'%x\\r\\n%s\\r\\n' % (len(p), p) for p in (body[:half], body[half:])) + b'0\\r\\n\\r\\n'\n"
        "print(talk(head + b'Transfer-Encoding: chunked\\r\\n\\r\\n' + chunks).count(b'input_tokens'))\n"
        "print(talk(b'nonsense\\r\\n\\r\\n'), talk(b'GET http://127.0.0.1/ HTTP/1.1\\r\\n\\r\\n')[:12])\n"
    )
    said, proxy = served(workspace, script, endpoint.base_url)
    assert said == "1\nb'' b'HTTP/1.1 403'\n"
    assert (proxy.answered, proxy.usage, proxy.refused) == (1, [(7, 9)], [])
    assert endpoint.stats()["bodies"] == [{"model": "m", "messages": []}]


def test_a_tunnel_leads_to_the_one_host_and_is_not_counted(workspace: Workspace, endpoint: Endpoint) -> None:
    endpoint.script()
    host = endpoint.root.removeprefix("http://")
    script = RAW + (
        f"request = b'GET /stats HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'\n"
        f"print(b'peak' in talk(b'CONNECT {host} HTTP/1.1\\r\\n\\r\\n' + request))\n"
        "print(talk(b'CONNECT 127.0.0.1:1 HTTP/1.1\\r\\n\\r\\n')[:12], talk(request)[:12])\n"
    )
    said, proxy = served(workspace, script, endpoint.base_url, tunnel=True)
    assert said == "True\nb'HTTP/1.1 403' b'HTTP/1.1 403'\n"
    assert proxy.answered == 0
