"""One HTML page that needs no other file and no network."""

from collections.abc import Iterable, Sequence

from agon.app.charts.markup import style, words

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_CSS = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;
background:#fff;color:#1b1f24}
svg{max-width:100%;height:auto}
.data{overflow-x:auto}
.data>svg{min-width:40rem}
svg .end{text-anchor:end}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.5rem 0}
td,th{padding:.2rem .8rem .2rem 0;border-bottom:1px solid #d8dce1;text-align:left;
vertical-align:top}
td:first-child{white-space:nowrap}
td:last-child:not(:only-child){min-width:9rem}
details>summary{cursor:pointer;overflow-wrap:anywhere;padding:.4rem 0}
p,li{overflow-wrap:anywhere}
a{color:#0b5a96}
pre{font:.875rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;
max-height:30rem;overflow:auto;margin:.3rem 0;padding:.5rem .7rem;background:#f5f7f9}
.step{margin:.9rem 0 .2rem;font-weight:600}
@media(prefers-color-scheme:dark){body{background:#14171c;color:#e8eaed}
td,th{border-color:#30363d}
a{color:#7cc4f5}
pre{background:#1d2127}}
"""


def standalone_page(title: str, intro: str, sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a page; its policy forbids every request.

    Args:
        title: its title.
        intro: markup below the title.
        sections: the heading and the parts, as markup, of each section; those without are left out.
    """
    head = "".join(
        [
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{words(title)}</title>",
            f"<style>{_CSS}</style>",
            style(),
        ]
    )
    body = "".join(
        f"<section><h2>{words(name)}</h2>{''.join(parts)}</section>"
        for name, parts in sections
        if parts
    )
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>'
        f"<body><main><h1>{words(title)}</h1>{intro}{body}</main></body></html>\n"
    )
