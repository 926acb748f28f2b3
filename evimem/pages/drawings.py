"""Small pictures as SVG without script and without styles of their own: colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby

from markupsafe import Markup, escape

from ..calibration import Bin, Point
from ..types.overview import DayCount

_WIDE, _HIGH = 720, 96  # of the picture of days
_CHART_SIDE = 240  # of a square chart
_CHART_PADDING = 28
MAX_DAY_BARS = 400  # days; a longer time is drawn by months


def draw_meter(value: float, threshold: float | None = None, label: str = "") -> Markup:
    """Return a bar from 0 to 1 filled to a value, with a tick at a threshold."""
    tick = (
        "" if threshold is None else f'<rect class="tick" x="{threshold * 200 - 1:.1f}" y="0" width="2" height="14"/>'
    )
    return Markup(
        f'<svg class="meter" viewBox="0 0 200 14" role="img" aria-label="{escape(label)}">'
        f'<rect class="track" x="0" y="4" width="200" height="6" rx="3"/>'
        f'<rect class="fill" x="0" y="4" width="{max(min(value, 1), 0) * 200:.1f}" height="6" rx="3"/>{tick}</svg>'
    )


def draw_score_bar(parts: Mapping[str, float], most: float) -> Markup:
    """Return the summands of a score as pieces of a bar; `most` is the score that fills it. Penalties are left out."""
    x, pieces = 0.0, []
    for name, value in parts.items():
        if value > 0:
            width = value / most * 300 if most > 0 else 0
            title = f"<title>{escape(name)} {value:.3f}</title>"
            pieces.append(f'<rect class="part part-{escape(summand_css_class(name))}" x="{x:.1f}" y="0" '
                          f'width="{width:.1f}" height="10">{title}</rect>')  # fmt: skip
            x += width
    told = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
    opening = (
        f'<svg class="score" viewBox="0 0 300 10" preserveAspectRatio="none" role="img" aria-label="{escape(told)}">'
    )
    return Markup(f"{opening}{''.join(pieces)}</svg>")


def summand_css_class(name: str) -> str:
    """Return the class of a summand's colour: the five most telling have one each."""
    return name if name in {"words", "meaning", "related", "speaker", "date"} else "other"


def draw_split_bar(parts: Sequence[tuple[str, int]], whole: int) -> Markup:
    """Return counts as pieces of a bar that stands for `whole`, numbered by class from 1."""
    x, pieces = 0.0, []
    for number, (name, count) in enumerate(parts, 1):
        width = count / whole * 600 if whole else 0
        pieces.append(f'<rect class="slice slice-{number}" x="{x:.1f}" y="0" width="{width:.1f}" height="14">'
                      f"<title>{escape(name)}: {count}</title></rect>")  # fmt: skip
        x += width
    told = ", ".join(f"{name} {count}" for name, count in parts)
    return Markup(
        '<svg class="split" viewBox="0 0 600 14" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)} of {whole} tokens">'
        f'<rect class="track" x="0" y="0" width="600" height="14"/>{"".join(pieces)}</svg>'
    )


def draw_day_bars(counts: Sequence[DayCount], chosen: date | None, address: Mapping[date, str]) -> Markup:
    """Return the turns of each day as bars that lead to it; of more than `MAX_DAY_BARS` days, bars of months."""
    if not counts:
        return Markup()
    first, last = counts[0].day, counts[-1].day
    by_month = (last - first).days > MAX_DAY_BARS
    parts = _group_by_month(counts, by_month=by_month)
    groups = [(day, sum(one.turns for one in ones), list(ones)) for day, ones in parts]
    slots = _count_months(first, last) if by_month else (last - first).days + 1
    width = _WIDE / max(slots, 20)
    most = max(total for _, total, _ in groups)
    bars = []
    for day, total, ones in groups:
        slot = _count_months(first, day) - 1 if by_month else (day - first).days
        high = max(total / most * (_HIGH - 24), 3)
        when = f"{day:%B %Y}" if by_month else f"{day.day} {day:%B %Y}"
        kind = "bar chosen" if chosen in {one.day for one in ones} else "bar"
        bars.append(
            f'<a href="{escape(address[ones[0].day])}" aria-label="{when}: {total} turns"><rect class="hit" '
            f'x="{slot * width:.1f}" y="0" width="{width:.1f}" height="{_HIGH - 20}"/><rect class="{kind}" '
            f'x="{min(slot * width + 0.5, _WIDE - 4):.1f}" y="{_HIGH - 20 - high:.1f}" width="{max(width - 1, 4):.1f}" '
            f'height="{high:.1f}" rx="1"><title>{when}: {total} turns</title></rect></a>'
        )
    ends = (f'<text x="0" y="{_HIGH - 4}">{first.day} {first:%b %Y}</text>'
            f'<text x="{_WIDE}" y="{_HIGH - 4}" text-anchor="end">{last.day} {last:%b %Y}</text>')  # fmt: skip
    base = f'<line class="axis" x1="0" x2="{_WIDE}" y1="{_HIGH - 20}" y2="{_HIGH - 20}"/>'
    return Markup(
        f'<svg class="days" viewBox="0 0 {_WIDE} {_HIGH}" role="group" aria-label="Turns over time">'
        f"{base}{''.join(bars)}{ends}</svg>"
    )


