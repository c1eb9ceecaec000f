"""Write files/surface.json: the public names, signatures, metrics and commands.

It was run on version 0.1, and what it wrote is a promise: entries are never written again, only new ones are added.
A parameter that is added to a function, or an attribute to a class, is added to its entry by hand, at the end.

Run it from the folder `tests`: python -m compatibility.write_surface
"""

import json

from compatibility.encoding import FOLDER, read
from compatibility.surface import SECTIONS

NAME = "surface.json"


def write() -> None:
    path = FOLDER / "files" / NAME
    stored = read(NAME) if path.exists() else {}
    found = {}
    for section, current in SECTIONS.items():
        now = json.loads(json.dumps(current()))
        if isinstance(now, list):
            found[section] = sorted({*now, *stored.get(section, [])})
        else:
            found[section] = dict(sorted({**now, **stored.get(section, {})}.items()))
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
