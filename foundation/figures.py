"""Counts and times as a person reads them."""


def short_count(number: int) -> str:
    """`950`, `4.2k`, `1.3M`."""
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.1f}M"


def percent(share: float) -> str:
    """`42.0 %`: a fraction, in the one way that the figures of the context are shown."""
    return f"{100 * share:.1f} %"


def likelihood_percent(likelihood: float) -> str:
    """`62 %`; `under 1 %` where it is not 0."""
    return f"{likelihood:.0%}".replace("%", " %") if likelihood >= 0.01 else "under 1 %"


def elapsed(seconds: int) -> str:
    """`12 s`, `3 min 5 s`, `2 h 7 min`."""
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def counted(number: int, noun: str) -> str:
    """`1 line`, `1,200 lines`: the number with its noun, which takes an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
