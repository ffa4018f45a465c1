"""A Markdown page as a PDF, with nothing but matplotlib: headings, paragraphs, lists, tables, code and pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 595, 842  # points, A4
LEFT, TOP, BOTTOM = 60, 60, 60
ROOM = WIDTH - 2 * LEFT
SIZES = {1: 17.0, 2: 12.5, 3: 10.5}
TEXT, SMALL, LEADING = 9.3, 7.6, 1.42


def plain(text: str) -> str:
    """Text without the marks of Markdown; a link is its words."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?\w[^>]*>", "", text)
    text = re.sub(r"(?<![*\w])\*(?=[^*\s])([^*]+)\*", r"\1", text)
    return re.sub(r"\*\*|`|(?<!\w)_|_(?!\w)|\\(?=[\\`*_{}\[\]()#+.!|~<>$-])", "", text)


def width_of(text: str, size: float, **font: Any) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size, **font), False)[0])


def wrapped(text: str, size: float, room: float, **font: Any) -> list[str]:
    """The text in lines that fit."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and width_of(longer, size, **font) > room:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines


@dataclass
class Pages:
    """Pages that are filled from the top."""

    file: Any  # PdfPages
    y: float = 0.0
    figure: Any = None
    number: int = field(default=0)

    def room_for(self, height: float) -> None:
        if self.figure is None or self.y - height < BOTTOM:
            self.close()
            from matplotlib.figure import Figure

            self.figure, self.number, self.y = Figure((WIDTH / 72, HEIGHT / 72)), self.number + 1, HEIGHT - TOP

    def close(self) -> None:
        if self.figure is not None:
            self.figure.text(0.5, 30 / HEIGHT, str(self.number), size=SMALL, ha="center")
            self.file.savefig(self.figure)
            self.figure = None

    def line(self, text: str, size: float, x: float = LEFT, **font: Any) -> None:
        self.room_for(size * LEADING)
        self.y -= size * LEADING
        self.figure.text(x / WIDTH, self.y / HEIGHT, text, size=size, parse_math=False, **font)

    def gap(self, height: float) -> None:
        self.y -= height

    def text(self, text: str, size: float = TEXT, indent: float = 0.0, **font: Any) -> None:
        for line in wrapped(plain(text), size, ROOM - indent, **font):
            self.line(line, size, LEFT + indent, **font)

    def table(self, rows: list[list[str]]) -> None:
        """Columns as wide as their widest cell, in letters small enough for all of them."""
        cells = [[plain(cell) for cell in row] for row in rows]
        size = SMALL
        while True:
            heads = [width_of(head, size, weight="bold") for head in cells[0]]
            wide = [max(head, *(width_of(row[at], size) for row in cells)) + 9 for at, head in enumerate(heads)]
            if sum(wide) <= ROOM or size < 4:
                break
            size *= 0.95
        starts = [LEFT + sum(wide[:place]) for place in range(len(wide))]
        for number, row in enumerate(cells):
            self.room_for(size * LEADING * (3 if number == 0 else 1))  # a heading does not stand alone
            self.y -= size * LEADING
            for x, cell in zip(starts, row, strict=True):
                weight = "bold" if number == 0 else "normal"
                self.figure.text(x / WIDTH, self.y / HEIGHT, cell, size=size, weight=weight, parse_math=False)
        self.gap(6)

    def picture(self, path: Path) -> None:
        from matplotlib.image import imread

        image = imread(path)
        height = min(ROOM * image.shape[0] / image.shape[1], HEIGHT - TOP - BOTTOM - 10)
        self.room_for(height + 6)
        self.y -= height
        axes = self.figure.add_axes((LEFT / WIDTH, self.y / HEIGHT, ROOM / WIDTH, height / HEIGHT))
        axes.imshow(image, aspect="equal", interpolation="antialiased")
        axes.axis("off")
        self.gap(6)


def blocks(text: str) -> list[list[str]]:
    """Runs of lines between empty ones, without comments; a block of code is one."""
    found: list[list[str]] = [[]]
    coded = False
    for line in re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).splitlines():
        fence = line.startswith("```")
        if fence or (not coded and (not line.strip() or line.startswith("#"))):
            found.append([line] if line.startswith("#") or fence else [])
            if line.startswith("#"):
                found.append([])
            coded = coded != fence
        else:
            found[-1].append(line)
    return [block for block in found if block and block != ["```"]]


def write_pdf(page: Path, target: Path) -> int:
    """Write the page as a PDF; returns the number of its pages."""
    from matplotlib.backends.backend_pdf import PdfPages

    with PdfPages(target, metadata={"CreationDate": None}) as file:
        pages = Pages(file)
        for block in blocks(page.read_text(encoding="utf-8")):
            add(pages, block, page.parent)
        pages.close()
    return pages.number


def add(pages: Pages, block: list[str], folder: Path) -> None:
    first = block[0]
    picture = re.fullmatch(r"!\[[^\]]*\]\(([^)]+)\)", first)
    if first.startswith("#"):
        level = len(first) - len(first.lstrip("#"))
        pages.gap(9)
        pages.room_for(60)  # a heading stands with what it is about
        pages.text(first.lstrip("# "), SIZES.get(level, TEXT), weight="bold")
    elif picture:
        pages.picture(folder / picture[1])
    elif first.startswith("```"):
        for line in block[1:]:
            pages.line(line, SMALL, LEFT + 8, family="monospace")
    elif first.startswith("|"):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block]
        pages.table([row for row in rows if not set("".join(row)) <= set("-: ")])
        return
    else:
        for item in re.split(r"\n(?=(?:-|\d+\.) )", "\n".join(block)):
            pages.text(item.replace("\n", " "), indent=10 if re.match(r"(-|\d+\.) ", item) else 0)
    pages.gap(5)
