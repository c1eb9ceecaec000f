"""Generated files are as `python tools/generate.py` writes them; public names come from one of them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm
from architecture.sources import PACKAGE, ROOT

pytestmark = pytest.mark.skipif(
    Path(fm.__file__).parent != PACKAGE or not (ROOT / "tools").is_dir(), reason="not a checkout with built kernels"
)


def check(root):
    command = [sys.executable, str(root / "tools" / "generate.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.smoke
def test_generated_files_are_up_to_date():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_outdated_file_is_named(tmp_path):
    """In a copy of the tree in which one more name is public, and the text of a shared parameter differs.

    A list `__all__` that is no metric's makes no name public.
    """
    for folder in ("fastmetrics", "tools", "docs", "tests/oracles"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.c", "*.pyc.*"))
    module = tmp_path / "fastmetrics" / "metrics" / "curves" / "ks.py"
    text = module.read_text(encoding="utf-8").replace("Number of threads", "Threads")
    module.write_text(text.replace('__all__ = ["ks', '__all__ = ["KS", "ks') + "\n\nKS = 1\n", encoding="utf-8")
    for own in ("_core/exact.py", "testing/comparing.py"):
        with (tmp_path / "fastmetrics" / own).open("a", encoding="utf-8") as file:
            file.write('__all__ = ["private_name"]\n')
    done = check(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    *outdated, advice = done.stdout.splitlines()
    changed = ("fastmetrics/metrics/curves/ks.py", "fastmetrics/__init__.pyi")
    assert outdated == [f"{name} is out of date" for name in changed]
    assert advice == "type: python tools/generate.py"


def test_misspelt_public_name_is_an_error():
    with pytest.raises(AttributeError, match=r"no attribute 'roc_auc_scor'; did you mean 'roc_auc_score'\?$"):
        _ = fm.roc_auc_scor
    assert not hasattr(fm, "__wrapped__")
    assert {"roc_auc_score", "evaluate", "__version__"} <= set(dir(fm))
