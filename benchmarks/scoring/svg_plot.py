"""Line charts as SVG without a plotting library: two axes, grid, curves, dots and bars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 560, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 34, 56, 56
_INK, _FAINT, _GRID = "#1f2933", "#6b7785", "#e3e8ee"
COLOURS = ("#0b6e99", "#c8553d", "#5b8c2a", "#7a5195")
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve through points; `sizes` gives the radius in pixels of a dot on each of them."""

    name: str
    points: tuple[tuple[float, float], ...]
    sizes: tuple[float, ...] = ()
    dashed: bool = False
    colour: str = COLOURS[0]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: curves over two axes, bars (from, to, height) along the x axis, and a note under the title.

    With `powers`, values are exponents of ten, and ticks are at the whole ones.
    """

    title: str
    note: str
    across: str
    up: str
    lines: tuple[Curve, ...]
    bars: tuple[tuple[float, float, float], ...] = ()  # from, to, height
    width: tuple[float, float] = (0.0, 1.0)
    height: tuple[float, float] = (0.0, 1.0)
    legend: Literal["above", "below"] = "above"
    powers: bool = False


def svg(chart: Chart) -> str:
    """Return the chart as an SVG document."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 24, chart.title, size=15, weight="bold"),
        _text(_LEFT, 42, chart.note, colour=_FAINT),
        *_axes(chart),
        *(_bar(chart, *bar) for bar in chart.bars),
        *(piece for line in chart.lines for piece in _drawn(chart, line)),
        *_legend(chart),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(chart: Chart, value: float) -> float:
    low, high = chart.width
    return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)


def _y(chart: Chart, value: float) -> float:
    low, high = chart.height
    return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(chart: Chart) -> Iterable[str]:
    foot, left = _HEIGHT - _BOTTOM, _LEFT
    for value, label in _ticks(chart, chart.width):
        x = _x(chart, value)
        yield _rule(x, _TOP, x, foot, _GRID)
        yield _text(x, foot + 18, label, anchor="middle", colour=_FAINT)
    for value, label in _ticks(chart, chart.height):
        y = _y(chart, value)
        yield _rule(left, y, _WIDTH - _RIGHT, y, _GRID)
        yield _text(left - 8, y + 4, label, anchor="end", colour=_FAINT)
    yield _rule(left, foot, _WIDTH - _RIGHT, foot, _INK)
    yield _rule(left, _TOP, left, foot, _INK)
    yield _text((left + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, chart.across, anchor="middle")
    middle = (_TOP + foot) / 2
    turned = f'<g transform="translate(18 {middle:.1f}) rotate(-90)">'
    yield f"{turned}{_text(0, 0, chart.up, anchor='middle')}</g>"


def _ticks(chart: Chart, axis: tuple[float, float]) -> Iterable[tuple[float, str]]:
    low, high = axis
    if chart.powers:
        return [
            (float(power), f"{10**power:,}" if power >= 0 else f"{10.0**power:g}")
            for power in range(ceil(low), floor(high) + 1)
        ]
    values = (low + tick / _TICKS * (high - low) for tick in range(_TICKS + 1))
    return [(value, f"{value:.2g}") for value in values]


def _bar(chart: Chart, begins: float, ends: float, height: float) -> str:
    x, y = _x(chart, begins), _y(chart, chart.height[0] + height)
    wide, high = _x(chart, ends) - x, _y(chart, chart.height[0]) - y
    return f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{wide - 2:.1f}" height="{high:.1f}" fill="#cfe3ec"/>'


def _drawn(chart: Chart, line: Curve) -> Iterable[str]:
    places = [(_x(chart, x), _y(chart, y)) for x, y in line.points]
    dashes = ' stroke-dasharray="5 4"' if line.dashed else ""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{through}" fill="none" stroke="{line.colour}" stroke-width="1.8"{dashes}/>'
    for (x, y), radius in zip(places, line.sizes, strict=False):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{line.colour}" fill-opacity="0.85"/>'


def _legend(chart: Chart) -> Iterable[str]:
    top = _TOP + 18 if chart.legend == "above" else _HEIGHT - _BOTTOM - 18 * len(chart.lines)
    for place, line in enumerate(chart.lines):
        y = top + 18 * place
        yield _rule(_LEFT + 12, y - 4, _LEFT + 36, y - 4, line.colour, dashed=line.dashed)
        yield _text(_LEFT + 42, y, line.name)


def _rule(x: float, y: float, to_x: float, to_y: float, colour: str, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"{dashes}/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = _INK, size: int = 12, weight: str = "normal"
) -> str:
    how = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {how}>{escape(text)}</text>'
