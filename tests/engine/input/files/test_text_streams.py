"""Text files in other encodings and compressions, files of other kinds under their name, nulls and empty parts."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import fastmetrics as fm
from fastmetrics.engine.input.files import text_blocks, text_streams
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.command_line import run

ROWS = "y,s,city\n1,0.75,Köln\n0,0.25,Genève\n1,0.5,Málaga\n0,0.125,Köln\n"
COLUMNS = {"label": "y", "score": "s"}
CITIES = ["Köln", "Genève", "Málaga", "Köln"]


def read(path, columns=("y", "s", "city"), use_threads=True, **options):
    source = open_source(path, InputOptions(**options))
    return pa.Table.from_batches(list(source.batches(list(columns), use_threads=use_threads))).to_pydict()


def write(folder, content, name="log.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_parquet(table):
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return sink.getvalue().to_pybytes()


# ------------------------------------------------------------------------------------------------------- encodings


ENCODINGS = ["utf-8", "UTF8", "utf-8-sig", "utf-16", "utf-16-le", "utf_16_be", "utf-32", "latin-1", "cp1252"]


@each_case("encoding", ENCODINGS)
@each_case("name", ["log.csv", "log.csv.gz", "log.jsonl"])
def test_encodings(encoding, name, tmp_path, monkeypatch):
    """In blocks and pieces of any size, as a file, as an open file and as a stream."""
    text = ROWS
    if name == "log.jsonl":
        rows = [line.split(",") for line in ROWS.splitlines()[1:]]
        text = "".join(f'{{"y": {y}, "s": {s}, "city": "{city}"}}\n' for y, s, city in rows)
    content = text.encode(encoding)
    path = write(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    options = {"format_options": {"encoding": encoding}, "format": "jsonl" if "json" in name else "csv"}
    for size in (40, 64, 1 << 18):
        monkeypatch.setattr(text_streams, "READ_BYTES", size // 2 + 1)
        monkeypatch.setattr(text_blocks, "BLOCK_BYTES", max(size, 64))
        for use_threads in (False, True):
            assert read(path, use_threads=use_threads, **options)["city"] == CITIES
    with path.open("rb") as opened:
        assert read(opened, **options)["city"] == CITIES
    read_once = io.BytesIO(path.read_bytes())
    read_once.seekable = lambda: False
    assert read(read_once, format_options=options["format_options"])["city"] == CITIES


def test_encodings_of_all_entry_points(tmp_path):
    path = write(tmp_path, ROWS.encode("latin-1"))
    options = COLUMNS | {"by": ["city"], "format_options": {"encoding": "latin-1"}}
    expected = fm.evaluate(write(tmp_path, ROWS, "utf8.csv"), ["ctr"], **COLUMNS, by=["city"])
    report = fm.evaluate(path, ["ctr"], **options)
    assert [(own.slice, own.value) for own in report] == [(own.slice, own.value) for own in expected]
    accumulator = fm.Accumulator(["ctr"], **COLUMNS, by=["city"])
    accumulator.update(path, format_options={"encoding": "latin-1"})
    assert [own.value for own in accumulator.result()] == [own.value for own in expected]
    compared = {"label": "y", "score": ["s", "y"], "by": ["city"]}
    both = fm.compare(path, ["auc"], **compared, format_options={"encoding": "latin-1"})
    assert both.to_json() == fm.compare(tmp_path / "utf8.csv", ["auc"], **compared).to_json()
    arguments = ["--label", "y", "--score", "s", "-m", "ctr", "--by", "city", "--encoding", "latin-1"]
    done = run("evaluate", str(path), *arguments, folder=tmp_path)
    assert done.returncode == 0
    assert "Köln" in done.stdout


def test_bytes_that_the_encoding_does_not_have(tmp_path):
    path = write(tmp_path, ROWS.encode("latin-1").replace(b"\xe1", b"\x81"))
    message = r"line 4 has bytes \(81\) that are not cp1252: is its encoding another one"
    assert_raises(ValueError, message, open_source, path, InputOptions(format_options={"encoding": "cp1252"}))
    path = write(tmp_path, ROWS.encode("utf-16")[:-1])
    message = r"line 5 has bytes .* that are not utf-16"
    assert_raises(ValueError, message, open_source, path, InputOptions(format_options={"encoding": "utf-16"}))


@each_case("encoding", ["iso8859-15", "klingon", "base64", "rot13", 8, None])
def test_encodings_that_do_not_exist(encoding, tmp_path):
    options = InputOptions(format_options={"encoding": encoding})
    if encoding == "iso8859-15":
        return open_source(write(tmp_path, ROWS.encode(encoding)), options)
    message = "encoding must be a name such as utf-8"
    return assert_raises(ValueError, message, open_source, write(tmp_path, ROWS), options)


# --------------------------------------------------------------------------------------------- bytes that are not UTF-8


@each_case("first", [True, False])
@each_case("name", ["log.csv", "log.csv.gz", "log.tsv", "log.jsonl"])
def test_bytes_that_are_not_utf8(first, name, tmp_path, monkeypatch):
    """One rule, wherever they stand: in the block from which types are inferred, or behind it."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 128)
    good = ["1,0.5,a", "0,0.25,b"] * 20
    rows = [*good[: 2 if first else 30], "1,0.5,caf\xe9", *good]
    content, line = "\n".join(["y,s,city", *rows, ""]), 2 + (2 if first else 30)
    if name == "log.tsv":
        content = content.replace(",", "\t")
    if name == "log.jsonl":
        content = "".join('{{"y": {}, "s": {}, "city": "{}"}}\n'.format(*row.split(",")) for row in rows)
        line -= 1
    content = content.encode("latin-1")
    path = write(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    message = rf"{name} cannot be read as .*line {line} has bytes that are not UTF-8 .*caf.xe9.*'latin-1'.*--encoding"
    for use_threads in (False, True):
        assert_raises(ValueError, message, read, path, ["y", "city"], use_threads)
        assert len(read(path, ["y", "s"], use_threads)["y"]) == len(rows)
        options = {"format_options": {"encoding": "latin-1"}}
        assert "café" in read(path, ["city"], use_threads, **options)["city"]
    for options in ({"by": ["city"]}, {"group": "city"}, {"where": "city = 'a'"}):
        metrics = ["auc", "gauc"] if "group" in options else ["auc"]
        assert_raises(ValueError, message, fm.evaluate, path, metrics, **COLUMNS, **options)


def test_a_name_that_is_not_utf8(tmp_path):
    message = r"line 1 has bytes that are not UTF-8 at its byte 8: b'y,s,city\\xe9'"
    assert_raises(ValueError, message, read, write(tmp_path, b"y,s,city\xe9\n1,0.5,a\n"), ["y"])
    message = r"line 1 has bytes that are not UTF-8"
    assert_raises(ValueError, message, read, write(tmp_path, b'{"y": 1, "\xe9": 2}\n', "log.jsonl"), ["y"])


def test_bytes_that_were_asked_for(tmp_path):
    options = {"format_options": {"column_types": {"city": "binary"}}}
    assert read(write(tmp_path, b"city\nK\xf6ln\n"), ["city"], **options)["city"] == [b"K\xf6ln"]


# ------------------------------------------------------------------------------------------ files that are no text


def as_zip(name):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, ROWS)
    return sink.getvalue()


