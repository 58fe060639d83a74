"""Show untrusted text: characters that do not show, or turn others, become their escapes."""


def visible_text(text: str, *, lines: bool = False) -> str:
    r"""Return text whose characters all show; a second call changes nothing.

    Control characters, bidirectional marks and lone surrogates are replaced by their escapes, so
    that a command reads as it ran, a terminal obeys nothing, and every text can be written.

    Args:
        text: what a program or a person wrote.
        lines: whether line feeds and tabs stay; CR LF is a line feed then.

    Example:
        >>> visible_text("rm \u202e x"), visible_text("a\n\x1b[2J", lines=True)
        ('rm \\u202e x', 'a\n\\x1b[2J')
        >>> visible_text("\ud800\n")
        '\\ud800\\n'
    """
    if text.isprintable():
        return text
    spared = ""
    if lines:
        text, spared = text.replace("\r\n", "\n"), "\n\t"
    return "".join(
        letter
        if letter.isprintable() or letter in spared
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )
