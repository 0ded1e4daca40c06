"""Does a tutorial show what was printed? Words must be the same, numbers as near as they claim to be.

The same seed gives the same bits on one machine only, so that numbers may differ: on a line with an
error (`-3.2 ± 0.1`) by a few errors, an error by a factor of two, and any other number in its last digit.
"""

import re

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
ERROR = re.compile(r"± (\d[\d,]*(?:\.\d+)?)")
ERRORS_APART = 4.0
LAST_DIGITS = 1.5
RELATIVE = 1e-4  # of large numbers that are printed with more digits than two machines agree on


def disagreement(shown: str, printed: str) -> str:
    """Where the two part; empty if they agree."""
    lines = [[_plain(line) for line in text.splitlines() if line.strip()] for text in (shown, printed)]
    if [NUMBER.sub("#", line) for line in lines[0]] != [NUMBER.sub("#", line) for line in lines[1]]:
        return f"other words than shown:\n{printed}"
    largest_error = max(
        (_value(error) for text in lines for line in text for error in ERROR.findall(line)), default=0.0
    )
    for claimed_line, found_line in zip(*lines, strict=True):
        for claimed, found in zip(NUMBER.finditer(claimed_line), NUMBER.finditer(found_line), strict=True):
            if not _agree(claimed, found[0], largest_error):
                return f"shown {claimed[0]}, printed {found[0]}:\n{printed}"
    return ""


def _agree(claimed: re.Match[str], found: str, largest_error: float) -> bool:
    line, number = claimed.string, claimed[0]
    if line[: claimed.start()].endswith("± "):
        return _is_like_error(number, found)
    if "±" in line and "." in number:
        return _is_near(number, found, ERRORS_APART * largest_error)
    return _is_near(number, found, RELATIVE * abs(_value(number)))


def _plain(line: str) -> str:
    """Without what depends on the width of a number: spaces, and lines that are drawn."""
    return " ".join(re.sub("─+", "─", line).split())


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _last_digit(number: str) -> float:
    """What one more in the last digit is worth."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _is_near(claimed: str, found: str, tolerance: float) -> bool:
    return abs(_value(claimed) - _value(found)) <= max(tolerance, LAST_DIGITS * _last_digit(claimed))


def _is_like_error(claimed: str, found: str) -> bool:
    small, large = sorted([_value(claimed), _value(found)])
    return large <= 2.0 * small or _is_near(claimed, found, 0.0)
