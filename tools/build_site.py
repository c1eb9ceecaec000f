"""Build the documentation site from docs/, the docstrings and the registry; any warning is an error.

    python tools/build_site.py                      write site/
    python tools/build_site.py --look pictures      then photograph every page in Chromium

`pip install -e '.[docs]'` installs what is needed. `site/index.html` can be opened as a file; it needs no network.
The checkout that this file is in is documented, and its kernels must be built. `documentation/pages.py` says which
page stands where.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
sys.path[:0] = [str(ROOT), str(TOOLS)]


def build(output: Path, sources: Path, processes: int) -> int:
    """Write the sources of the site, then the site; return the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    from documentation import sources as source_files

    source_files.write(sources)
    shutil.rmtree(output, ignore_errors=True)  # else pages that are no longer made would stay
    doctrees = sources.with_name(sources.name + "-doctrees")
    options = ["-b", "html", "-n", "-W", "--keep-going", "-q", "-j", str(processes)]
    return sphinx([*options, "-c", str(TOOLS / "documentation"), "-d", str(doctrees), str(sources), str(output)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "site", help="folder of the site")
    parser.add_argument("--sources", type=Path, default=ROOT / "build" / "site-sources", help="folder between")
    parser.add_argument("--processes", type=int, default=1, help="processes that read and write pages")
    parser.add_argument("--look", type=Path, metavar="FOLDER", help="write a picture of each page here")
    given = parser.parse_args()
    start = time.perf_counter()
    if code := build(given.output.absolute(), given.sources.absolute(), given.processes):
        return code
    from documentation import links

    complaints = links.complaints(given.output.absolute())
    print(*complaints, sep="\n", end="\n" if complaints else "")
    n_pages = len(links.pages(given.output.absolute()))
    print(f"{n_pages} pages in {given.output}, {time.perf_counter() - start:.0f} s")
    if given.look:
        from documentation import looks

        looks.photograph(given.output.absolute(), given.look.absolute())
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
