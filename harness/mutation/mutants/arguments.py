"""Mutants of the host's argument seam: the old behaviour comes back, in which what could not be honoured was dropped in silence."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

ADMISSION = "hosted/host/admission.py"
BINDING = "hosted/host/seam/binding.py"
KEYS = "hosted/host/seam/keys.py"
SCHEMA = "hosted/host/seam/schema.py"
PROFILES = "hosted/host/profiles.py"
WEB = "hosted/worker/web.py"
ASKING = "hosted/host/asking.py"
POLICY = "hosted/host/policy.py"
REQUESTS = "hosted/host/requests.py"
RESULTS = "hosted/host/results.py"
NATIVE = "hosted/host/native.py"

_NAMELESS = """        if not call.name:
            return 'field "name" is missing: the call does not say which tool it is for'
"""
_UNKNOWN = "            raise ArgumentError(_unknown(key, known))\n"
_MEANT = "return key if key in names else next((name for name in names if normal(name) == normal(key)), None)"
_TWICE = "        if name in named:\n"
_BOTH = "        if meta in named and real in named:\n"
_UNREADABLE = """        raise ArgumentError(f'field "{name}" must be {expected}')\n"""
_DEFAULT = (
    'return {"timeout": 90_000, "_timeout_seconds": 90, "is_background": False, "_background": False}.get(name, value), notices'
)
_TOLD = "        if applied != value:\n            notices.append(_clamped(name, value, applied))\n"

KEYS_DROPPED = (
    Mutant(
        id="host/unknown-key-dropped",
        file=BINDING,
        edits=((_UNKNOWN, "            continue\n"),),
        check="not_run_with_defaults",
        cases=("arguments/unknown-key/foreign@local-shell1",),
        why="a misspelt key is dropped without a word, and the call runs as if it had never been said",
    ),
    Mutant(
        id="host/meta-near-miss-dropped",
        file=BINDING,
        edits=(
            ("        name = meant(key, known)\n", "        name = key if key in known else None\n"),
            (_UNKNOWN, "            continue\n"),
        ),
        check="no_silent_drop",
        cases=("arguments/alias/timeout-seconds-text@local-shell1",),
        why="a timeout under nearly its name is dropped, the default holds, and the model goes on in a false belief",
    ),
    Mutant(
        id="host/nothing-suggested",
        file=BINDING,
        edits=(("    near = nearest(key, known)\n", '    near = ""\n'), ("nearest, shown_key", "shown_key")),
        check="suggestion_offered",
        cases=("arguments/near-miss/comand@local-shell1",),
        why="the model is told what is wrong and not what is nearly right, and tries again with another guess",
    ),
    Mutant(
        id="host/key-uncut",
        file=KEYS,
        edits=((" if len(escaped) <= limits.SHOWN_KEY_CHARS else ", ' if escaped else "" if not escaped else '),),
        check="error_names_key",
        cases=("arguments/unknown-key/long@local-shell1",),
        why="a key as long as a page fills the model's context with itself",
    ),
    Mutant(
        id="host/alias-untold",
        file=BINDING,
        edits=(("        if name != key:\n", "        if name != key and not name:\n"),),
        check="override_told",
        cases=("arguments/alias/command@local-shell1",),
        why="the model's spelling works by luck, and it never learns the right one",
    ),
    Mutant(
        id="host/last-spelling-wins",
        file=BINDING,
        edits=((_TWICE, "        if name in named and name not in known:\n"),),
        check="not_run_with_defaults",
        cases=("arguments/said-twice/two-spellings@local-shell1",),
        why="of two commands under two spellings one runs, and nobody has said which",
    ),
    Mutant(
        id="host/meta-outranks-own",
        file=BINDING,
        edits=((_BOTH, "        if meta in named and real in named and not known:\n"),),
        check="not_run_with_defaults",
        cases=("arguments/said-twice/meta-and-own@local-shell1",),
        why="of two timeouts one holds, and nobody has said which",
    ),
    Mutant(
        id="host/digest-of-the-bound-input",
        file=NATIVE,
        edits=(('"argsDigest": managed_tool_digest(slot.given),', '"argsDigest": managed_tool_digest(slot.bound.input),'),),
        check="digest_unchanged",
        cases=("arguments/alias/command@local-shell1",),
        why="an approval that was given to the model's own words no longer fits what is reserved",
    ),
    Mutant(
        id="host/nameless-an-unknown-tool",
        file=ADMISSION,
        edits=((_NAMELESS, ""),),
        check="error_names_key",
        cases=("arguments/nameless@local-shell1",),
        why="a call that came without its name is told to be for a tool that does not exist, and the model looks for another tool",
    ),
)

VALUES_COERCED = (
    Mutant(
        id="host/unreadable-value-default",
        file=BINDING,
        edits=((_UNREADABLE, f"        {_DEFAULT}\n"),),
        check="not_run_with_defaults",
        cases=("arguments/unreadable/timeout-text@local-shell1", "arguments/unreadable/background-yes@local-shell1"),
        why="a value that cannot be read counts as none, and the default is run",
    ),
    Mutant(
        id="host/unreadable-meta-default",
        file=BINDING,
        edits=((_UNREADABLE, f"        if name in META:\n            {_DEFAULT}\n{_UNREADABLE}"),),
        check="not_run_with_defaults",
        cases=("arguments/unreadable/meta-timeout-unit@local-shell1",),
        why="a timeout with its unit is no timeout at all, and nobody says so",
    ),
    Mutant(
        id="host/whole-fraction-an-integer",
        file=SCHEMA,
        edits=(
            (
                "    return isinstance(value, int) and not isinstance(value, bool)\n",
                "    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1\n",
            ),
        ),
        check="not_run_with_defaults",
        cases=("arguments/unreadable/timeout-whole-fraction@local-shell1",),
        why="what a validator calls an integer is none to the next reader, which takes a default or falls over",
    ),
    Mutant(
        id="host/half-pair-in-a-file",
        file=BINDING,
        edits=(("tool != SHELL and has_unpaired", "tool != tool and has_unpaired"),),
        check="not_run_with_defaults",
        cases=("arguments/unreadable/content-half@local-shell1",),
        why="text that cannot be written goes all the way to the worker and fails there, after the start",
    ),
    Mutant(
        id="host/clamp-untold",
        file=BINDING,
        edits=((_TOLD, ""),),
        check="override_told",
        cases=("arguments/meta-timeout/above@local-shell1",),
        why="a timeout of twenty minutes becomes one of ten, and the model plans with twenty",
    ),
    Mutant(
        id="host/notices-lost",
        file=RESULTS,
        edits=(("(*_notices(slot), *slot.contexts)", "slot.contexts"),),
        check="no_silent_drop",
        cases=("arguments/meta-timeout/zero@local-shell1",),
        why="what was changed is known to the host and stays there",
    ),
)

_BROKEN = """            return f'field "arguments" {error}'\n"""
_FILTERED = 'if wanted == "all" or one.get("enabled") is (wanted == "enabled")]'
_CUT = ' if more else ""\n'

TOOLS = (
    Mutant(
        id="host/broken-arguments-empty",
        file=ADMISSION,
        edits=((_BROKEN, "            return None if error else None\n"),),
        check="not_run_with_defaults",
        cases=("arguments/empty-call/truncated@local-web1",),
        why="arguments that were cut off on their way count as none, and a tool that needs none runs",
    ),
    Mutant(
        id="worker/filter-ignored",
        file=WEB,
        edits=((_FILTERED, "]"),),
        check="result_reaches_model",
        cases=("arguments/webhooks/disabled@local-web1",),
        why="a filter that the schema offers is never read, and the list looks filtered",
    ),
    Mutant(
        id="host/any-format",
        file=PROFILES,
        edits=(('"enum": ["text", "raw"], ', ""),),
        check="not_run_with_defaults",
        cases=("arguments/web-values/format-markdown@local-web1",),
        why="a format that the tool does not have gives another one, as if that had been asked for",
    ),
    Mutant(
        id="worker/cut-untold",
        file=WEB,
        edits=((_CUT, ' if more and not kept else ""\n'),),
        check="result_reaches_model",
        cases=("arguments/web-fetch/cut@local-web1",),
        why="half a page looks like the whole one",
    ),
    Mutant(
        id="host/lines-below-one",
        file=PROFILES,
        edits=(('"start_line": {"type": "integer", "minimum": 1, ', '"start_line": {"type": "integer", '),),
        check="not_run_with_defaults",
        cases=("arguments/web-values/start-zero@local-web1",),
        why="a line number that no file has counts as none, or fails only where the tool runs",
    ),
)

_LISTED = "(rules.allowed is not None and tool not in rules.allowed)"
_UNRESOLVED = '        if _EXPANDED.search(piece):\n            return "cannot be resolved"\n'
_RECORDED = '        await _record(turn, _approval(turn, slot, digest), "granted", rule=RULE)\n'

GOVERNED = (
    Mutant(
        id="host/allowlist-not-the-whole-truth",
        file=POLICY,
        edits=((_LISTED, '(rules.allowed is not None and tool not in rules.allowed and tool != "list_webhooks")'),),
        check="policy_denied",
        cases=("arguments/policy-allowlist/webhooks@local-web1",),
        why="an allowlist governs the tools that its author thought of, and every other one runs",
    ),
    Mutant(
        id="host/unresolved-path-allowed",
        file=POLICY,
        edits=((_UNRESOLVED, "        if _EXPANDED.search(piece):\n            continue\n"),),
        check="policy_denied",
        cases=("arguments/policy-paths/variable@local-shell1",),
        why="a path that cannot be resolved counts as none, and the command reads what it likes",
    ),
    Mutant(
        id="host/matcher-with-a-slash",
        file=REQUESTS,
        edits=(('        if "/" in key or key not in TOOLS:\n', '        if "/" not in key and key not in TOOLS:\n'),),
        check="configuration_refused",
        cases=("arguments/policy-matcher/slash@local-shell1",),
        why="a rule under somebody else's key matches nothing, and its author believes that it holds",
    ),
    Mutant(
        id="host/grant-unrecorded",
        file=ASKING,
        edits=((_RECORDED, ""),),
        check="audited",
        cases=("arguments/policy-grant/plain@local-shell1",),
        why="nobody can tell afterwards which commands ran without a question, and by which rule",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*KEYS_DROPPED, *VALUES_COERCED, *TOOLS, *GOVERNED)
