"""How people write units, and the UCUM unit for each: words, signs, habits of DBC and VSS."""

import re

from slipring.dictionary import ucum

WORDS = {
    # time and rotation
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us",
    "minute": "min", "minutes": "min", "mins": "min", "hr": "h", "hrs": "h", "hour": "h",
    "hours": "h", "day": "d", "days": "d", "week": "wk", "weeks": "wk", "month": "mo",
    "months": "mo", "year": "a", "years": "a", "unix-time": "s", "rpm": "{rpm}", "1/rpm": "min",
    "rps": "{rev}/s", "rev": "{rev}", "hertz": "Hz", "bpm": "{beats}/min", "cpm": "{cycles}/min",
    # temperature and angle
    "degc": "Cel", "°c": "Cel", "℃": "Cel", "celsius": "Cel", "deg c": "Cel", "deg_c": "Cel",
    "degf": "[degF]", "°f": "[degF]", "fahrenheit": "[degF]", "deg f": "[degF]",
    "degr": "[degR]", "kelvin": "K", "degk": "K", "°k": "K", "°": "deg", "degree": "deg",
    "degrees": "deg", "radian": "rad", "radians": "rad", "rads": "rad", "arcsec": "''",
    "arcmin": "'",
    # length, speed, acceleration
    "meter": "m", "meters": "m", "metre": "m", "metres": "m", "kilometer": "km", "mtr": "m",
    "in": "[in_i]", "inch": "[in_i]", "inches": "[in_i]", "ft": "[ft_i]", "feet": "[ft_i]",
    "foot": "[ft_i]", "yd": "[yd_i]", "mi": "[mi_i]", "mile": "[mi_i]", "miles": "[mi_i]",
    "nmi": "[nmi_i]", "nm_i": "[nmi_i]", "kt": "[kn_i]", "kts": "[kn_i]", "kn": "[kn_i]",
    "knot": "[kn_i]", "knots": "[kn_i]", "kmh": "km/h", "kph": "km/h", "kmph": "km/h",
    "km/hr": "km/h", "mph": "[mi_i]/h", "mps": "m/s", "fps": "[ft_i]/s", "fpm": "[ft_i]/min",
    "gee": "[g]", "gs": "[g]", "micron": "um",
    # mass, force, torque, pressure
    "kgs": "kg", "gram": "g", "grams": "g", "lb": "[lb_av]", "lbs": "[lb_av]", "oz": "[oz_av]",
    "ton": "t", "tonne": "t", "lbf": "[lbf_av]", "nm": "N.m", "newton": "N", "psi": "[psi]",
    "psia": "[psi]", "psig": "[psi]", "inhg": "[in_i'Hg]", "mmhg": "mm[Hg]", "mmh2o": "mm[H2O]",
    "inh2o": "[in_i'H2O]", "bara": "bar", "barg": "bar", "pascal": "Pa", "hpascal": "hPa",
    # volume and consumption
    "liter": "l", "liters": "l", "litre": "l", "litres": "l", "ltr": "l", "gal": "[gal_us]",
    "cc": "cm3", "ha": "har",
    "pph": "[lb_av]/h", "kgph": "kg/h", "gpm": "[gal_us]/min", "lph": "l/h",
    "l/100km": "l/(100.km)", "ml/100km": "ml/(100.km)", "kwh/100km": "kW.h/(100.km)",
    "mpg": "[mi_i]/[gal_us]",
    # electricity, power, energy
    "volt": "V", "volts": "V", "vdc": "V", "vac": "V", "vrms": "V", "amp": "A", "amps": "A",
    "ampere": "A", "adc": "A", "ohms": "Ohm", "ohm": "Ohm", "Ω": "Ohm", "kΩ": "kOhm",
    "ah": "A.h", "mah": "mA.h", "wh": "W.h", "kwh": "kW.h", "mwh": "MW.h", "va": "V.A",
    "kva": "kV.A", "watt": "W", "watts": "W", "hp": "[HP]", "ps": "{PS}", "joule": "J",
    "btu": "[Btu]", "dbm": "{dBm}", "db": "dB", "lux": "lx",
    # parts, counts, information
    "percent": "%", "pct": "%", "prc": "%", "permille": "[ppth]", "‰": "[ppth]",
    "ppm": "[ppm]", "ppb": "[ppb]", "ratio": "1", "none": "1", "unitless": "1", "-": "1",
    "n/a": "1", "na": "1", "strain": "m/m", "ustrain": "um/m", "microstrain": "um/m",
    "ue": "um/m", "με": "um/m", "µε": "um/m", "count": "{count}", "counts": "{count}",
    "cnt": "{count}", "pulses": "{pulses}", "raw": "{raw}", "bits": "bit", "byte": "By",
    "bytes": "By", "kb": "kBy", "kbyte": "kBy", "kbps": "kbit/s", "mbps": "Mbit/s",
    "bps": "bit/s", "baud": "Bd", "stars": "{stars}", "enum": "1", "bool": "1",
    "boolean": "1", "iso8601": "{iso8601}",
}  # fmt: skip
"""Words and signs, in lower case."""

