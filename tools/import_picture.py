"""Draw which parts of the package import which, now or at an earlier commit, and count what the picture shows.

`python tools/import_picture.py` draws this checkout, and `python tools/import_picture.py 9aa434d4` an earlier commit of it.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import grimp
import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build"
PACKAGE = "ledgerframes"

Imports = Mapping[str, set[str]]  # what each part imports, by name


def export(commit: str, directory: Path) -> None:
    """Write the package as it was at a commit into a directory."""
    command = ["git", "-C", str(ROOT), "archive", commit, PACKAGE]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(directory, filter="data")


def imports_between_parts(graph: grimp.ImportGraph) -> Imports:
    """Return what each module and package of the root imports from the others."""
    parts = sorted(graph.find_children(PACKAGE))
    return {
        importer.removeprefix(f"{PACKAGE}."): {
            imported.removeprefix(f"{PACKAGE}.")
            for imported in parts
            if imported != importer and graph.direct_import_exists(importer=importer, imported=imported, as_packages=True)
        }
        for importer in parts
    }


def imports_between_modules(graph: grimp.ImportGraph) -> Imports:
    """Return what each module imports from the others, also for types only."""
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def reachable(imports: Imports) -> Imports:
    """Return what each name imports, directly or through others."""
    found: dict[str, set[str]] = {}
    for name in imports:
        seen: set[str] = set()
        waiting = [*imports[name]]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                waiting += imports[each]
        found[name] = seen
    return found


def circle_of(name: str, reached: Imports) -> set[str]:
    """Return a name, and those that it imports and that import it."""
    return {name, *(each for each in reached[name] if name in reached[each])}


def circles_of(imports: Imports) -> list[set[str]]:
    """Return the groups of names that import each other in a circle."""
    reached = reachable(imports)
    groups = {frozenset(circle_of(name, reached)) for name in imports}
    return sorted((set(group) for group in groups if len(group) > 1), key=sorted)


def floors_of(imports: Imports) -> dict[str, int]:
    """Return the floor of each name: above all that it imports, and level with those of its circle."""
    reached = reachable(imports)
    floors: dict[str, int] = {}

    def floor_of(name: str) -> int:
        if name not in floors:
            circle = circle_of(name, reached)
            below = {each for member in circle for each in imports[member]} - circle
            floor = max((floor_of(each) + 1 for each in below), default=0)
            floors.update(dict.fromkeys(circle, floor))
        return floors[name]

    return {name: floor_of(name) for name in imports}


def draw(imports: Imports, title: str, path: Path) -> None:
    """Draw the parts on their floors. An arrow leads to what is imported, and is red within a circle."""
    floors, reached = floors_of(imports), reachable(imports)
    rows = [[name for name in imports if floors[name] == floor] for floor in range(max(floors.values()) + 1)]
    figure, axes = plt.subplots(figsize=(15, 1 + 0.75 * len(rows)), layout="constrained")
    places = {name: ((column + 1) / (len(row) + 1), y) for y, row in enumerate(rows) for column, name in enumerate(row)}
    for importer, others in imports.items():
        for imported in others:
            is_circle = importer in reached[imported]
            arrow = {"arrowstyle": "->", "color": "#c0392b" if is_circle else "#8fa3b5", "lw": 1.6 if is_circle else 0.6}
            axes.annotate("", places[imported], places[importer], arrowprops={**arrow, "connectionstyle": "arc3,rad=0.06"})
    for name, (x, y) in places.items():
        axes.text(x, y, name, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white", "ec": "#34495e"})
    axes.set(title=title, xlim=(0, 1), ylim=(-0.6, len(rows) - 0.4))
    axes.axis("off")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def describe(graph: grimp.ImportGraph) -> str:
    """Return what the picture shows, in one line."""
    parts, modules = imports_between_parts(graph), imports_between_modules(graph)
    facts = {
        "modules": len(modules),
        "in the root": sum(1 for name in parts if not graph.find_children(f"{PACKAGE}.{name}")),
        "packages": sum(1 for name in parts if graph.find_children(f"{PACKAGE}.{name}")),
        "floors": len(set(floors_of(parts).values())),
        "imports between parts": sum(map(len, parts.values())),
        "parts in circles": sum(map(len, circles_of(parts))),
        "modules in circles": sum(map(len, circles_of(modules))),
    }
    return ", ".join(f"{name}: {number:,}" for name, number in facts.items())


def main(commit: str = "") -> None:
    """Draw a commit, or this checkout."""
    with TemporaryDirectory() as directory:
        if commit:
            export(commit, Path(directory))
        sys.path.insert(0, directory if commit else str(ROOT))
        graph = grimp.build_graph(PACKAGE, cache_dir=None)
    name, facts = commit or "now", describe(graph)
    path = OUT / f"imports-{name}.png"
    draw(imports_between_parts(graph), f"{name}. {facts}", path)
    print(f"{name}  {facts}\n{path.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
