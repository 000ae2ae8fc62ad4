"""A page as a flat list of elements in the order of the document.

An element and all that it contains are one range of the list, so that "the text of" and "inside of"
are slices, and no rule has to walk the tree again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from penstock.catalog.word_lists import words

# Elements after these are not read. The largest real page seen has 40,000.
MAX_ELEMENTS = 150_000
MAX_DEPTH = 600
MAX_ATTRIBUTES = 60
# Characters kept of one text node outside of scripts.
MAX_TEXT = 100_000
_SHORT_TEXT = 200

# The parser takes time in proportion to the square of the depth and of the attributes of one tag.
_MAX_OPEN = 3_000
_MAX_TAG_WORDS = 1_000

_SPACES = re.compile(r"\s+")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{3000,}")
_NOT_NESTED = words(
    "area base body br col dd dt embed head hr html img input li link meta option p param source"
    " tbody td tfoot th thead tr track wbr"
)
_SILENT = frozenset(("style", "template", "svg", "noscript", "iframe"))
_MARKS = (
    "itemprop", "data-testid", "data-test", "data-test-id", "data-qa", "data-automation",
    "data-automation-id", "data-ui", "data-hook", "data-cy", "data-scroll-id",
)  # fmt: skip
_BOLD = frozenset(("b", "strong"))
_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6, "dt": 7, "summary": 7}
# The level of a line in bold type, below all headings.
_BOLD_LEVEL = 8
_BLOCKS = words(
    "address article aside blockquote br dd div dl dt fieldset figcaption footer form h1 h2 h3 h4"
    " h5 h6 header hr li main nav ol option p pre section table tbody td tfoot th thead tr ul"
)


@dataclass(slots=True, eq=False)
class Element:
    index: int
    tag: str
    attributes: dict[str, str]
    parent: Element | None
    depth: int
    # The first text node inside, and the first element and text node after this element.
    text_from: int
    # Class and id: what the authors of the page call this element.
    names: str = ""
    # The number of elements before it in its parent.
    place: int = 0
    end: int = 0
    text_end: int = 0
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def ancestors(self) -> Iterator[Element]:
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def contains(self, other: Element) -> bool:
        return self.index <= other.index < self.end

    @property
    def called(self) -> str:
        """Like `names`, with the marks that authors set for tests and for search engines."""
        given = self.attributes
        marks = [given[name] for name in _MARKS if name in given]
        return f"{self.names} {' '.join(marks)}"[:400] if marks else self.names


@dataclass(slots=True)
class Page:
    elements: list[Element]
    # Text nodes, each with the element that it stands in.
    texts: list[tuple[Element, str]]
    # The text of script elements by their index.
    scripts: dict[int, str]
    # While parsing: a block began or ended since the last text.
    at_break: bool = False
    # Short texts of elements, which several rules read.
    _joined: dict[int, str] = field(default_factory=dict)
    _spaced: dict[int, str] = field(default_factory=dict)

    def inside(self, element: Element) -> list[Element]:
        """All elements inside, in order."""
        return self.elements[element.index + 1 : element.end]

    def text(self, element: Element) -> str:
        """The text in one line, with a space between blocks."""
        return self._read(element, "", self._joined)

    def spaced_text(self, element: Element) -> str:
        """The text in one line, with a space between all elements."""
        return self._read(element, " ", self._spaced)

    def _read(self, element: Element, between: str, known: dict[int, str]) -> str:
        found = known.get(element.index)
        if found is None:
            pieces = [text for _, text in self.texts[element.text_from : element.text_end]]
            found = _SPACES.sub(" ", between.join(pieces)).strip()
            if len(found) <= _SHORT_TEXT:
                known[element.index] = found
        return found

    def lines(self, element: Element) -> list[str]:
        """The text in lines, as a browser would break it between blocks."""
        lines: list[str] = []
        line: list[str] = []
        block: Element | None = None
        for owner, text in self.texts[element.text_from : element.text_end]:
            current = _block_of(owner)
            if current is not block and line:
                lines.append("".join(line))
                line = []
            block = current
            line.append(text)
        lines.append("".join(line))
        return [tidy for one in lines if (tidy := _SPACES.sub(" ", one).strip())]

    def leveled_lines(self, element: Element) -> list[tuple[str, int]]:
        """Lines with their level as headings: 1 to 8, the last for lines in bold type; 0 for
        text."""
        lines: list[tuple[str, int]] = []
        pieces: list[str] = []
        block, is_bold = element, True
        for owner, text in self.texts[element.text_from : element.text_end]:
            current = _block_of(owner)
            if current is not block and pieces:
                lines.append(("".join(pieces), _level(block, is_bold)))
                pieces, is_bold = [], True
            block = current
            pieces.append(text)
            if text.strip(" \n\t\u00a0:"):
                is_bold = is_bold and _is_bold(owner, block)
        if pieces:
            lines.append(("".join(pieces), _level(block, is_bold)))
        return [(tidy, level) for one, level in lines if (tidy := _SPACES.sub(" ", one).strip())]

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def first(self, tag: str) -> Element | None:
        return next((element for element in self.elements if element.tag == tag), None)


def _block_of(element: Element) -> Element:
    while element.tag not in _BLOCKS and element.parent is not None:
        element = element.parent
    return element


def _level(block: Element, is_bold: bool) -> int:
    for one in (block, *list(block.ancestors())[:2]):
        if one.tag in _LEVELS:
            return _LEVELS[one.tag]
    return _BOLD_LEVEL if is_bold and block.tag != "li" else 0


def _is_bold(element: Element, block: Element) -> bool:
    while element is not block and element.parent is not None:
        if element.tag in _BOLD:
            return True
        element = element.parent
    return False


def parse(html: str) -> Page:
    """The page. Elements beyond the bounds are left out; their text stays with its parent."""
    page = Page([], [], {})
    root = LexborHTMLParser(_bounded(html)).root
    if root is None:
        return page
    node: LexborNode | None = root
    above: Element | None = None
    depth = 0
    while node is not None:
        opened = _read_node(page, node, above, depth)
        child = None if node.tag in _SILENT else node.first_child
        if child is not None and len(page.elements) < MAX_ELEMENTS:
            node, depth = child, depth + 1
            above = opened or above
            continue
        node, above, depth = _next(page, node, opened, above, depth)
    for element in page.elements:
        if not element.end:
            _close(page, element)
    return page


def _bounded(html: str) -> str:
    """The page up to the depth that the parser can bear, without tags of very many attributes."""
    html = _LONG_TAG.sub(lambda tag: "<i" if len(tag[0].split()) > _MAX_TAG_WORDS else tag[0], html)
    opened = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() in _NOT_NESTED:
            continue
        opened = max(opened - 1, 0) if tag[1] else opened + 1
        if opened > _MAX_OPEN:
            return html[: tag.start()]
    return html


def _next(
    page: Page, node: LexborNode, opened: Element | None, above: Element | None, depth: int
) -> tuple[LexborNode | None, Element | None, int]:
    """The node after this one and all that it contains."""
    if opened is not None:
        _close(page, opened)
    current: LexborNode | None = node
    while current is not None and depth >= 0:
        following = current.next
        if following is not None:
            return following, above, depth
        current, depth = current.parent, depth - 1
        if above is not None and above.depth == depth:
            _close(page, above)
            above = above.parent
    return None, above, depth


def _close(page: Page, element: Element) -> None:
    element.end, element.text_end = len(page.elements), len(page.texts)
    if element.tag in _BLOCKS:
        page.at_break = True


def _read_node(page: Page, node: LexborNode, above: Element | None, depth: int) -> Element | None:
    tag = node.tag or ""
    if tag == "-text":
        text = node.text_content
        if text and above is not None:
            if above.tag == "script":
                page.scripts[above.index] = text
            else:
                page.texts.append((above, (" " if page.at_break else "") + text[:MAX_TEXT]))
                page.at_break = False
        return None
    if tag[:1] in ("-", "!", "") or depth > MAX_DEPTH or len(page.elements) >= MAX_ELEMENTS:
        return None
    attributes = node.attributes
    if len(attributes) > MAX_ATTRIBUTES:
        attributes = dict(list(attributes.items())[:MAX_ATTRIBUTES])
    kept = {name: value or "" for name, value in attributes.items()}
    names = f"{kept.get('class', '')} {kept.get('id', '')}"[:300] if kept else ""
    element = Element(len(page.elements), tag, kept, above, depth, len(page.texts), names)
    if tag in _BLOCKS:
        page.at_break = True
    if above is not None:
        element.place = len(above.children)
        above.children.append(element)
    page.elements.append(element)
    return element
