"""The code blocks of a page and the commands in them, run in order in the current folder.

A Python block is a doctest session, or plain code: there, an expression with a value in the comment behind it has that
value. A console block has commands and their output. Commands of a bash block succeed, or say otherwise behind them:
`# exit code 3`. A block with the mark `file NAME` is written to that file.
"""

import ast
import doctest
import io
import linecache
import re
import shlex
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
# Programs that install something or start a browser are not run.
OTHER_PROGRAMS = ("pip", "apt-get", "python3", ".venv/bin/pip", "source")
# Tests with these markers run only where `-m` names them.
NOT_RUN = ("fuzz", "conformance")


def run_page(text, name, may_warn=False):
    """Run the blocks that have no mark; return the number of blocks, examples and commands that ran.

    Warnings are errors, unless the page calls other tools that `may_warn`.
    """
    namespace, counts = {"__name__": "__main__"}, {"blocks": 0, "values": 0, "commands": 0}
    for block in BLOCKS.finditer(text):
        if (block["mark"] or "").startswith("file "):
            Path(block["mark"].removeprefix("file ")).write_text(block["code"], encoding="utf-8")
        if block["mark"] is not None or block["language"] not in RUNNERS:
            continue
        counts["blocks"] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if may_warn else "error")
            line = text.count("\n", 0, block.start("code"))
            RUNNERS[block["language"]](block["code"], namespace, counts, f"{name}, line {line + 1}")
    return counts


def run_python(code, namespace, counts, where):
    if code.startswith(">>> "):
        session, failures = doctest.DocTestParser().get_doctest(code, namespace, where, where, 0), []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=failures.append, clear_globs=False)
        assert not failures, "".join(failures)
        namespace.update(session.globs)
        counts["values"] += len(session.examples)
        return
    lines = code.splitlines()
    linecache.cache[where] = (len(code), None, code.splitlines(True), where)  # CatBoost reads the source of a class
    for node in ast.parse(code).body:
        stated = comment_value(lines[node.end_lineno - 1]) if isinstance(node, ast.Expr) else None
        if stated is None:
            exec(compile(ast.Module([node], []), where, "exec"), namespace)
        else:
            assert eval(ast.unparse(node), namespace) == stated[0], f"{where}: {ast.unparse(node)}"
            counts["values"] += 1


def comment_value(line):
    """The literal in the comment of a line as a tuple of one, None if the comment is prose or there is none."""
    comment = line.rpartition("  # ")[2] if "  # " in line else ""
    try:
        return (ast.literal_eval(comment),)
    except (ValueError, SyntaxError):
        return None


def run_console(code, _, counts, where):
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        done = run_command(command)
        assert (done.code, done.errors, done.out) == (0, "", printed), f"{where}: {command}"
        counts["commands"] += 1


def run_bash(code, _, counts, where):
    for line in code.replace("\\\n", " ").splitlines():
        command, _, comment = line.partition("  # ")
        if command.split()[0] in OTHER_PROGRAMS:
            continue
        expected = re.fullmatch(r"exit code (\d)", comment)
        done = run_command(command)
        assert done.code == (int(expected[1]) if expected else 0), f"{where}: {command}\n{done.errors}"
        counts["commands"] += 1


RUNNERS = {"python": run_python, "console": run_console, "bash": run_bash}


def run_command(command):
    """Run `fastmetrics ...` in this process; `< FILE` is its standard input."""
    from fastmetrics.cli import main

    program, *words = shlex.split(command)
    assert program in ("fastmetrics", ".venv/bin/fastmetrics"), command
    given = io.BytesIO()
    if "<" in words:
        given, words = io.BytesIO(Path(words[-1]).read_bytes()), words[: words.index("<")]
    kept, sys.stdin = sys.stdin, SimpleNamespace(buffer=given, isatty=lambda: False)
    try:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
            code = main(words)
    finally:
        sys.stdin = kept
    return SimpleNamespace(code=code, out=out.getvalue(), errors=errors.getvalue())


def collected_names(path):
    """The tests of a file that run by default: functions, and methods of classes for tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test")]
    functions = [node for body in (tree.body, *(own.body for own in classes)) for node in body]
    return {
        node.name
        for node in functions
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if not any(f"mark.{marker}" in ast.unparse(own) for own in node.decorator_list for marker in NOT_RUN)
    }