def as_feather(table):
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink)
    return sink.getvalue()


OTHER_KINDS = {
    "gzip": (gzip.compress(ROWS.encode()), r"gzip \(1f 8b .*Name it log.csv.gz"),
    "bzip2": (bz2.compress(ROWS.encode()), r"bzip2 \(42 5a 68 .*Name it log.csv.bz2"),
    "zstd": (pa.compress(ROWS.encode(), "zstd", asbytes=True), r"zstd \(28 b5 .*Name it log.csv.zst"),
    "xz": (lzma.compress(ROWS.encode()), "xz .*Pipe it: xzcat"),
    "zip": (as_zip("log.csv"), "a zip archive .*Unpack it"),
    "parquet": (as_parquet(pa.table({"y": [1], "s": [0.5]})), "Parquet .*format='parquet', or --input-format parquet"),
    "arrow": (as_feather(pa.table({"y": [1], "s": [0.5]})), "Arrow IPC .*format='arrow'"),
    "utf-16": (ROWS.encode("utf-16"), r"a text in UTF-16\. Name.*'encoding': 'utf-16'}, or --encoding utf-16"),
    "utf-16-le": (ROWS.encode("utf-16-le"), "a text in UTF-16-LE. Name.*--encoding utf-16-le"),
    "utf-16-be": (ROWS.encode("utf-16-be"), "a text in UTF-16-BE. Name.*--encoding utf-16-be"),
    "utf-32": (ROWS.encode("utf-32"), "a text in UTF-32. Name.*--encoding utf-32"),
}


