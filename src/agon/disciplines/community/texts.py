"""Write numbers and counted things into the sentences of explanations."""

PLACES = 6


def number(value: float) -> str:
    """Return a number without trailing zeros, with at most six decimals.

    Example:
        >>> number(0.5), number(12.0), number(-0.0)
        ('0.5', '12', '0')
    """
    text = f"{value:.{PLACES}f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def points_text(value: float) -> str:
    """Return a number of points.

    Example:
        >>> points_text(1.0), points_text(2.5)
        ('1 point', '2.5 points')
    """
    return f"{number(value)} point{'' if abs(value) == 1 else 's'}"


def many(count: int, noun: str) -> str:
    """Return a number of things.

    Example:
        >>> many(1, "prompt"), many(3, "prompt")
        ('1 prompt', '3 prompts')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