def _group_by_month(counts: Sequence[DayCount], *, by_month: bool) -> Iterable[tuple[date, list[DayCount]]]:
    if not by_month:
        return [(one.day, [one]) for one in counts]
    return [(month, list(ones)) for month, ones in groupby(counts, key=lambda one: one.day.replace(day=1))]


def _count_months(first: date, last: date) -> int:
    return (last.year - first.year) * 12 + last.month - first.month + 1


def draw_sparkline(counts: Sequence[int], label: str) -> Markup:
    """Return counts as a small line."""
    most, width = max(counts, default=1) or 1, 96
    step = width / max(len(counts) - 1, 1)
    points = " ".join(f"{place * step:.1f},{18 - count / most * 16:.1f}" for place, count in enumerate(counts))
    return Markup(
        f'<svg class="spark" viewBox="0 0 {width} 20" role="img" aria-label="{escape(label)}">'
        f'<polyline points="{points}"/></svg>'
    )


def draw_reliability(bins: Sequence[Bin]) -> Markup:
    """Return predicted probability against observed share as a chart; the diagonal is a perfect calibration."""
    dots = "".join(
        f'<circle class="dot" cx="{_chart_x(one.predicted):.1f}" cy="{_chart_y(one.observed):.1f}" '
        f'r="{3 + min(one.count, 60) / 12:.1f}">'
        f"<title>said {one.predicted:.0%}, true {one.observed:.0%} of {one.count}</title></circle>"
        for one in bins
    )
    line = " ".join(f"{_chart_x(one.predicted):.1f},{_chart_y(one.observed):.1f}" for one in bins)
    diagonal = f'<line class="guide" x1="{_chart_x(0)}" y1="{_chart_y(0)}" x2="{_chart_x(1)}" y2="{_chart_y(1)}"/>'
    return _draw_chart("Said probability", "True share", f'{diagonal}<polyline class="curve" points="{line}"/>{dots}')


def draw_risk(points: Sequence[Point]) -> Markup:
    """Return the share of wrong answers against the share answered as a chart."""
    line = " ".join(f"{_chart_x(one.coverage):.1f},{_chart_y(one.risk):.1f}" for one in points)
    return _draw_chart("Share answered", "Share of these wrong", f'<polyline class="curve" points="{line}"/>')


def _draw_chart(across: str, up: str, inside: str) -> Markup:
    foot = _CHART_SIDE - _CHART_PADDING
    axes = (f'<line class="axis" x1="{_CHART_PADDING}" x2="{_CHART_SIDE}" y1="{foot}" y2="{foot}"/>'
            f'<line class="axis" x1="{_CHART_PADDING}" x2="{_CHART_PADDING}" y1="0" y2="{foot}"/>'
            f'<text x="{_CHART_PADDING}" y="{foot + 14}">0</text>'
            f'<text x="{_CHART_SIDE}" y="{foot + 14}" text-anchor="end">1</text>'
            f'<text x="{(_CHART_SIDE + _CHART_PADDING) / 2}" y="{foot + 24}" text-anchor="middle">{across}</text>'
            f'<text transform="translate(12 {foot / 2}) rotate(-90)" text-anchor="middle">{up}</text>')  # fmt: skip
    label = f"{up} by {across.lower()}"
    box = f"0 0 {_CHART_SIDE} {_CHART_SIDE}"
    return Markup(f'<svg class="chart" viewBox="{box}" role="img" aria-label="{label}">{axes}{inside}</svg>')


def _chart_x(share: float) -> float:
    return _CHART_PADDING + share * (_CHART_SIDE - _CHART_PADDING - 6)


def _chart_y(share: float) -> float:
    return (_CHART_SIDE - _CHART_PADDING) - share * (_CHART_SIDE - _CHART_PADDING - 6)


def draw_evidence(moments: Sequence[tuple[date, str, str, bool]], today: date | None) -> Markup:
    """Return evidence on a line of time: (day said, label, address, whether it is cited)."""
    if not moments:
        return Markup()
    first, last = min(one[0] for one in moments), max([one[0] for one in moments] + ([today] if today else []))
    span = max((last - first).days, 1)
    marks = []
    for place, (day, label, address, cited) in enumerate(sorted(moments, key=lambda one: one[3])):
        x = 12 + (day - first).days / span * (_WIDE - 24)
        y = 26 - (place % 3) * 8 if not cited else 26
        kind, radius = ("moment cited", 7) if cited else ("moment", 4)
        marks.append(f'<a href="{escape(address)}" aria-label="{escape(label)}"><circle class="{kind}" cx="{x:.1f}" '
                     f'cy="{y}" r="{radius}"><title>{escape(label)}</title></circle></a>')  # fmt: skip
    end = last if last > first else first + timedelta(1)
    texts = (f'<text x="12" y="58">{first.day} {first:%b %Y}</text>'
             f'<text x="{_WIDE - 12}" y="58" text-anchor="end">{end.day} {end:%b %Y}</text>')  # fmt: skip
    axis = f'<line class="axis" x1="12" x2="{_WIDE - 12}" y1="40" y2="40"/>'
    return Markup(
        f'<svg class="evidence" viewBox="0 0 {_WIDE} 64" role="group" aria-label="When the evidence was said">'
        f"{axis}{''.join(marks)}{texts}</svg>"
    )
