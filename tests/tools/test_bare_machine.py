"""`tools/bare_machine.py` runs a command without what was installed here beside the project."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "bare_machine.py"
LEFT_OUT = "bare machine: left out: "
PROBE = """
import json, os, shutil, socket, time
def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 80))
    except OSError:
        return False
def writes(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True
print(json.dumps({
    "programs": [name for name in ("java", "chromium") if shutil.which(name)],
    "home": os.listdir(os.environ["HOME"]), "environment": dict(os.environ), "offset": time.timezone,
    "names": [name for name in ("localhost", "example.org") if resolves(name)],
    "wordnet": os.path.exists("/usr/share/wordnet/index.noun"), "writes": writes("here.txt"),
    "git": shutil.which("env") is not None,
}))
"""

pytestmark = [
    pytest.mark.skipif(not TOOL.is_file(), reason="no tools beside the tests"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces of Linux"),
]


def run(folder, *command):
    environment = os.environ | {"FASTMETRICS_REQUIRE_SPARK": "1", "JAVA_HOME": "/usr/lib/jvm/none", "LC_TIME": "de_DE"}
    return subprocess.run(
        [sys.executable, TOOL, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_what_a_command_sees(tmp_path):
    done = run(tmp_path, sys.executable, "-c", PROBE)
    assert done.returncode == 0, done.stderr
    *notes, found = done.stdout.splitlines()
    assert all(note.startswith(LEFT_OUT) for note in notes)
    seen = json.loads(found)
    assert (seen["programs"], seen["home"], seen["git"]) == ([], [], True)
    assert seen["offset"] == -(12 * 60 + 45) * 60
    assert seen["environment"]["LC_ALL"] == "C"
    assert not [name for name in seen["environment"] if name.startswith("FASTMETRICS_") or name == "JAVA_HOME"]
    if notes:
        pytest.skip(f"not all can be hidden here: {notes[0].removeprefix(LEFT_OUT)}")
    assert (seen["names"], seen["wordnet"], seen["writes"]) == (["localhost"], False, False)


def test_the_exit_code_is_that_of_the_command(tmp_path):
    assert run(tmp_path, "sh", "-c", "exit 3").returncode == 3
    done = run(tmp_path)
    assert done.returncode == 2
    assert "Run a command as a machine sees it" in done.stdout