@each_case("kind", OTHER_KINDS)
def test_other_kinds_of_files_under_the_name_of_text(kind, tmp_path):
    content, words = OTHER_KINDS[kind]
    for name in ("log.csv", "log.tsv", "log.jsonl"):
        path = write(tmp_path, content, name)
        message = rf"{name} cannot be read as .* at byte 0 .*it begins like {words}"
        assert_raises(ValueError, message, fm.evaluate, path, ["auc"], **COLUMNS)
    done = run("evaluate", str(path), "--label", "y", "--score", "s", folder=tmp_path)
    assert done.returncode == 1
    assert "it begins like" in done.stderr


def test_text_in_another_encoding_that_is_no_file():
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        message = f"begins like a text in {encoding.upper()}. Name its encoding: .*--encoding {encoding}"
        assert_raises(ValueError, message, read, io.BytesIO(ROWS.encode(encoding)))


def test_names_of_columns_that_look_like_other_files(tmp_path):
    for name in ("PAR1", "ORC", "BZh", "ARROW1"):
        assert read(write(tmp_path, f"{name},s\n1,2\n"), [name]) == {name: [1]}


# ------------------------------------------------------------------------------------------------------ compression

GZIPPED = gzip.compress(ROWS.encode())


@each_case(
    "content",
    [
        GZIPPED, GZIPPED + b"\0", GZIPPED + bytes(70_000),
        gzip.compress(ROWS[:20].encode()) + gzip.compress(ROWS[20:].encode()),
        gzip.compress(ROWS[:20].encode()) + bytes(512) + gzip.compress(ROWS[20:].encode()) + bytes(512),
        gzip.compress(b"") + GZIPPED + gzip.compress(b""),
    ],
)  # fmt: skip
def test_members_and_padding_of_gzip(content, tmp_path, monkeypatch):
    path = write(tmp_path, content, "log.csv.gz")
    for size in (1, 7, 100, 1 << 18):
        monkeypatch.setattr(text_streams, "READ_BYTES", size)
        assert read(path)["city"] == CITIES
    assert read(io.BytesIO(content))["city"] == CITIES


COMPRESS = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}  # fmt: skip


