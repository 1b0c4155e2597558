"""Mutants of the host's admission: each check taken away, and the ways to weaken it."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

ADMISSION = "hosted/host/admission.py"
ARGUMENTS = "hosted/host/arguments.py"
ASSEMBLY = "hosted/host/assembly.py"
SHELL_TEXT = "hosted/host/shell_text.py"

_SIZE_ROW = '    Check("inline-size", "the arguments are within their bound", check_inline_size),\n'
_KEYS_ROW = '    Check("keys-and-types", "every key is known and every value of its type", check_keys_and_types),\n'
_JSON_ROW = '    Check("argument-json", "the arguments are one JSON object with distinct keys", check_argument_json),\n'
_TWICE_ROW = '    Check("duplicate-id", "no two calls share an id", check_duplicate_id),\n'
_UNICODE_ROW = '    Check("unicode", "Shell text is well-formed", check_unicode),\n'

REMOVED = (
    Mutant(
        id="host/profile-removed",
        file=ADMISSION,
        edits=(('    Check("profile", "the session\'s profile offers the tool", check_profile),\n', ""),),
        check="names_field_not_value",
        cases=("limits/profile@local-shell1",),
        why="a session is refused a tool that it was never offered for another reason, or not at all",
        removes="host:profile",
    ),
    Mutant(
        id="host/unsupported-tool-removed",
        file=ADMISSION,
        edits=(('    Check("unsupported-tool", "the tool exists", check_tool),\n', ""),),
        check="names_field_not_value",
        cases=("limits/refusals/unsupported-tool@local-shell1",),
        why="the model is told that a key is unknown, and never that the tool is",
        removes="host:unsupported-tool",
    ),
    Mutant(
        id="host/duplicate-id-removed",
        file=ADMISSION,
        edits=((_TWICE_ROW, ""),),
        check="zero_execution",
        cases=("limits/duplicate-id/same@local-shell2",),
        why="two calls of one id run, and nobody can say whose result is whose",
        removes="host:duplicate-id",
    ),
    Mutant(
        id="host/argument-json-removed",
        file=ADMISSION,
        edits=((_JSON_ROW, ""),),
        check="names_field_not_value",
        cases=("limits/refusals/truncated-json@local-shell1",),
        why="arguments that cannot be read count as empty ones, and the model is told that a key is missing",
        removes="host:argument-json",
    ),
    Mutant(
        id="host/inline-size-removed",
        file=ADMISSION,
        edits=((_SIZE_ROW, ""),),
        check="names_field_not_value",
        cases=("limits/inline-size@local-shell2",),
        why="arguments without a bound get as far as the keys, and without a wrong key as far as the worker",
        removes="host:inline-size",
    ),
    Mutant(
        id="host/keys-and-types-removed",
        file=ADMISSION,
        edits=((_KEYS_ROW, ""),),
        check="ordered_paired_errors",
        cases=("limits/refusals/background@local-shell1",),
        why="what cannot be honoured is noticed where the call is built: the turn breaks off, and the model is told of nothing",
        removes="host:keys-and-types",
    ),
    Mutant(
        id="host/unicode-removed",
        file=ADMISSION,
        edits=((_UNICODE_ROW, ""),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-high/end/command@local-shell2",),
        why="the admission check that this project exists for is not there",
        removes="host:unicode",
        once="acquire",
        stuck_after_s=0.2,
    ),
)

ORDER = (
    Mutant(
        id="host/unicode-before-keys",
        file=ADMISSION,
        edits=((_KEYS_ROW + _UNICODE_ROW, _UNICODE_ROW + _KEYS_ROW),),
        check="names_field_not_value",
        cases=("limits/refusals/description-not-a-string@local-shell1",),
        why="a refusal that was there before is told as another one",
    ),
    Mutant(
        id="host/keys-before-size",
        file=ADMISSION,
        edits=((_SIZE_ROW + _KEYS_ROW, _KEYS_ROW + _SIZE_ROW),),
        check="names_field_not_value",
        cases=("limits/inline-size@local-shell2",),
        why="arguments are looked through before their bound is",
    ),
    Mutant(
        id="host/duplicates-last",
        file=ADMISSION,
        edits=((_TWICE_ROW, ""), (_UNICODE_ROW, _UNICODE_ROW + _TWICE_ROW)),
        check="names_field_not_value",
        cases=("limits/duplicate-id/other@local-shell2",),
        why="the text of a call is judged before it is clear which call that is",
    ),
)

_PATTERN = r'"[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"'


def _pattern(name: str, pattern: str, check: str, case: str, why: str) -> Mutant:
    """Another pattern in the place of the one that finds unpaired surrogates."""
    edits = ((_PATTERN, f'"{pattern}"'),)
    return Mutant(
        id=f"host/{name}",
        file=SHELL_TEXT,
        edits=edits,
        check=check,
        cases=(case,),
        why=why,
        once="acquire",
        stuck_after_s=0.2,
    )


_PATTERNS = (
    Mutant(
        id="host/emoji-refused",
        file=SHELL_TEXT,
        edits=((_PATTERN, r'"[\ud800-\udfff]|[\U00010000-\U0010ffff]"'),),
        check="exactly_one_execution",
        cases=("unicode/valid/emoji@local-shell2", "unicode/valid/escaped-pair@local-shell2"),
        why="whole pairs count as halves: every command with an emoji is refused",
    ),
    _pattern(
        "high-unchecked",
        r"(?<![\ud800-\udbff])[\udc00-\udfff]",
        "zero_acquisition",
        "unicode/negative/unpaired-high/end/command@local-shell2",
        "only the second halves are looked for",
    ),
    _pattern(
        "low-unchecked",
        r"[\ud800-\udbff](?![\udc00-\udfff])",
        "zero_acquisition",
        "unicode/negative/unpaired-low/end/command@local-shell2",
        "only the first halves are looked for",
    ),
    _pattern(
        "end-unchecked",
        r"[\ud800-\udbff](?=[^\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]",
        "zero_acquisition",
        "unicode/negative/unpaired-high/end/command@local-shell2",
        "a half is seen only when something follows it",
    ),
    _pattern(
        "start-unchecked",
        r"[\ud800-\udbff](?![\udc00-\udfff])|(?<=[^\ud800-\udbff])[\udc00-\udfff]",
        "zero_acquisition",
        "unicode/negative-positions/unpaired-low/start/description@local-shell1",
        "a half is seen only when something precedes it",
    ),
    _pattern(
        "reversed-pair-accepted",
        r"(?<![\udc00-\udfff])[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff](?![\ud800-\udbff])",
        "zero_acquisition",
        "unicode/negative/reversed-pair/end/command@local-shell2",
        "a second half before a first one counts as a pair",
    ),
    _pattern(
        "any-two-accepted",
        r"(?<![\ud800-\udfff])[\ud800-\udfff](?![\ud800-\udfff])",
        "zero_acquisition",
        "unicode/negative/high-high/end/command@local-shell2",
        "any two halves count as a pair",
    ),
)

_GIVEN = "if call.name == SHELL else None"
_SAID = "; send well-formed text' if name else None\n\n    return batch.objections(judge)\n"
_ONE_PLACE = (
    "; send well-formed text' if name else None\n\n    found = batch.objections(judge)\n"
    "    return {{place: found[place] for place in found if place == {place}}}\n"
)

_WHERE = (
    Mutant(
        id="host/emoji-excuses",
        file=SHELL_TEXT,
        edits=(("UNPAIRED.search(text) is not None", "UNPAIRED.search(text) is not None and max(text) < '\\U00010000'"),),
        check="zero_acquisition",
        cases=("unicode/negative/pair-then-unpaired/end/command@local-shell2",),
        why="text with one whole pair counts as well-formed",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/description-unchecked",
        file=SHELL_TEXT,
        edits=(('("command", "description")', '("command",)'),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-high/end/description@local-shell2",),
        why="only the command is looked at; the description travels the same way",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/command-unchecked",
        file=SHELL_TEXT,
        edits=(('("command", "description")', '("description",)'),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-high/end/command@o2-shell2",),
        why="only the description is looked at",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/first-call-only",
        file=ADMISSION,
        edits=((_SAID, _ONE_PLACE.format(place="0")),),
        check="zero_side_effects",
        cases=("batch/refusal-last@local-shell2",),
        why="only the first call of a batch is looked at: the calls before the bad one run",
    ),
    Mutant(
        id="host/last-call-only",
        file=ADMISSION,
        edits=((_SAID, _ONE_PLACE.format(place="len(batch.calls) - 1")),),
        check="zero_acquisition",
        cases=("batch/refusal-first@local-shell2",),
        why="only the last call of a batch is looked at",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/second-profile-unchecked",
        file=ADMISSION,
        edits=((_GIVEN, 'if call.name == SHELL and batch.profile.endswith("/1") else None'),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-low/end/command@o2-shell2",),
        why="the second profile came later, and the check was not told of it",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/first-profile-unchecked",
        file=ADMISSION,
        edits=((_GIVEN, 'if call.name == SHELL and batch.profile.endswith("/2") else None'),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-low/end/command@local-shell1",),
        why="the first profile counts as settled, and is not looked at any more",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/without-flag-unchecked",
        file=ADMISSION,
        edits=((_GIVEN, 'if call.name == SHELL and "is_background" in given else None'),),
        check="zero_acquisition",
        cases=("unicode/negative/high-then-ascii/end/command@local-shell2",),
        why="the check hangs on a flag that a call may leave out",
        once="acquire",
        stuck_after_s=0.2,
    ),
    Mutant(
        id="host/with-flag-unchecked",
        file=ADMISSION,
        edits=((_GIVEN, 'if call.name == SHELL and "is_background" not in given else None'),),
        check="zero_acquisition",
        cases=("limits/foreground/command@local-shell2",),
        why="a call that says it is no background command is waved through",
        once="acquire",
        stuck_after_s=0.2,
    ),
)

_READ = "json.loads(dump_json(json.loads(text)))"
_RAW = "json.dumps(json.loads(text), ensure_ascii=False)"
_READ_RAW = f'json.loads({_RAW}.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "{{errors}}"))'
_OBJECT = "value if isinstance(value, dict) else {}\n"
_JOINED = "        self.arguments.append(arguments)\n"

_TEXT = (
    Mutant(
        id="host/halves-replaced",
        file=ARGUMENTS,
        edits=((_READ, _READ_RAW.format(errors="replace")),),
        check="zero_execution",
        cases=("unicode/negative/unpaired-high/end/command@local-shell2",),
        why="a half becomes U+FFFD, and a command runs that the model did not ask for",
    ),
    Mutant(
        id="host/halves-dropped",
        file=ARGUMENTS,
        edits=((_READ, _READ_RAW.format(errors="ignore")),),
        check="zero_execution",
        cases=("unicode/negative/unpaired-low/end/command@o2-shell2",),
        why="a half is left out, and a command runs that the model did not ask for",
    ),
    Mutant(
        id="host/text-composed",
        file=ARGUMENTS,
        edits=(
            ("import json\n", "import json\nimport unicodedata\n"),
            (_READ, f'json.loads(unicodedata.normalize("NFC", {_RAW}))'),
        ),
        check="bytes_identical",
        cases=("unicode/valid/combining@local-shell2",),
        why="text is normalised before it is judged: another file name is written than was asked for",
    ),
    Mutant(
        id="host/text-trimmed",
        file=ARGUMENTS,
        edits=((_OBJECT, "{key: held.strip() if isinstance(held, str) else held for key, held in value.items()}" + _OBJECT[5:]),),
        check="bytes_identical",
        cases=("limits/outer-space@local-shell2",),
        why="text is trimmed before it is judged: quoted line ends at its edge are part of a command",
    ),
    Mutant(
        id="host/deltas-encoded-alone",
        file=ASSEMBLY,
        edits=((_JOINED, '        self.arguments.append(arguments.encode("utf-8", "replace").decode("utf-8"))\n'),),
        check="arguments_preserved",
        cases=("unicode/split-pair@local-shell2",),
        why="each delta is encoded before they are joined: a pair that was split between two is lost",
    ),
    Mutant(
        id="host/deltas-cleaned-alone",
        file=ASSEMBLY,
        edits=((_JOINED, '        self.arguments.append(arguments.encode("utf-8", "ignore").decode("utf-8"))\n'),),
        check="zero_execution",
        cases=("unicode/half-at-an-edge/high-at-the-end@local-shell2",),
        why="a half at the edge of a delta is left out before anything is judged",
    ),
    Mutant(
        id="host/deltas-judged-alone",
        file=ASSEMBLY,
        edits=(
            ("from fixtures.hosted.host import limits\n", "from fixtures.hosted.host import limits, shell_text\n"),
            (
                _JOINED,
                "        if shell_text.has_unpaired_surrogate(arguments):\n"
                '            raise ModelProtocolError("a delta is not well-formed")\n' + _JOINED,
            ),
        ),
        check="turns_end_as_declared",
        cases=("unicode/split-pair@o2-shell2",),
        why="each delta is judged before they are joined: a pair that was split between two ends the turn",
    ),
)

_ERRORS = (
    Mutant(
        id="host/value-echoed",
        file=ADMISSION,
        edits=(("; send well-formed text'", ": {given[name]!a}'"),),
        check="names_field_not_value",
        cases=("unicode/negative/unpaired-high/end/command@local-shell2",),
        why="the error gives the refused text back, to the model and into the store",
    ),
    Mutant(
        id="host/field-unnamed",
        file=ADMISSION,
        edits=(('field "{name}" holds half', "the text holds half"),),
        check="names_field_not_value",
        cases=("unicode/negative/unpaired-high/end/description@local-shell2",),
        why="the model is not told which field to correct",
    ),
    Mutant(
        id="host/wrong-type-echoed",
        file="hosted/host/seam/binding.py",
        edits=(("must be {expected}", "must be {expected}, not {value!a}"),),
        check="names_field_not_value",
        cases=("limits/refusals/command-not-a-string@local-shell1",),
        why="the error about a value's type shows the value",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*REMOVED, *ORDER, *_PATTERNS, *_WHERE, *_TEXT, *_ERRORS)
