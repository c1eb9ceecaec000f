"""What the shell proposes: metrics, columns of the log on the line, values of columns. As bash asks for it."""

import os
import shlex
import subprocess
import sys

import pytest

from support.cases import each_case
from support.command_line import environment

typer = pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = ["click", "pctr", "channel", "ts"]
# What bash runs, with the name of the program.
PROGRAM = "import sys; from fastmetrics.cli import main; sys.argv[0] = 'fastmetrics'; sys.exit(main())"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    log = pa.table({"click": [0, 1], "pctr": [0.1, 0.2], "channel": ["feed", "it's"], "ts": [1, 2]})
    pq.write_table(log, folder / "clicks.parquet")
    (folder / "log.csv").write_text("y;s\n0;0.1\n1;0.2\n")
    (folder / "broken.parquet").write_text("no Parquet")
    return folder


def proposed(line, folder):
    """The proposals for the last word of a line; an empty one if the line ends with a blank."""
    words = line.split(" ") if line.count("'") % 2 or '"' in line else shlex.split(line) + [""] * line.endswith(" ")
    position = len(words) - 1
    if '"' in line:
        position = len(line.partition('"')[0].split())
    own = environment(_FASTMETRICS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(position))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, env=own, capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@each_case("option", ["--label", "--score", "--group", "--by", "--weight", "--unit", "--prediction", "--probabilities"])
@each_case("command", ["evaluate", "compare"])
def test_columns_of_the_log_on_the_line(folder, command, option):
    if command == "compare" and option not in ("--label", "--by"):
        return  # they are the same options
    assert proposed(f"fastmetrics {command} clicks.parquet {option} ", folder) == COLUMNS
    assert proposed(f"fastmetrics {command} clicks.parquet --ci 95 {option} c", folder) == ["click", "channel"]


def test_columns_of_several_words(folder):
    assert proposed("fastmetrics compare clicks.parquet --baseline p", folder) == ["pctr"]
    assert proposed("fastmetrics evaluate clicks.parquet --grouping-set channel,t", folder) == ["channel,ts"]
    assert proposed("fastmetrics evaluate log.csv --delimiter ; --label ", folder) == ["y", "s"]


@each_case("words", ["--label p", "nowhere.parquet --label ", "broken.parquet --by ", "- --label "])
def test_nothing_where_there_is_no_log(folder, words):
    assert proposed(f"fastmetrics evaluate {words}", folder) == []


def test_metrics(folder):
    assert proposed("fastmetrics evaluate clicks.parquet -m loglo", folder) == ["logloss"]
    assert proposed("fastmetrics evaluate clicks.parquet --metrics auc,loglo", folder) == ["auc,logloss"]
    assert proposed("fastmetrics evaluate clicks.parquet --fail-if loglo", folder) == ["logloss"]
    assert proposed("fastmetrics evaluate clicks.parquet --sort loglo", folder) == ["logloss"]
    assert "auc" in proposed("fastmetrics evaluate -m ", folder)
    assert proposed("fastmetrics list loglo", folder) == ["logloss"]
    assert proposed("fastmetrics trec qrels.txt run.txt -m recip", folder) == ["recip_rank"]
    assert proposed("fastmetrics list --family rank", folder) == ["ranking"]


def test_keys_and_their_values(folder):
    line = "fastmetrics evaluate clicks.parquet "
    assert proposed(f"{line}--role ", folder) == []
    assert proposed(f"{line}--role reward=", folder) == [f"reward={name}" for name in COLUMNS]
    assert proposed(f"{line}--role reward=p", folder) == ["reward=pctr"]
    assert proposed(f'{line}--task "', folder) == []
    assert proposed(f'{line}--task "cvr: la', folder) == ["cvr: label="]
    assert proposed(f'{line}--task "cvr: label=cl', folder) == ["cvr: label=click"]
    assert proposed(f'{line}--task "cvr: label=click; sc', folder) == ["cvr: label=click; score="]
    assert proposed(f'{line}--task "cvr: label=click,ch', folder) == ["cvr: label=click,channel"]
    assert proposed(f'{line}--task "cvr: label=click; metrics=auc,loglo', folder) == [
        "cvr: label=click; metrics=auc,logloss"
    ]
    assert proposed(f"{line}--task \"cvr: where=channel = 'f", folder) == ["cvr: where=channel = 'feed'"]
    assert proposed("fastmetrics compare clicks.parquet --margin loglo", folder) == ["logloss="]
    assert proposed("fastmetrics compare clicks.parquet --margin logloss=", folder) == []
    assert proposed("fastmetrics evaluate log.csv --delimiter ; --column-type ", folder) == ["y=", "s="]
    assert proposed("fastmetrics evaluate log.csv --delimiter ; --column-type y=st", folder) == ["y=string"]


def test_every_option_of_keys_and_values_proposes_them():
    from fastmetrics.cli.app import app

    stores = "--storage-option"  # whose keys are those of any store
    for command in typer.main.get_command(app).commands.values():
        for own in command.params:
            if "=" in (own.metavar or "") or own.name == "tasks":
                assert own._custom_shell_complete is not None or stores in own.opts, own.opts


def test_values_of_columns_in_conditions(folder):
    line = "fastmetrics evaluate clicks.parquet --where "
    assert proposed(f"{line}cha", folder) == ["channel"]
    assert proposed(f"{line}\"channel = 'f", folder) == ["channel = 'feed'"]
    assert proposed(f'{line}"channel = ', folder) == ["channel = 'feed'", "channel = 'it''s'"]
    assert proposed(f'{line}"ts > 1 and click = ', folder) == ["ts > 1 and click = 0", "ts > 1 and click = 1"]


def test_commands_and_options(folder):
    assert proposed("fastmetrics ev", folder) == ["evaluate"]
    assert "--where" in proposed("fastmetrics evaluate clicks.parquet --wh", folder)
    assert proposed("fastmetrics evaluate clicks.parquet --on-invalid d", folder) == ["drop"]


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="needs bash")
def test_bash_takes_them(folder, tmp_path):
    """The script that --show-completion prints, in a shell."""
    program = tmp_path / "fastmetrics"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom fastmetrics.cli import main\n\nsys.exit(main())\n")
    program.chmod(0o755)
    own = environment(PATH=f"{tmp_path}:{os.environ['PATH']}", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    shell = (
        'eval "$(fastmetrics --show-completion bash)"; COMP_WORDS=(fastmetrics evaluate clicks.parquet --label p); '
        'COMP_CWORD=4; _fastmetrics_completion fastmetrics; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", shell], cwd=folder, env=own, capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "pctr\n"), done.stderr
