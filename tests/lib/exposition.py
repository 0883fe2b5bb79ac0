# SPDX-License-Identifier: ISC
"""Is a text sound as metrics for Prometheus? Strict where `promtool check metrics` is not: whole families, true
histograms, no series twice, the escapes, the line ends, and OpenMetrics 1.0 as well as the text format 0.0.4.

    exposition.py [--openmetrics] [FILE]          tell each fault with its line; exit status 1 when there is one
    exposition.py [--openmetrics] --values [FILE] print each sample as "name{labels} value", labels sorted

From Python: read(text, openmetrics) gives a list of families, or raises Unsound with the faults.
"""

import decimal
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# What both formats take; no exponents of ours, no signs but the minus, no timestamps behind.
VALUE = re.compile(r"-?[0-9]+(\.[0-9]+)?|[+-]Inf|NaN")
TYPES = {
    "text": {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")},
    "openmetrics": {"counter": ("_total",), "gauge": ("",), "info": ("_info",),
                    "histogram": ("_bucket", "_sum", "_count")},
}


class Unsound(Exception):
    pass


class Family:
    def __init__(self, name):
        self.name = name
        self.type = self.help = self.unit = None
        self.series = set()
        self.samples = []  # (suffix, labels as a dict, value as a Decimal, line)


class Reader:
    def __init__(self, text, openmetrics):
        self.format = "openmetrics" if openmetrics else "text"
        self.openmetrics = openmetrics
        self.text = text
        self.faults = []
        self.families = {}
        self.current = None
        self.line = 0

    def fault(self, message, line=None):
        self.faults.append(f"line {line or self.line}: {message}")

    def read(self):
        self.check_frame()
        lines = self.text.split("\n")
        ended = False
        for self.line, line in enumerate(lines[:-1], 1):
            if ended:
                self.fault("something follows # EOF")
                break
            if self.openmetrics and line == "# EOF":
                ended = True
            elif line.startswith("#"):
                self.take_meta(line)
            elif line == "":
                self.fault("an empty line")
            else:
                self.take_sample(line)
        if self.openmetrics and not ended:
            self.fault("no # EOF at the end")
        for family in self.families.values():
            self.check_family(family)
        if self.faults:
            raise Unsound("\n".join(self.faults))
        return list(self.families.values())

    def check_frame(self):
        self.line = 1
        if self.text == "":
            self.fault("nothing at all")
        if not self.text.endswith("\n"):
            self.fault("the last line does not end with LF")
        if "\r" in self.text:
            self.fault("a CR")

    # Comments

    def take_meta(self, line):
        match = re.fullmatch(r"# (HELP|TYPE|UNIT) ([^ ]+) (.*)", line)
        if match is None or (match[1] == "UNIT" and not self.openmetrics):
            self.fault("a comment that is neither HELP nor TYPE" + (" nor UNIT" if self.openmetrics else ""))
            return
        what, name, value = match.groups()
        if not NAME.fullmatch(name):
            self.fault(f"{name!r} is no name of a family")
        family = self.enter(name)
        if family.samples:
            self.fault(f"{what} of {name} behind its samples")
        if getattr(family, what.lower()) is not None:
            self.fault(f"a second {what} of {name}")
        setattr(family, what.lower(), value)
        if what == "TYPE" and value not in TYPES[self.format]:
            self.fault(f"{value!r} is no type that is written here")
        if what == "HELP":
            self.check_help(value)
        if what == "UNIT" and not name.endswith("_" + value):
            self.fault(f"{name} does not end with its unit, {value}")

    def check_help(self, value):
        if value == "":
            self.fault("an empty HELP")
        if re.sub(r'\\[\\n"]' if self.openmetrics else r"\\[\\n]", "", value).count("\\"):
            self.fault("a bad escape in a HELP")
        if self.openmetrics and '"' in value.replace('\\"', ""):
            self.fault("a quote in a HELP without its escape")

    def enter(self, name):
        """The family of that name: the one at hand, or a new one. One that was left must not come again."""
        if self.current is not None and self.current.name == name:
            return self.current
        if name in self.families:
            self.fault(f"the family {name} is split")
        else:
            self.families[name] = Family(name)
        self.current = self.families[name]
        return self.current

    # Samples

    def take_sample(self, line):
        match = NAME.match(line)
        if match is None:
            self.fault("neither a comment nor a sample")
            return
        name, rest = match[0], line[match.end():]
        labels = {}
        if rest.startswith("{"):
            labels, rest = self.take_labels(rest[1:])
            if labels is None:
                return
        if not rest.startswith(" ") or not VALUE.fullmatch(rest[1:]):
            self.fault(f"{rest!r} is no blank and a number")
            return
        family, suffix = self.family_of(name)
        if family is None:
            return
        series = (suffix, frozenset(labels.items()))
        if series in family.series:
            self.fault(f"the series {name}{labels} comes twice")
        family.series.add(series)
        family.samples.append((suffix, labels, decimal.Decimal(rest[1:]), self.line))

    def take_labels(self, rest):
        labels = {}
        while not rest.startswith("}"):
            match = re.match(r'([^=]*)="((?:[^"\\]|\\.)*)"(,(?!\})|(?=\}))', rest)
            if match is None:
                self.fault(f"not labels: {{{rest}")
                return None, None
            name, value, rest = match[1], match[2], rest[match.end():]
            if not LABEL.fullmatch(name) or name.startswith("__"):
                self.fault(f"{name!r} is no name of a label")
            if name in labels:
                self.fault(f"the label {name} comes twice")
            if re.sub(r'\\[\\n"]', "", value).count("\\"):
                self.fault(f"a bad escape in the label {name}")
            labels[name] = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
        if not labels:
            self.fault("braces without labels")
        return labels, rest[1:]

    def family_of(self, name):
        family = self.current
        if family is None:
            self.fault(f"{name} without a TYPE before it")
            return None, None
        suffixes = TYPES[self.format].get(family.type, ("",))
        for suffix in suffixes:
            expected = family.name + suffix
            if not self.openmetrics and family.type == "counter":
                expected = family.name  # here the family's own name has the suffix
                if not family.name.endswith("_total"):
                    self.fault(f"the counter {family.name} does not end with _total")
            if name == expected:
                return family, suffix
        if any(name == other.name for other in self.families.values()) and name != family.name:
            self.fault(f"the family {name} is split")
        else:
            self.fault(f"{name} is no sample of the {family.type} {family.name}")
        return None, None

    # Families

    def check_family(self, family):
        line = family.samples[0][3] if family.samples else self.line
        for what in ("help", "type"):
            if getattr(family, what) is None:
                self.fault(f"{family.name} has no {what.upper()}", line)
        if not family.samples:
            self.fault(f"{family.name} has no sample", line)
        if family.type == "gauge" and family.name.endswith(("_total", "_count", "_sum", "_bucket")):
            self.fault(f"the gauge {family.name} is named as something else", line)
        if family.type in ("counter", "histogram", "info"):
            for _, _, value, at in family.samples:
                if value.is_nan() or value < 0:
                    self.fault(f"{family.name} is below 0, or no number", at)
        if family.type == "info" and any(sample[2] != 1 for sample in family.samples):
            self.fault(f"the info {family.name} is not 1", line)
        if family.type == "histogram":
            self.check_histogram(family)
        elif any("le" in labels for _, labels, _, _ in family.samples):
            self.fault(f"{family.name} is no histogram and has the label le", line)

    def check_histogram(self, family):
        groups = {}
        for suffix, labels, value, line in family.samples:
            key = tuple(sorted((name, text) for name, text in labels.items() if name != "le"))
            group = groups.setdefault(key, {"_bucket": [], "_sum": [], "_count": [], "line": line})
            if suffix == "_bucket" and "le" not in labels:
                self.fault(f"a bucket of {family.name} without le", line)
            elif suffix != "_bucket" and "le" in labels:
                self.fault(f"{family.name}{suffix} with le", line)
            else:
                group[suffix].append((labels.get("le"), value))
        bounds = {tuple(bound for bound, _ in group["_bucket"]) for group in groups.values()}
        if len(bounds) > 1:
            self.fault(f"the series of {family.name} have different bounds")
        for group in groups.values():
            self.check_group(family, group)

    def check_group(self, family, group):
        line = group["line"]
        if len(group["_sum"]) != 1 or len(group["_count"]) != 1:
            self.fault(f"{family.name} without _sum or _count", line)
            return
        bounds, values = [], []
        for bound, value in group["_bucket"]:
            try:
                bounds.append(decimal.Decimal(bound))
            except decimal.InvalidOperation:
                self.fault(f"{bound!r} is no bound", line)
                return
            if bound != "+Inf" and not re.fullmatch(r"[0-9]+\.[0-9]+", bound):
                self.fault(f"the bound {bound} is not written as both formats have it", line)
            values.append(value)
        if not bounds or bounds[-1] != decimal.Decimal("Infinity"):
            self.fault(f"{family.name} does not end with the bucket +Inf", line)
            return
        if any(not one < other for one, other in zip(bounds, bounds[1:])):
            self.fault(f"the bounds of {family.name} do not rise", line)
        if any(one > other for one, other in zip(values, values[1:])):
            self.fault(f"the buckets of {family.name} fall", line)
        if values[-1] != group["_count"][0][1]:
            self.fault(f"{family.name}: +Inf is not _count", line)
        if values[-1] == 0 and group["_sum"][0][1] != 0:
            self.fault(f"{family.name}: nothing was counted, and the sum is not 0", line)


def read(text, openmetrics=False):
    return Reader(text, openmetrics).read()


def sample_name(family, suffix, openmetrics):
    return family.name + (suffix if openmetrics or family.type == "histogram" else "")


def main(arguments):
    options = {argument for argument in arguments if argument.startswith("--")}
    files = [argument for argument in arguments if not argument.startswith("--")]
    if len(files) > 1 or options - {"--openmetrics", "--values"}:
        sys.exit(__doc__)
    with open(files[0], "rb") if files else sys.stdin.buffer as stream:
        data = stream.read()
    try:
        families = read(data.decode("utf-8"), "--openmetrics" in options)
    except (Unsound, UnicodeDecodeError) as fault:
        sys.exit(str(fault))
    if "--values" not in options:
        return
    for family in families:
        for suffix, labels, value, _ in family.samples:
            text = ",".join(f"{name}={labels[name]}" for name in sorted(labels))
            name = sample_name(family, suffix, "--openmetrics" in options)
            print(f"{name}{{{text}}} {value}" if text else f"{name} {value}")


if __name__ == "__main__":
    main(sys.argv[1:])
