"""Mutants of what the host tells, asks, stores and loads: results, approvals, the store link, blocked sessions, the o2 path."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

ASKING = "hosted/host/asking.py"
O2_PATH = "hosted/host/o2_path.py"
REGISTRY = "hosted/host/registry.py"
RESULTS = "hosted/host/results.py"
SESSION = "hosted/host/session.py"
SETTLEMENT = "hosted/host/settlement.py"
STORE_LINK = "hosted/host/store_link.py"
TURN = "hosted/host/turn.py"

IDLE = "approvals/denied@local-shell2"
"""The control of a mutant that changes every call that runs: here none does."""

TOLD = (
    Mutant(
        id="host/errors-reversed",
        file=RESULTS,
        edits=(("in enumerate(batch.calls)]", "in enumerate(batch.calls)][::-1]"),),
        check="ordered_paired_errors",
        cases=("batch/refusal-first@local-shell2",),
        why="a model that goes by the order takes the sibling's error for the bad call's",
    ),
    Mutant(
        id="host/siblings-untold",
        file=RESULTS,
        edits=(("in enumerate(batch.calls)]", "in enumerate(batch.calls) if place in objections]"),),
        check="ordered_paired_errors",
        cases=("batch/refusal-middle@local-shell2",),
        why="calls without results: the model's API refuses the next request, or the model believes that they ran",
    ),
    Mutant(
        id="host/siblings-unexplained",
        file=RESULTS,
        edits=(("this call was not executed, because another call", "another call"),),
        check="ordered_paired_errors",
        cases=("batch/refusal-last@local-shell2",),
        why="the model is not told that its good calls did not run",
    ),
    Mutant(
        id="host/refusal-unmarked",
        file=RESULTS,
        edits=(("objections.get(place, SIBLING), True)", "objections.get(place, SIBLING), False)"),),
        check="ordered_paired_errors",
        cases=("batch/correction-once@local-shell2",),
        why="the record of a refused call says that it went well",
    ),
    Mutant(
        id="host/refusal-unprefixed",
        file=RESULTS,
        edits=(('"Error: " + objections.get(place, SIBLING)', "objections.get(place, SIBLING)"),),
        check="ordered_paired_errors",
        cases=("batch/correction-once@o2-shell2",),
        why="the model reads an error as if it were output",
    ),
    Mutant(
        id="host/output-untold",
        file=RESULTS,
        edits=(("_shell_text(read, room, read.message) if is_shell", '"done" if is_shell'),),
        check="result_reaches_model",
        cases=("unicode/valid/ascii@local-shell2",),
        control=IDLE,
        why="the model hears that its command is done, and nothing of what it said",
    ),
    Mutant(
        id="host/file-success-as-error",
        file=RESULTS,
        edits=(('    if result == "success":\n', '    if result == "success" and is_shell:\n'),),
        check="result_reaches_model",
        cases=("batch/refusal-first@local-shell2",),
        why="the model writes again what it has written",
    ),
    Mutant(
        id="host/timeout-as-success",
        file=RESULTS,
        edits=(('    if result == "success":\n', '    if result in ("success", "error"):\n'),),
        check="no_false_success",
        cases=("isolation/timeout-kills-the-tree@local-shell2",),
        why="a command that was killed half-way counts as done",
    ),
)

_RECORD_STATE = "        await _record(turn, approval, state)\n"
_SETTLED = '        raise ServiceError(409, "approval_settled", "this approval is settled; the answer authorises nothing")\n'

APPROVALS = (
    Mutant(
        id="host/approval-of-text",
        file=ASKING,
        edits=(("managed_tool_digest(slot.given)", "managed_tool_digest(slot.call.arguments)"),),
        check="approval_binds",
        cases=("approvals/one-of-two@local-shell2",),
        why="what was allowed cannot be compared with what runs",
    ),
    Mutant(
        id="host/denial-ignored",
        file=ASKING,
        edits=(("    if state != ALLOWED:\n", '    if state not in (ALLOWED, "denied"):\n'),),
        check="approval_binds",
        cases=("approvals/one-of-two@local-shell2",),
        why="any answer counts as yes",
    ),
    Mutant(
        id="host/lapse-allows",
        file=ASKING,
        edits=(("    if state != ALLOWED:\n", '    if state not in (ALLOWED, "expired"):\n'),),
        check="no_false_success",
        cases=("approvals/expired@local-shell2",),
        why="whoever says nothing has said yes",
    ),
    Mutant(
        id="host/late-answer-taken",
        file=ASKING,
        edits=((_SETTLED, '        return {"approvalId": approval_id, "state": DECISIONS[decision]}\n'),),
        check="approval_binds",
        cases=("approvals/expired@local-shell2",),
        why="somebody believes to have allowed what did not run",
    ),
    Mutant(
        id="host/settlement-unrecorded",
        file=ASKING,
        edits=((_RECORD_STATE, ""),),
        check="approval_binds",
        cases=("approvals/one-of-two@local-shell2",),
        why="nobody can show later who allowed a command",
    ),
    Mutant(
        id="host/prepared-before-asked",
        file=TURN,
        edits=(
            (
                "await asking.ask(turn, slot)\n                await native.prepare(turn, slot)\n",
                "await native.prepare(turn, slot)\n                await asking.ask(turn, slot)\n",
            ),
        ),
        check="approval_binds",
        cases=("approvals/refused@local-shell2",),
        why="a call is reserved before anybody has allowed it, and stays so when nobody does",
    ),
    Mutant(
        id="host/denial-ends-turn",
        file=SESSION,
        edits=(
            (
                "            self.refusal = str(refused)\n",
                '            raise TurnBlockedError("refused", str(refused)) from refused\n',
            ),
        ),
        check="turns_end_as_declared",
        cases=("approvals/expired@local-shell2",),
        why="one call that nobody allowed takes the whole turn with it",
    ),
)

_APPEND_ANEW = """
    async def _append_anew(self, asked: JsonObject) -> JsonObject:
        asked["commandId"] = uuid.uuid4().hex
        try:
            return await self._caller.send("POST", f"{self._base}/records", asked)
        except RefusedError as refusal:
            if refusal.code != "sequence_conflict":
                raise
            asked["expectedSequence"] += 1
            return await self._append_anew(asked)