@each_case("suffix", COMPRESS)
def test_compressed_files(suffix, tmp_path):
    content = COMPRESS[suffix](ROWS.encode())
    assert read(write(tmp_path, content, f"log.csv{suffix}"))["city"] == CITIES
    path = write(tmp_path, content + COMPRESS[suffix](b"1,0.5,Ulm\n"), f"twice.csv{suffix}")
    assert read(path)["city"] == [*CITIES, "Ulm"]
    assert read(io.BytesIO(content))["city"] == CITIES
    for end in (10, len(content) // 2, len(content) - 1):
        path = write(tmp_path, content[:end], f"cut.csv{suffix}")
        assert_raises(ValueError, rf"cut.csv{suffix} cannot be read as CSV.*Truncated compressed stream", read, path)
    path = write(tmp_path, content + b"junk", f"junk.csv{suffix}")
    assert_raises(ValueError, rf"junk.csv{suffix} cannot be read as CSV", read, path)
    path = write(tmp_path, ROWS, f"plain.csv{suffix}")
    words = "it begins with 79 2c 73 2c 63 69 74 79, and gzip with 1f 8b" if suffix == ".gz" else ""
    assert_raises(ValueError, rf"plain.csv{suffix} cannot be read as CSV.*{words}", read, path)


# ------------------------------------------------------------------------------------- delimiters, nulls, texts, parts


@each_case(
    "name, content, given",
    [
        ("log.csv", "y;s\n1;0.5\n0;0.25\n", {"delimiter": ";"}),
        ("log.csv", "y;s\n1;0,5\n0;0,25\n", {"delimiter": ";", "decimal_point": ","}),
        ("log.csv", "y\ts\n1\t0.5\n0\t0.25\n", {"delimiter": "\t"}),
        ("log.csv", "y|s\r\n1|0.5\r\n0|0.25\r\n", {"delimiter": "|"}),
        ("log.tsv", "y,s\n1,0.5\n0,0.25\n", {"delimiter": ","}),
    ],
)
def test_another_delimiter_is_named(name, content, given, tmp_path):
    path = write(tmp_path, content, name)
    typed = ".*".join(f"--{option.replace('_', '-')} " for option in given)
    message = rf"{name} cannot be read.*Its fields are divided by '.*format_options=.{{1,2}}'delimiter': .*{typed}"
    for options in ({}, {"format_options": {"decimal_point": ","}}):
        assert_raises(ValueError, message, fm.evaluate, path, ["auc"], **COLUMNS, **options)
    assert read(path, ["y", "s"], format_options=given) == {"y": [1, 0], "s": [0.5, 0.25]}
    arguments = [text for option, value in given.items() for text in (f"--{option.replace('_', '-')}", value)]
    done = run("evaluate", str(path), "--label", "y", "--score", "s", "-m", "auc", *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_columns_of_texts_with_other_delimiters(tmp_path):
    assert read(write(tmp_path, "text\na;b\nc;d\n"), ["text"]) == {"text": ["a;b", "c;d"]}
    assert read(write(tmp_path, "a;b\nc;d\n"), ["f0"], format_options={"header": False}) == {"f0": ["a;b", "c;d"]}
    assert read(write(tmp_path, "a;b\nc;d\n"), ["a;b"], format_options={"delimiter": ","}) == {"a;b": ["c;d"]}


@each_case("options", [{}, {"escape": "\\"}, {"quote": None}])
@each_case("size", [64, 1 << 20])
def test_the_null_of_exports(options, size, tmp_path, monkeypatch):
    r"""MySQL, Hive and Redshift write \N; NA and empty texts stay texts."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", size)
    rows = ["1\t0.5\tk\ta", "\\N\t\\N\t\\N\t\\N", "0\t0.25\tNA\t", *["1\t0.5\tk\ta"] * 9, "\\N\t\\N\t\\N\t\\N"]
    expected = {"y": [1, None, 0, *[1] * 9, None], "s": [0.5, None, 0.25, *[0.5] * 9, None]}
    expected |= {"k": ["k", None, "NA", *["k"] * 9, None], "t": ["a", None, "", *["a"] * 9, None]}
    for name in ("log.tsv", "log.csv"):
        text = "\n".join(["y\ts\tk\tt", *rows, ""])
        path = write(tmp_path, text if name == "log.tsv" else text.replace("\t", ","), name)
        assert read(path, ["y", "s", "k", "t"], format_options=options) == expected
    report = fm.evaluate(path, ["ctr"], **COLUMNS, by=["k"], on_invalid="drop", format_options=options)
    assert {own.slice["k"] for own in report if own.slice} == {"k", "NA"}
    assert_raises(ValueError, "null at row 1", fm.evaluate, path, ["ctr"], **COLUMNS, format_options=options)


@each_case(
    "value, advice",
    [
        ("None", r"If it means a null, name it: format_options={'null_values': \['None'\]}, or --null-value"),
        ("-", r"If it means a null, name it: format_options={'null_values': \['-'\]}, or --null-value"),
        ("s", "The header stands there again: remove it"),
        ("1_000", "If it means a null"),
        ("１", "If it means a null"),
        ('"0,5"', "If its decimal point is ',', type format_options={'decimal_point': ','}, or --decimal-point ,"),
    ],
)
@each_case("weighted", [False, True])
def test_the_first_text_among_numbers(value, advice, weighted, tmp_path, monkeypatch):
    """In the first block, and behind it; also in the second of two files."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 256)
    advice = advice.replace("{", "[{]")
    columns = {"label": "y", "score": "y", "weight": "s"} if weighted else COLUMNS
    good = write(tmp_path, "y,s\n" + "1,0.5\n0,0.25\n" * 5, "good.csv")
    for before in (3, 300):
        rows = ["1,0.5", "0,0.25"] * before
        path = write(tmp_path, "\n".join(["y,s", *rows, f"1,{value}", f"1,{value}", *rows, ""]), "bad.csv")
        for data in (path, [good, path]):
            shown = value.strip('"')
            message = rf"column 's' has '{shown}' at row #{2 * before + 2}\b((?!string).)*{advice}((?!string).)*$"
            assert_raises(ValueError, message, fm.evaluate, data, ["ctr"], **columns)
            assert_raises(ValueError, "bad.csv", fm.evaluate, data, ["ctr"], **columns)


@each_case("before", [0, 3, 300])
@each_case("suffix, delimiter", [("csv", ","), ("tsv", "\t")])
@each_case("quoted", [False, True])
def test_the_header_again_among_texts(before, suffix, delimiter, quoted, tmp_path, monkeypatch):
    """Files put behind each other: where all columns that are read are texts, the row has to be told from others."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 256)
    header = ["y", "p", "other"]
    rows = [["ant", "bee", "1"], ["y", "ant", "2"], ["ant", "p", "y"]]
    again = [f'"{name}"' for name in header] if quoted else header
    lines = [header, *rows * before, again, *rows]
    path = write(tmp_path, "\n".join(delimiter.join(row) for row in lines) + "\n", f"bad.{suffix}")
    message = rf"bad.{suffix}.* Row #{3 * before + 2:,} is the header again: remove it"
    assert_raises(ValueError, message, fm.evaluate, path, ["accuracy"], label="y", prediction="p")
    good = write(tmp_path, "\n".join(delimiter.join(row) for row in [header, *rows * 9]) + "\n", f"good.{suffix}")
    assert fm.evaluate(good, ["accuracy"], label="y", prediction="p").rows == 27


@each_case("point, other, texts", [(",", ".", ["0.5", "0.25"]), (".", ",", ["0,5", "0,25"])])
def test_numbers_with_the_other_decimal_point(point, other, texts, tmp_path):
    path = write(tmp_path, "y;s\n" + "".join(f"{n % 2};{text}\n" for n, text in enumerate(texts * 3)))
    options = {"delimiter": ";", "decimal_point": point}
    error = rf"column 's' has '{texts[0]}' at row #2 .*If its decimal point is '\{other}', type .*'\{other}'"
    assert_raises(ValueError, error, fm.evaluate, path, ["auc"], **COLUMNS, format_options=options)
    assert fm.evaluate(path, ["auc"], **COLUMNS, format_options={**options, "decimal_point": other})["auc"] == 0.0


def test_empty_parts(tmp_path):
    """Spark writes a file for a partition without rows: of no bytes, compressed, or with a header alone."""
    folder = tmp_path / "csv"
    folder.mkdir()
    for number, content in enumerate([b"", ROWS.encode(), b"y,s,city\n", b"", ROWS.encode()]):
        write(folder, content, f"part-{number}.csv")
    for number, content in enumerate([b"", ROWS.encode()]):
        write(folder, gzip.compress(content), f"part-9{number}.csv.gz")
    for data in (folder, str(folder / "part-*"), sorted(folder.iterdir())):
        assert read(data)["city"] == CITIES * 3
    folder = tmp_path / "jsonl"
    folder.mkdir()
    for number, content in enumerate(["", '{"y": 1}\n', "", "\n"]):
        write(folder, content, f"part-{number}.json")
    assert read(folder, ["y"]) == {"y": [1]}


def test_nothing_but_empty_parts(tmp_path):
    for name in ("a.csv", "b.csv"):
        write(tmp_path, "", name)
    assert_raises(ValueError, "a.csv cannot be read as CSV.*Empty CSV file", read, tmp_path)