CASED = {"C": "Cel", "F": "[degF]", "NM": "[nmi_i]", "Nm": "N.m", "G": "[g]", "Min": "min"}
"""Words that lower case would confuse with others."""

ALSO = {"rpm": "1/min"}
"""A second way to write the unit."""

UNLIKELY = {
    "ft": "femtotonne", "kt": "kilotonne", "kph": "kilophot", "mph": "milliphot",
    "PS": "petasiemens",
}  # fmt: skip
"""UCUM symbols that are hardly ever meant; the author meant feet, knots or speeds."""

MISREAD = {
    "C": "is coulomb; degrees Celsius are Cel",
    "F": "is farad; degrees Fahrenheit are [degF]",
    "G": "is gauss; the acceleration of gravity is [g]",
    "g": "is gram; the acceleration of gravity is [g]",
    "B": "is bel; a byte is By",
    "kB": "is kilobel; a kilobyte is kBy",
    "MB": "is megabel; a megabyte is MBy",
    "Gal": "is the acceleration cm/s2; a gallon is [gal_us]",
    "a": "is a year; an ampere is A",
}
"""Units that are valid, and often not what was meant."""

SIGNS = str.maketrans("²³⁴⁻⁺·\u00d7*µμ", "234-+...uu")
PART = re.compile(r"\{[^}]*\}|[^./()]+|[./()]")
EXPONENT = re.compile(r"^(.*?[^0-9+-])([+-]?[0-9]+)?$")
_COMMON = "m s g K Hz N Pa J W A V Ohm bar l rad mol Cel lx T Bd bit By"
_BY_LOWER_CASE: dict[str, set[str]] = {}
for _prefix in ("", "k", "M", "G", "h", "d", "c", "m", "u", "n"):
    for _unit in _COMMON.split():
        _BY_LOWER_CASE.setdefault((_prefix + _unit).lower(), set()).add(_prefix + _unit)


def doubt(unit: str) -> str | None:
    """Why a unit is refused, and what to write instead; None if it is right."""
    fault = ucum.fault(unit) or _unlikely(unit)
    if fault is None:
        return None
    meant = suggestion(unit)
    if meant is None:
        return f"unit {unit!r} is not UCUM: {fault}; see docs/dictionaries.md, or leave it empty"
    other = f" or {ALSO[unit.lower()]}" if unit.lower() in ALSO else ""
    return f"unit {unit!r} is not UCUM: {fault}; write {meant}{other}"


def translation(unit: str) -> str:
    """The unit in UCUM if its meaning is clear, else as it is: for files of other programs."""
    if ucum.fault(unit) or _unlikely(unit) or unit in MISREAD:
        return suggestion(unit) or unit
    return unit


def suggestion(unit: str) -> str | None:
    """What was probably meant, in UCUM; None if that is not clear."""
    unit_word = _word(unit.strip())
    if unit_word is not None:
        return unit_word
    text = unit.strip().replace("**", "").replace("^", "").replace(" per ", "/")
    text = re.sub(r"\s*([/*·\u00d7.])\s*", r"\1", text).translate(SIGNS)
    made = ""
    for part in PART.findall(re.sub(r"\s+", ".", text)):
        meant = _part(part)
        made += f"({meant})" if made.endswith("/") and len(PART.findall(meant)) > 1 else meant
    return made if made and ucum.fault(made) is None and not _unlikely(made) else None


def _unlikely(unit: str) -> str | None:
    for part in PART.findall(unit):
        if part in UNLIKELY:
            return f"{part!r} is a {UNLIKELY[part]} there"
    return None


def _part(part: str) -> str:
    found = EXPONENT.match(part)
    if found is None or part.startswith("{"):
        return part
    symbol, exponent = found[1], found[2] or ""
    if ucum.is_symbol(symbol) and symbol not in UNLIKELY:
        return part
    meant = _word(symbol) or symbol
    is_product = bool(exponent) and not ucum.is_symbol(meant)
    return part if is_product else meant + exponent


def _word(word: str) -> str | None:
    """The unit for a word; None if there is none, or several."""
    found = CASED.get(word) or WORDS.get(word) or WORDS.get(word.lower())
    if found is not None:
        return found
    spelt = _BY_LOWER_CASE.get(word.lower(), set())
    return next(iter(spelt)) if len(spelt) == 1 else None
