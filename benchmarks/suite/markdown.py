# SPDX-License-Identifier: MIT
"""Tables and numbers as Markdown."""
import math


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows])


def number(value, digits=3):
    """With so many significant digits and no exponent."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{places}f}"


def count(value):
    return "–" if value is None else f"{value:,.0f}"
