"""Numbers and durations as short text."""

from __future__ import annotations


def format_number(value: float) -> str:
    """Three significant digits, with an exponent only below 0.001 and from a million."""
    if value != value or abs(value) >= 1e6 or (value and abs(value) < 1e-3):
        return f"{value:.3g}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_duration(seconds: float) -> str:
    """1:02:03, or 2:03 below an hour."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
