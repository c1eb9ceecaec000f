"""Look at the pages of the built site in Chromium, as phones and screens show them, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from documentation import browser, links

PHONE, SCREEN = 360, 1280
# Is the page wider than the screen? Which elements reach beyond its edge, without something around them that scrolls?
OUTSIDE = """
((width) => {
  const scrolls = (own) => {
    for (let up = own.parentElement; up && up !== document.documentElement; up = up.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(up).overflowX)) return true;
    }
    return false;
  };
  const found = [...document.querySelectorAll("main *")].filter(
    (own) => own.closest("article, body > main") && own.getBoundingClientRect().right > width + 1 && !scrolls(own));
  const wide = document.documentElement.scrollWidth > width || found.length > 0;
  return [wide, found.slice(0, 3).map((own) => own.outerHTML.slice(0, 120))];
})(%d)
"""


class Look(NamedTuple):
    page: str
    width: int
    dark: bool
    complaints: tuple[str, ...]


def look(site: Path, names: list[str], pictures: Path | None = None) -> Iterator[Look]:
    """Each page at both widths; light on a screen and dark on a phone, or all four with pictures."""
    views = [(PHONE, True), (SCREEN, False)] + ([(PHONE, False), (SCREEN, True)] if pictures else [])
    with browser.open_page() as page:
        for name in names:
            for width, dark in views:
                page.show((site / name).as_uri(), width, dark=dark)
                wide, outside = page.ask(OUTSIDE % width)
                found = page.complaints() + ([f"wider than {width} px: {outside}"] if wide else [])
                yield Look(name, width, dark, tuple(found))
                if pictures:
                    shade = "dark" if dark else "light"
                    page.picture(pictures / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{shade}.png")


def photograph(site: Path, folder: Path) -> None:
    """A picture of every page at both widths, light and dark; print what is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [page.relative_to(site).as_posix() for page in links.pages(site)]
    for own in look(site, [name for name in names if not name.startswith("_modules/")], folder):
        for complaint in own.complaints:
            print(f"{own.page} at {own.width} px: {complaint}")


def search(page: browser.Page, site: Path, word: str) -> list[str]:
    """Where the results of a search lead to."""
    page.show(f"{(site / 'search.html').as_uri()}?q={word}", SCREEN)
    script = """
    new Promise((done) => {
      const links = () => [...document.querySelectorAll("#search-results li a")];
      const results = () => links().map((own) => own.getAttribute("href"));
      const watch = setInterval(() => {
        const said = document.querySelector("#search-results .search-summary");
        if (said && said.textContent.trim() && !/^(Searching|Preparing)/.test(said.textContent.trim())) {
          clearInterval(watch);
          done(results());
        }
      }, 50);
      setTimeout(() => { clearInterval(watch); done(results()); }, 20000);
    })
    """
    return page.ask(script)
