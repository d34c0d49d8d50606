"""A small library of a dozen components that somebody has planned, written, and got wrong here and there."""

from team import change

KINDS = {
    "length": ({"m": 1.0, "km": 1000.0, "ft": 0.3048, "mi": 1609.344}, (2, "km", "m", 2000.0)),
    "mass": ({"g": 1.0, "kg": 1000.0, "lb": 453.59237}, (1, "kg", "g", 1000.0)),
    "time": ({"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}, (2, "h", "min", 120.0)),
    "area": ({"m2": 1.0, "ha": 10000.0, "km2": 1000000.0}, (1, "km2", "ha", 100.0)),
    "volume": ({"l": 1.0, "ml": 0.001, "m3": 1000.0}, (500, "ml", "l", 0.5)),
    "speed": ({"mps": 1.0, "kmh": 1 / 3.6}, (36, "kmh", "mps", 10.0)),
    "energy": ({"J": 1.0, "kJ": 1000.0, "kWh": 3600000.0}, (1, "kWh", "kJ", 3600.0)),
    "pressure": ({"Pa": 1.0, "hPa": 100.0, "bar": 100000.0}, (1, "bar", "hPa", 1000.0)),
}
"""Each kind of quantity with its units, and something that is known of them."""
UNITS = '"""Units of {name}."""\n\nUNITS = {units}\n\n\ndef convert(value, old, new):\n    return value * UNITS[old] / UNITS[new]\n'
OWN = {
    "temperature": (
        '"""Temperatures: their scales do not begin at the same place."""\n\nUNITS = {"C": 273.15, "K": 0.0}\n\n\n'
        "def convert(value, old, new):\n    return value + UNITS[old] - UNITS[new]\n",
        "assertAlmostEqual(temperature.convert(20, 'C', 'K'), 293.15)",
    ),
    "parse": (
        '"""Texts such as `12 km`."""\n\n\ndef parse(text):\n    value, unit = text.split()\n    return float(value), unit\n',
        "assertEqual(parse.parse('12 km'), (12.0, 'km'))",
    ),
    "show": (
        '"""Quantities as people read them."""\n\n\ndef show(value, unit):\n    return f"{value:g} {unit}"\n',
        "assertEqual(show.show(12.0, 'km'), '12 km')",
    ),
    "table": (
        '"""Which kind of quantity a unit is of."""\n\nfrom importlib import import_module\n\n'
        f"KINDS = {[*KINDS, 'temperature']!r}\n\n\ndef kind_of(unit):\n    for kind in KINDS:\n"
        '        module = import_module(f"quantities.{kind}")\n        if unit in module.UNITS:\n            return module\n'
        '    raise LookupError(f"no kind of quantity has the unit {unit}")\n',
        "assertEqual(table.kind_of('kg').convert(1, 'kg', 'g'), 1000.0)",
    ),
}
NAMES = (*KINDS, *OWN)
TEST = (
    "import unittest\n\nfrom quantities import {name}\n\n\nclass Test{title}(unittest.TestCase):\n"
    "    def test_{name}(self):\n        self.{claim}\n"
)
WHOLE = (
    '"""Quantities and their units."""\n\nfrom quantities import parse, show, table\n\n\n'
    "def convert(text, unit):\n    value, old = parse.parse(text)\n"
    "    return show.show(table.kind_of(old).convert(value, old, unit), unit)\n"
)
ASTRAY = WHOLE.replace("table", "kinds")
"""The same, by somebody who has not looked how the module is called."""
TEST_WHOLE = (
    "import unittest\n\nfrom quantities import convert\n\n\nclass TestWhole(unittest.TestCase):\n"
    "    def test_texts(self):\n        self.assertEqual(convert('2 km', 'm'), '2000 m')\n"
    "        self.assertEqual(convert('20 C', 'K'), '293.15 K')\n"
)
COLDER = OWN["temperature"][0].replace("+ UNITS[old] - UNITS[new]", "- UNITS[old] + UNITS[new]")
"""The temperatures, the wrong way round."""


def module(name):
    if name in OWN:
        return OWN[name][0]
    return UNITS.format(name=name, units=repr(KINDS[name][0]).replace("'", '"'))


def claim(name):
    if name in OWN:
        return OWN[name][1]
    value, old, new, result = KINDS[name][1]
    return f"assertAlmostEqual({name}.convert({value}, '{old}', '{new}'), {result})"


def files(name):
    """A module and its tests; the first one makes the directories packages."""
    test = TEST.format(name=name, title=name.title(), claim=claim(name))
    first = {"tests/__init__.py": "", "quantities/__init__.py": ""} if name == NAMES[0] else {}
    return {f"quantities/{name}.py": module(name), f"tests/test_{name}.py": test, **first}


def component(name):
    return change(f"Write {name}", f"quantities/{name}.py", f"tests/test_{name}.py")
