"""Writes docs/performance.md, its plot and the page of all tables from the results of run.py.

python benchmarks/report.py build/bench/results.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from cases import Case

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OURS = ("ours (C)", "ours (Python)")
PLOTTED = (32, 64, 56, 56)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def case_of(row: dict[str, Any]) -> Case:
    return Case.from_json(row["case"])


def best_peer(seconds: dict[str, float]) -> tuple[str, float] | None:
    peers = [(n, s) for n, s in seconds.items() if n not in OURS and n != "ceiling"]
    return min(peers, key=lambda item: item[1]) if peers else None


def milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e3:.3g}"


def table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| operation, shape | C (ms) | Python (ms) | GB/s | of the ceiling | best peer (ms) | times faster |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        case, seconds = case_of(row), row["seconds"]
        ours = seconds.get("ours (C)")
        if ours is None:
            continue
        peer, ceiling = best_peer(seconds), seconds.get("ceiling")
        cells = [
            f"{case.op} {'x'.join(map(str, case.shape))}",
            milliseconds(ours),
            milliseconds(seconds.get("ours (Python)")),
            f"{case.bytes() / ours / 1e9:.3g}",
            f"{ceiling / ours:.0%}" if ceiling else "-",
            f"{milliseconds(peer[1])} {peer[0]}" if peer else "-",
            f"{peer[1] / ours:.2f}" if peer else "-",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def summary(rows: list[dict[str, Any]]) -> str:
    """How many cases meet the goal: not behind the best peer, and near the ceiling or twice the best peer."""
    compared = met = ahead = 0
    for row in rows:
        seconds = row["seconds"]
        ours, peer, ceiling = seconds.get("ours (C)"), best_peer(seconds), seconds.get("ceiling")
        if ours is None or peer is None or ceiling is None:
            continue
        compared += 1
        is_ahead = peer[1] >= ours
        ahead += is_ahead
        met += is_ahead and (ceiling / ours >= 0.85 or peer[1] / ours >= 2)
    return (
        f"Of {compared} cases with a peer, {ahead} are at least as fast as the best of them; "
        f"{met} also reach 85 % of the ceiling or twice the best peer's speed."
    )


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [r for r in rows if case_of(r).shape == PLOTTED and case_of(r).dtype == "float32"]
    names = [n for n in ("ceiling", *OURS, "PyTorch", "numpy") if any(n in r["seconds"] for r in chosen)]
    names += sorted({n for r in chosen for n in r["seconds"] if n.startswith("oneDNN")})
    names.remove("numpy") if "numpy" in names else None  # tens of times slower: it would flatten the rest
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    for axis, layout in zip(axes, ("contiguous", "channels_last"), strict=True):
        part = [r for r in chosen if case_of(r).layout == layout]
        width = 0.8 / max(len(names), 1)
        for k, name in enumerate(names):
            values = [
                (i, case_of(r).bytes() / r["seconds"][name] / 1e9)
                for i, r in enumerate(part)
                if name in r["seconds"]
            ]
            axis.bar([i + k * width for i, _ in values], [v for _, v in values], width, label=name)
        axis.set_xticks(
            [i + 0.4 for i in range(len(part))], [case_of(r).op for r in part], rotation=30, ha="right"
        )
        axis.set_title(f"(32, 64, 56, 56) float32, {layout.replace('_', ' ')}")
    axes[0].set_ylabel("GB/s of the least traffic (more is better)")
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def machine_line(machine: dict[str, str]) -> str:
    command = " ".join(machine["command"].split()[:2])
    return f"Measured on {machine['date']} on {machine['processor']}, with `{command}`."


def main() -> None:
    measured = json.loads(Path(sys.argv[1]).read_text())
    rows, machine = measured["results"], measured["machine"]
    by_group: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_group.setdefault((case_of(row).dtype, case_of(row).layout), []).append(row)

    short = [BEGIN, machine_line(machine), "", summary(rows), ""]
    short += ["![Bandwidth by operation and layout](images/performance.png)", ""]
    full = [
        "# All measurements",
        "",
        "What the columns mean is on the page [Performance](performance.md).",
        "",
    ]
    full += [machine_line(machine), ""]
    for (dtype, layout), part in by_group.items():
        title = f"{dtype}, {layout.replace('_', ' ')}"
        main_shape = [row for row in part if case_of(row).shape == PLOTTED]
        short += [f"### {title}", "", *table(main_shape), ""] if main_shape else []
        full += [f"## {title}", "", *table(part), ""]
    short += ["[All shapes](performance-tables.md)", END]

    path = DOCS / "performance.md"
    before, _, rest = path.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + "\n".join(short) + after)
    (DOCS / "performance-tables.md").write_text("\n".join(full).rstrip() + "\n")
    plot(rows, DOCS / "images" / "performance.png")


if __name__ == "__main__":
    main()
