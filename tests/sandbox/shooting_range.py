"""Fires probes of attacks.json at a sandbox inside a throw-away host and says what was hit.

`shooting_range.py COLUMN ID...` (all probes without an ID) prints one JSON line per probe; `fire` runs it as often as it
takes, because a probe may kill it. It runs in mount and process namespaces of its own, makes the whole file system
read-only there and plants bystanders.

Placeholders in probes: {{SECRET}} is random; it lies in {{KEY_FILE}} and {{HOME_FILE}}, which only the harness may read, in
the harness's and the victim's environment and behind the listener, and it is the expected answer: passing means leaking.
{{OUTSIDE}} is a folder of the host with victim.txt, {{HARNESS_DIR}} the sandbox's own code, {{PORT}} a TCP and UDP
listener on the loopback and the abstract socket "a3-PORT", {{VICTIM_PID}} a process of the harness's user.
"""

import fcntl
import io
import json
import os
import re
import resource
import secrets
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("isolated", "isolated_as_user", "isolated_without_namespaces", "process")
NEED_A_PUBLIC_PYTHON = ("isolated_as_user", "isolated_without_namespaces")
CPU_S, WALL_S, MEMORY_BYTES = 1.0, 3.0, 512 << 20
NOBODY = 65534
BASE = "/tmp/host"

LISTENER = """
import os, select, socket, sys
folder, secret = sys.argv[1:3]
stream = socket.socket(); stream.bind(("127.0.0.1", 0)); stream.listen(5); port = stream.getsockname()[1]
packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); packets.bind(("127.0.0.1", port))
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0a3-%d" % port); abstract.listen(5)
with open(folder + "/port.new", "w") as out: out.write(str(port))
os.rename(folder + "/port.new", folder + "/port")
while True:
    for ready in select.select([stream, packets, abstract], [], [])[0]:
        with open(folder + "/hits", "a") as out: out.write("hit\\n")
        if ready is packets: ready.recvfrom(2048)
        else:
            connection, _ = ready.accept()
            try: connection.sendall(secret.encode())
            except OSError: pass
            connection.close()
"""


def throw_away(command):
    """The command in process, mount, ipc and network namespaces that end with it."""
    outer = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net", "--ipc"]
    return [*outer, *([] if os.geteuid() == 0 else ["--map-root-user"]), *command]


def fire(column, python, probes):
    """Reports by probe id, {"id": ..., "died": True} for a probe that took the harness with it; or why there are none."""
    reports = {}
    while waiting := [probe["id"] for probe in probes if probe["id"] not in reports]:
        command = throw_away([python, "-B", os.path.abspath(__file__), column, *waiting])
        done = subprocess.run(command, capture_output=True)
        for line in done.stdout.decode().splitlines():
            report = json.loads(line)
            reports[report["id"]] = report
        still = [name for name in waiting if name not in reports]
        if still and b"READY" not in done.stderr:
            return f"the shooting range could not be set up: {done.stderr.decode()[-600:]}"
        if still:
            reports[still[0]] = {"id": still[0], "died": True}
        if len(reports) > 20 and all(report.get("died") for report in reports.values()):
            return f"the shooting range dies of everything: {done.stderr.decode()[-600:]}"
    return reports


def prepare(column):
    from sandbox import syscalls

    with io.BytesIO() as packed:  # in memory: the checkout itself may lie under a folder that is covered below
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(os.path.join(os.path.dirname(os.path.dirname(HERE)), "sandbox"), "sandbox")
        package = packed.getvalue()
    syscalls.restrict_mount("/", syscalls.MS_RDONLY, recursive=True)
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        syscalls.mount("tmpfs", folder, "tmpfs", 0, "mode=1777,size=2g")
    syscalls.mount("proc", "/proc", "proc", 0)
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", 0x41)  # up and running
        fcntl.ioctl(any_socket, 0x8914, request)
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        archive.extractall("/tmp/harness")  # our own files; `filter` is unknown to the 3.11.2 of some systems
    if column == "isolated_as_user":
        subprocess.run(["chown", "-R", str(NOBODY), "/tmp/harness"], check=True)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
    if column == "isolated_without_namespaces":
        forbid_unshare(syscalls)


def forbid_unshare(syscalls):
    """What a container's default profile does."""
    unshare = {"x86_64": 272, "aarch64": 97}[syscalls.MACHINE]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, unshare), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    programme = b"".join(struct.pack("HBBI", *step) for step in steps)
    if os.geteuid() != 0:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    syscalls.install_filter(programme)()


