"""Run a command as a machine sees it on which nothing but this project was installed.

    python tools/bare_machine.py .venv/bin/pytest -m smoke

Java, Chromium and WordNet are hidden, the home is empty, time zone and language are others, no name is resolved, and
the folder from which it is started is read-only. What this machine does not allow is printed, and left out.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = ("java", "javac", "chromium", "chromium-browser", "google-chrome", "chrome")
# Folders that `open_wordnet` searches besides those of the home and of the environment.
WORDNET = (
    "/usr/share/wordnet", "/usr/share/wordnet-3.0", "/usr/local/share/wordnet", "/usr/share/nltk_data",
    "/usr/local/share/nltk_data", "/usr/lib/nltk_data", "/usr/local/lib/nltk_data",
)  # fmt: skip
KEPT = ("PATH", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LD_LIBRARY_PATH")
# 12:45 ahead of UTC, 13:45 in summer, without a file of time zones.
TIME_ZONE = "CHAST-12:45CHADT,M9.5.0/2:45,M4.1.0/3:45"
INSIDE = "--inside"


def bare_environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.pathsep.join(str(folder) for folder in without_programs(home.parent))
    return kept | {"HOME": str(home), "TZ": TIME_ZONE, "LANG": "C", "LC_ALL": "C", "PATH": path}


def without_programs(scratch: Path) -> list[Path]:
    """The folders of PATH; one with a program to hide is replaced by a folder of links to all other programs."""
    folders = []
    for number, folder in enumerate(map(Path, os.get_exec_path())):
        if any((folder / program).exists() for program in PROGRAMS):
            links = scratch / f"programs{number}"
            links.mkdir()
            for program in folder.iterdir():
                if program.name not in PROGRAMS:
                    (links / program.name).symlink_to(program.resolve())
            folder = links
        folders.append(folder)
    return folders


def isolation() -> list[str]:
    """The command that starts another in namespaces of its own for mounts and network; empty if it is not allowed."""
    for options in (["--mount", "--net"], ["--map-root-user", "--mount", "--net"]):
        command = ["unshare", *options]
        if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return []


def hide(empty: Path) -> None:
    """In namespaces of its own: no network but this machine's own address, no WordNet, a read-only folder."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(control, 0x8914, request)  # SIOCSIFFLAGS
    for folder in filter(os.path.isdir, WORDNET):
        mount("--bind", str(empty), folder)
    here = os.getcwd()
    mount("--bind", here, here)
    mount("-o", "remount,ro,bind", here)
    os.chdir(here)


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"bare machine: left out: mount {' '.join(arguments)}: {done.stderr.strip()}", flush=True)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == [INSIDE]:
        hide(Path(arguments[1]))
        os.execvp(arguments[2], arguments[2:])
    if not arguments:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory(prefix="fastmetrics-bare-") as name:
        home, empty = Path(name) / "home", Path(name) / "empty"
        home.mkdir()
        empty.mkdir()
        command = isolation()
        if command:
            command += [sys.executable, __file__, INSIDE, str(empty)]
        else:
            print("bare machine: left out: WordNet, names and the folder, for want of namespaces (unshare)", flush=True)
        return subprocess.run([*command, *arguments], env=bare_environment(home)).returncode


if __name__ == "__main__":
    sys.exit(main())
