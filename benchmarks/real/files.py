"""The small project that the messages on files are about, and the five projects with a bug to mend."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OFFICE = {
    "README.md": "# Harbour\n\nNotes and small scripts of the harbour office.\n\nLicence: Apache 2.0, see LICENSE.\n",
    "notes.txt": (
        "Project Harbour\n\nThe deadline is 14 March.\nThe budget is 2,300 euros.\nNext meeting: Monday at 10.\n"
    ),
    "birds.md": "# Birds at the pier\n\nA grey heron stands at the water each morning.\nKingfishers come in May.\n",
    "config.ini": "[server]\nhost = localhost\nport = 8080\n",
    "setup.cfg": "[metadata]\nname = harbour\nversion = 4.7.1\n",
    "pyproject.toml": '[project]\nname = "harbour"\nversion = "4.7.1"\n',
    "data.csv": (
        "city,degrees\nLisbon,21\nRome,19\nPorto,17\nOslo,7\nParis,14\n"
        "Bern,12\nKyiv,9\nRiga,8\nCairo,29\nLima,22\nQuito,15\n"
    ),
    "src/shapes.py": (
        "def area(width, height):\n    return width * height\n\n\n"
        "def perimeter(width, height):\n    return 2 * (width + height)\n\n\n"
        "# TODO: rotate a shape\n\nif __name__ == '__main__':\n    print(area(3, 4))\n"
    ),
}


def project(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes the files into an empty folder and commits them to Git, so that it is seen as a project."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    author = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "--no-gpg-sign", "-m", "Begin"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
    return folder


BUGS: dict[str, dict[str, str]] = {
    "total": {
        "prices.py": (
            "def total(prices):\n    result = 0\n    for price in prices[1:]:\n        result += price\n"
            "    return result\n"
        ),
        "test_prices.py": "from prices import total\n\nassert total([1, 2, 3]) == 6, total([1, 2, 3])\nprint('ok')\n",
    },
    "median": {
        "middle.py": "def median(numbers):\n    return numbers[len(numbers) // 2]\n",
        "test_middle.py": (
            "from middle import median\n\nassert median([5, 1, 3]) == 3, median([5, 1, 3])\nprint('ok')\n"
        ),
    },
    "names": {
        "names.py": "def initials(name):\n    return ''.join(part[0] for part in name.split()).lower()\n",
        "test_names.py": (
            "from names import initials\n\n"
            "assert initials('ada lovelace') == 'AL', initials('ada lovelace')\nprint('ok')\n"
        ),
    },
    "leap": {
        "years.py": "def is_leap(year):\n    return year % 4 == 0\n",
        "test_years.py": (
            "from years import is_leap\n\nassert is_leap(2024)\nassert is_leap(2000)\n"
            "assert not is_leap(1900), '1900 is no leap year'\nprint('ok')\n"
        ),
    },
    "words": {
        "words.py": "def count_words(text):\n    return len(text.split(' '))\n",
        "test_words.py": (
            "from words import count_words\n\n"
            "assert count_words('one  two three ') == 3, count_words('one  two three ')\nprint('ok')\n"
        ),
    },
}