class Host:
    """The throw-away host's secrets and bystanders."""

    def __init__(self):
        self.secret = f"SECRET-{secrets.token_hex(16)}"
        self.outside = f"{BASE}/outside"
        os.makedirs(self.outside)
        os.environ["OPENAI_API_KEY"] = self.secret
        self.fill = {"SECRET": self.secret, "OUTSIDE": self.outside, "HARNESS_DIR": "/tmp/harness"}
        for name in ("KEY_FILE", "HOME_FILE"):
            self.fill[name] = f"{BASE}/.{name.lower()}"
            with open(self.fill[name], "w") as out:
                out.write(self.secret)
            os.chmod(self.fill[name], 0o600)
        self.write_victim_file()
        self.held_open = open(self.fill["KEY_FILE"])  # noqa: SIM115 - the harness holds its answer key open
        self.new_victim()
        self.listener = self.bystander(LISTENER, BASE, self.secret)
        while not os.path.exists(f"{BASE}/port"):
            time.sleep(0.01)
        with open(f"{BASE}/port") as port:
            self.fill["PORT"] = port.read()

    def write_victim_file(self):
        with open(f"{self.outside}/victim.txt", "w") as out:
            out.write("intact")

    def new_victim(self):
        self.victim = self.bystander("import time\ntime.sleep(600)")
        self.fill["VICTIM_PID"] = str(self.victim.pid)

    def bystander(self, programme, *arguments):
        return subprocess.Popen([sys.executable, "-S", "-c", programme, *arguments], process_group=0)

    def filled(self, text):
        return re.sub(r"\{\{(\w+)\}\}", lambda found: self.fill[found[1]], text)

    def harm(self):
        """What has been done to the bystanders."""
        with open(f"/proc/{self.victim.pid}/stat") as stat:
            state = stat.read().rsplit(")", 1)[1].split()[0]
        found = []
        if state in "ZX":
            found.append("the victim was killed")
        elif state in "tT":
            found.append("the victim was stopped")
        if found:
            self.victim.kill()
            self.new_victim()
        if os.path.exists(f"{BASE}/hits"):
            found.append("the listener was reached")
            os.unlink(f"{BASE}/hits")
        with open(f"{self.outside}/victim.txt") as text:
            changed = text.read() != "intact"
        if changed:
            found.append("victim.txt was changed")
            self.write_victim_file()
        for folder, expected in ((self.outside, ["victim.txt"]), ("/tmp/harness", ["sandbox"])):
            for name in os.listdir(folder):
                if name not in expected:
                    found.append(f"{name} was written into {folder}")
                    os.unlink(f"{folder}/{name}")
        return found


def processes():
    """Living processes, by command line."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat, open(f"/proc/{name}/cmdline") as command:
                    if stat.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                        found[int(name)] = command.read().replace("\0", " ")[:60]
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


def survivors(before):
    """Processes more than before, after giving the dying ones time; a replaced fork-server counts as the old one."""
    deadline = time.monotonic() + 1.5
    while True:
        extra = sorted(processes().values())
        for command in before:
            if command in extra:
                extra.remove(command)
        if not extra or time.monotonic() > deadline:
            return extra
        time.sleep(0.02)


def leftovers():
    count = size = 0
    for top in ("/tmp", "/var/tmp", "/dev/shm"):
        for folder, _, names in os.walk(top):
            for name in names:
                count += 1
                size += os.lstat(os.path.join(folder, name)).st_size
    return count, size


def shoot(box, limits, host, probe):
    from sandbox.contract import Job

    def run(lines, inputs):
        return box.run(Job(host.filled("\n".join(lines)), "f", inputs, limits))

    inputs = json.loads(host.filled(json.dumps(probe["inputs"])))
    expected = [None if text is None else host.filled(text) for text in probe["expected"]]
    before = sorted(processes().values())
    files, size = leftovers()
    memory_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if "before" in probe:
        run(probe["before"], inputs)
    start = time.monotonic()
    execution = run(probe["code"], inputs)
    wall_s = time.monotonic() - start
    left = survivors(before)
    for pid, command in processes().items():
        if command in left:
            os.kill(pid, signal.SIGKILL)
    files, size = (now - then for now, then in zip(leftovers(), (files, size), strict=True))
    after = run(["def f(x): return x + 1"], [{"x": 1}])
    return {
        "id": probe["id"],
        "fault": execution.fault,
        "kinds": [result.kind for result in execution.results],
        "passed": bool(execution.results)
        and all(result.wire == text for result, text in zip(execution.results, expected, strict=True)),
        "shown": str(execution.results[:2])[:400],
        "leaked": host.secret in str(execution),
        "wall_s": wall_s,
        "wall_allowed_s": 4 * WALL_S * len(inputs),
        "survivors": left,
        "harm": host.harm(),
        "memory_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory_kb,
        "files": files,
        "file_bytes": size,
        "next": [(result.kind, result.wire) for result in after.results],
        "missing_layers": box.missing_layers(),
    }


def main():
    column, *wanted = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
    with open(f"{HERE}/attacks.json") as file:
        probes = json.load(file)["probes"]
    prepare(column)
    host = Host()
    for name in [name for name in sys.modules if name.startswith("sandbox")]:
        del sys.modules[name]
    sys.path[0] = "/tmp/harness"
    from sandbox.contract import Limits
    from sandbox.isolated import Isolated
    from sandbox.process import Process

    limits = Limits(cpu_s=CPU_S, wall_s=WALL_S, memory_bytes=MEMORY_BYTES, output_bytes=1 << 20, file_bytes=1 << 20)
    box = (Process if column == "process" else Isolated)(workers=1, degraded="warn", limits=limits)
    box.start()
    print("READY", file=sys.stderr, flush=True)
    for probe in probes:
        if not wanted or probe["id"] in wanted:
            print(json.dumps(shoot(box, limits, host, probe)), flush=True)
    box.close()
    host.victim.kill()
    host.listener.kill()


def stand_below():
    """Leave process number 1, which no signal of its own namespace can kill, to somebody who only waits."""
    child = os.fork()
    while child:
        found, status = os.wait()
        if found == child:
            os._exit(os.waitstatus_to_exitcode(status) & 127)


if __name__ == "__main__":
    stand_below()
    main()
