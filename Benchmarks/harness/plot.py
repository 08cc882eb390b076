"""Pictures as SVG: bars and lines over logarithmic axes, where twice as fast is the same distance everywhere."""
import math
from html import escape

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a6d3b", "#666666", "#332288", "#aa4499"]
WIDTH, LEFT, TOP, PLOT_HEIGHT, LEGEND = 860, 90, 50, 320, 190
RIGHT = WIDTH - LEGEND
BOTTOM = TOP + PLOT_HEIGHT


def decades(values):
    """The powers of ten around positive values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def scale(value, bounds, start, end):
    """The position of a value between two points of the picture."""
    low, high = bounds
    return start + (math.log10(value) - low) / (high - low) * (end - start)


def tick(power):
    return f"{10 ** power:,}" if power >= 0 else f"{10 ** power:g}"


def text(x, y, words, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour="#ddd"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def picture(title, y_label, parts, height=BOTTOM + 70):
    middle = (TOP + BOTTOM) / 2
    frame = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" fill="#222">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', text(LEFT, 28, title, "start", 16),
        text(20, middle, y_label, more=f' transform="rotate(-90 20 {middle:.1f})"'),
    ]
    return "\n".join([*frame, *parts, "</svg>"]) + "\n"


def y_axis(bounds):
    low, high = bounds
    parts = []
    for power in range(low, high + 1):
        y = scale(10 ** power, bounds, BOTTOM, TOP)
        parts += [line(LEFT, y, RIGHT, y), text(LEFT - 8, y + 4, tick(power), "end")]
    return parts


def legend(names):
    parts = []
    for index, name in enumerate(names):
        y = TOP + 10 + index * 22
        colour = COLOURS[index % len(COLOURS)]
        parts.append(f'<rect x="{RIGHT + 20}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        # Colours that come again are dashed.
        parts.append(text(RIGHT + 38, y, name + (" - -" if index >= len(COLOURS) else ""), "start"))
    return parts


def lines(title, x_label, y_label, series):
    """`series`: name → [(x, y)], all positive."""
    points = [point for line_points in series.values() for point in line_points]
    y_bounds, x_bounds = decades([y for _, y in points]), decades([x for x, _ in points])
    parts = y_axis(y_bounds)
    for x in sorted({x for x, _ in points}):
        at = scale(x, x_bounds, LEFT, RIGHT)
        parts += [line(at, TOP, at, BOTTOM), text(at, BOTTOM + 18, f"{x:,}")]
    parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 45, x_label))
    for index, line_points in enumerate(series.values()):
        colour = COLOURS[index % len(COLOURS)]
        placed = [(scale(x, x_bounds, LEFT, RIGHT), scale(y, y_bounds, BOTTOM, TOP)) for x, y in sorted(line_points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        dashes = ' stroke-dasharray="6 4"' if index >= len(COLOURS) else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in placed]
    return picture(title, y_label, parts + legend(series))


def bars(title, x_label, y_label, groups):
    """`groups`: name of a group → {name of a bar: height}, heights positive."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    bounds = decades([height for group in groups.values() for height in group.values()])
    parts = y_axis(bounds)
    room = (RIGHT - LEFT) / len(groups)
    width = 0.85 * room / len(names)
    for index, (group_name, group) in enumerate(groups.items()):
        start = LEFT + index * room + 0.075 * room
        parts.append(text(LEFT + (index + 0.5) * room, BOTTOM + 18, group_name))
        for position, name in enumerate(names):
            if name not in group:
                continue
            x, y = start + position * width, scale(group[name], bounds, BOTTOM, TOP)
            colour = COLOURS[position % len(COLOURS)]
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOTTOM - y:.1f}" fill="{colour}">'
                         f"<title>{escape(name)}: {group[name]:.4g}</title></rect>")
    parts += [line(LEFT, BOTTOM, RIGHT, BOTTOM, "#444"), text((LEFT + RIGHT) / 2, BOTTOM + 45, x_label)]
    return picture(title, y_label, parts + legend(names))
