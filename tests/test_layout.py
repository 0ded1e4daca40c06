"""The house stays one in which everything is found: small rooms, small files."""

from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "sgais"
MOST_FILES = 15


def test_no_room_is_crowded():
    crowded = {}
    for folder in [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]:
        count = sum(path.suffix == ".py" and path.name != "__init__.py" for path in folder.iterdir())
        if count > MOST_FILES:
            crowded[str(folder.relative_to(SOURCE))] = count
    assert crowded == {}
