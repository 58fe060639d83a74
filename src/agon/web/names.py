"""Show participants as HTML, by id and name: on pages, and in sentences of explanations."""

from collections.abc import Callable, Mapping
from html import escape

from markupsafe import Markup

from agon.kernel.text.participants import named_participant, short_id
from agon.kernel.text.sentences import pieces_of


def participant(
    name: str | None,
    id: str,  # noqa: A002 (an id is called id everywhere)
    label: Callable[[str], str] = short_id,
) -> Markup:
    """Return a participant as HTML: the name with the id, which no other participant has.

    Args:
        name: its name; None: it has none.
        id: its id.
        label: returns what one without a name is called, from its id.

    Example:
        >>> print(participant("Ada", "u1"), participant(None, "u1"), participant("u1", "u1"))
        <bdi>Ada</bdi> <bdi class="id">u1</bdi> <bdi>u1</bdi> <bdi>u1</bdi>
    """
    called, unique_id = named_participant(name, id, label)
    html = f"<bdi>{escape(called)}</bdi>"
    if unique_id is not None:
        html += f' <bdi class="id">{escape(unique_id)}</bdi>'
    return Markup(html)  # noqa: S704 - both are escaped


def sentence_html(text: str, names: Mapping[str, str]) -> Markup:
    """Return a sentence as HTML in which each participant has the name that boards show.

    Args:
        text: a text; where it is a :class:`~agon.kernel.text.sentences.Sentence`, it says where
            it names participants.
        names: names by id.

    Example:
        >>> from agon.kernel.text.sentences import Piece, Sentence
        >>> said = Sentence.of("Beat ", Piece.of("b2"), " (9 against 8).")
        >>> print(sentence_html(said, {"b2": "Zoe"}))
        Beat <bdi>Zoe</bdi> <bdi class="id">b2</bdi> (9 against 8).
    """
    return Markup("").join(
        piece.text
        if piece.participant is None
        else participant(names.get(piece.participant), piece.participant)
        for piece in pieces_of(text)
    )
