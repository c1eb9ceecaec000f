"""docs/internals/paths.md: every call of its tables runs the kernels that its row names, and no others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import kernel_paths

TRACER = Path(kernel_paths.__file__)

pytestmark = pytest.mark.skipif(not kernel_paths.PAGE.is_file(), reason=f"no page: {kernel_paths.PAGE}")


def test_every_row_names_the_kernels_that_run():
    """In a process of its own: kernels are wrapped before anything imports them."""
    done = subprocess.run([sys.executable, TRACER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = kernel_paths.rows_of_page()
    assert len(found) == len(rows), "a call stands twice"
    wrong = [
        f"{call}\n    page: {sorted(kernels)}\n    runs: {found[call]}"
        for call, kernels in rows
        if sorted(kernels) != found[call]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("function", "metric"),
    [
        ("roc_auc_score", "auc"), ("average_precision_score", "ap"), ("gauc_score", "gauc"), ("ndcg_score", "ndcg@10"),
        ("log_loss", "logloss"), ("confusion_matrix", "f1"),
    ],
)  # fmt: skip
def test_every_table_has_every_way_to_a_number(function, metric):
    calls = "\n".join(call for call, _ in kernel_paths.rows_of_page())
    wanted = [f"{function}(", f'evaluate("{metric}"', f'accumulate("{metric}"', f'spark("{metric}"']
    assert [call for call in wanted if call not in calls] == []
    of_log = [line for line in calls.splitlines() if line.startswith(f'evaluate("{metric}"')]
    assert [option for option in ("by=", "ci=") if not any(option in line for line in of_log)] == []
