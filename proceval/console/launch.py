"""Starts the server of the console in this process, bound to the address that was asked for and to no other."""

import errno
import ipaddress
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proceval.console import look, parts
from proceval.errors import InputError

APP = Path(__file__).with_name("app.py")
NEEDED = ("streamlit", "plotly")


def check(address: str, port: int) -> None:
    """Raises InputError when the extra is missing, the address is none, or somebody else has the port."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"stage=console needs {' and '.join(missing)}: pip install 'proceval[ui]' (in a clone: pip install -e '.[ui]')"
        )
    try:
        kind = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    except ValueError as error:
        raise InputError(f"stage.address={address}: allowed is an IP address such as 127.0.0.1") from error
    with socket.socket(kind, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            said = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
            raise InputError(f"port={port}: {address}:{port} {said}; choose another one with port=") from error


def host(address: str) -> str:
    """The address as a person types it."""
    return "localhost" if loopback(address) else address


def loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def warning(address: str) -> str | None:
    """What to know about an address that other machines can reach, in one line, or None."""
    if loopback(address):
        return None
    return (
        f"warning  stage.address={address}: whoever reaches this machine can read every run and start proofs and code here; "
        "there is no password; stage.address=127.0.0.1 keeps it to this machine"
    )


def serve(made: parts.Parts, address: str, port: int) -> None:
    """Serve the pages until the process is interrupted."""
    from streamlit.web import bootstrap

    parts.install(made)
    chosen = options(address, port)
    bootstrap.load_config_options(chosen)
    bootstrap.run(str(APP), False, [], chosen)


def options(address: str, port: int) -> dict[str, Any]:
    """The server's settings: nothing is sent elsewhere, other sites cannot talk to it, and its colours are the plots'."""
    return {
        "server_address": address,
        "server_port": port,
        "server_headless": True,
        "server_fileWatcherType": "none",
        "server_allowedHosts": ["localhost", "127.0.0.1", "::1"] if loopback(address) else [],
        "browser_gatherUsageStats": False,
        "client_toolbarMode": "minimal",
        "runner_magicEnabled": False,
        "logger_level": "error",
        **{f"theme_{name}": value for name, value in look.theme().items()},
    }