"""
_PUBLISH = "\n    async def publish(self, content: bytes) -> str:\n"
_BLOCKS = "            self.blocked = True\n            raise\n"
_ACCEPT = "        self.accept(Record(kind, document))\n"
_TRY = "        try:\n            await self.store.append(kind, document)\n"

STORED = (
    Mutant(
        id="host/append-under-a-new-id",
        file=STORE_LINK,
        edits=(
            ("import time\n", "import time\nimport uuid\n"),
            ('lambda: self._caller.send("POST", f"{self._base}/records", asked)', "lambda: self._append_anew(asked)"),
            (_PUBLISH, _APPEND_ANEW + _PUBLISH),
        ),
        check="no_duplicate_history",
        cases=("persistence/recovered/reply-lost/refused-result@local-shell1",),
        why="a record whose reply was lost is stored again, as another one",
    ),
    Mutant(
        id="host/failed-result-passed-over",
        file=SESSION,
        edits=(
            (
                _BLOCKS,
                '            if document.get("role") != "tool_result":\n'
                "                self.blocked = True\n"
                "                raise\n",
            ),
        ),
        check="script_followed",
        cases=("persistence/executed-result-not-written/request-lost@local-shell2",),
        why="the model goes on from a result that no record has",
    ),
    Mutant(
        id="host/told-before-stored",
        file=SESSION,
        edits=((_TRY, _ACCEPT + _TRY), (_BLOCKS + _ACCEPT, _BLOCKS)),
        check="reload_identical",
        cases=("persistence/assistant-not-written/request-lost/valid@local-shell1",),
        why="the transcript shows what is gone after a load",
    ),
    Mutant(
        id="host/error-forgotten",
        file=SETTLEMENT,
        edits=(("    stop = await _settle(turn) or stop\n", "    stop = await _settle(turn)\n"),),
        check="no_false_success",
        cases=("persistence/executed-result-not-written/request-lost@local-shell2",),
        why="a turn that broke off ends as complete",
    ),
)

BLOCKED = (
    Mutant(
        id="host/cancel-unsent",
        file="hosted/host/native.py",
        edits=(("        await give_up(turn, slot)\n        await _settled_after_cancel", "        await _settled_after_cancel"),),
        check="lease_released",
        cases=("isolation/cancel-kills-the-tree@local-shell2",),
        why="a turn that is cancelled leaves its command running, and the workspace to it",
    ),
    Mutant(
        id="host/block-forgotten",
        file=SETTLEMENT,
        edits=(("    if isinstance(stop, TurnBlockedError):\n        turn.session.blocked = True\n", ""),),
        check="recovery_blocked",
        cases=("objects/cut/stdout@o2-shell2",),
        why="a session goes on though a command has run of which nobody may say how it ended",
    ),
    Mutant(
        id="host/blocked-takes-prompts",
        file=REGISTRY,
        edits=(("        if session.blocked:\n", "        if session.blocked and not session.prompts:\n"),),
        check="recovery_blocked",
        cases=("persistence/result-not-written/request-lost/refused@local-shell2",),
        why="a session goes on from a history that it does not know",
    ),
    Mutant(
        id="host/blocked-unsaid",
        file="hosted/host/api.py",
        edits=(('"recoveryBlocked": session.blocked', '"recoveryBlocked": False'),),
        check="recovery_blocked",
        cases=("persistence/result-not-written/request-lost/refused@o2-shell2",),
        why="whoever looks at the session sees nothing wrong",
    ),
    Mutant(
        id="host/open-work-loaded",
        file=REGISTRY,
        edits=(
            (
                "            if reason := history.open_work(records):\n",
                '            if (reason := history.open_work(records)) == "":\n',
            ),
        ),
        check="recovery_blocked",
        cases=("persistence/result-not-written/request-lost/refused@local-shell2",),
        why="a load makes a history with calls and no results look whole",
    ),
)

_PROMPTS = "            session.prompts = history.prompt_ids(records)\n"
_TAKEN = "                session.accept(record)\n"

LOADED = (
    Mutant(
        id="host/refusals-dropped-by-load",
        file=REGISTRY,
        edits=((_TAKEN, '                if not any(result["isError"] for result in record.items("results")):\n    ' + _TAKEN),),
        check="reload_identical",
        cases=("reload/after-refusals@local-shell2",),
        why="after a load the model has asked for calls of which it never heard",
    ),
    Mutant(
        id="host/refusals-reworded-by-load",
        file=STORE_LINK,
        edits=(('json.loads(str(row["text"]))', 'json.loads(str(row["text"]).replace("Error: ", "Note: "))'),),
        check="reload_identical",
        cases=("reload/after-refusals@o2-shell2",),
        why="after a load the model reads of its refused calls in other words",
    ),
    Mutant(
        id="host/load-recorded",
        file=REGISTRY,
        edits=((_PROMPTS, _PROMPTS + '            await session.append("session", {"event": "loaded"})\n'),),
        check="reload_identical",
        cases=("reload/after-refusals@local-shell2",),
        why="looking at a session changes it",
    ),
)

_UNADMITTED = (
    '            raise TurnBlockedError(refusal.code, "the capture of a call that has run was not admitted") from refusal\n'
)
_UNCERTAIN = '                raise TurnBlockedError("admission_uncertain", "a capture was not admitted for certain") from error\n'
_MATCH = '        _must_match(slot.status, admission.get("manifest"))\n'

O2 = (
    Mutant(
        id="host/publisher-on-o2",
        file=O2_PATH,
        edits=(
            (
                '        """The worker publishes: the host registers nothing."""\n',
                "        await native.register_publisher(turn)\n",
            ),
        ),
        check="zero_publication",
        cases=("batch/correction-once@o2-shell2",),
        why="two may publish for one call",
    ),
    Mutant(
        id="host/cut-capture-taken",
        file=O2_PATH,
        edits=((_UNADMITTED, "            return {}\n"), (_MATCH, "")),
        check="recovery_blocked",
        cases=("objects/cut/stdout@o2-shell2",),
        why="the beginning of an output counts as all of it",
    ),
    Mutant(
        id="host/lost-capture-taken",
        file=O2_PATH,
        edits=((_UNCERTAIN, "                return {}\n"), (_MATCH, "")),
        check="recovery_blocked",
        cases=("objects/lost/reads-503@o2-shell2",),
        why="a result is told of which nothing was kept",
    ),
    Mutant(
        id="host/committed-late",
        file=TURN,
        edits=(("        await path.commit_receipts(turn)  # o2\n", ""),),
        check="admitted_order",
        cases=("unicode/valid/ascii@o2-shell2",),
        why="a capture is not for certain the session's while the model goes on from it",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*TOLD, *APPROVALS, *STORED, *BLOCKED, *LOADED, *O2)
