"""Mutants of the broker: each row of its admission table missing, and what may go wrong behind it."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

_NO_TURN = "direct/broker-version@local-shell2"
"""The control where a mutant spoils every turn."""
_GENERATION = "direct/broker-generation@local-shell2"
_LEASE = "direct/broker-lease@local-shell2"
_EXECUTION = "direct/broker-execution@local-shell2"


def _without(row: str, line: str, why: str) -> Mutant:
    """A row of the table is missing, and the direct scenario of its name must show it."""
    return Mutant(
        id=f"broker/{row}-removed",
        file="hosted/broker/admission.py",
        edits=((f"    {line},\n", ""),),
        check="answers_as_declared",
        cases=(f"direct/broker-{row}@local-shell2",),
        why=why,
        removes=f"broker:{row}",
    )


_REMOVED = (
    _without(
        "version",
        'Check("version", "the protocol version is known", check_version, IDENTIFY)',
        "a request of another protocol version is taken for one of this",
    ),
    _without(
        "identities",
        'Check("identities", "every id has the form of an id", check_identities, IDENTIFY)',
        "what is no id gets into tables, into paths, and to the worker",
    ),
    _without(
        "belonging",
        'Check("belonging", "the runtime or execution is the caller\'s own", check_belonging, OWNERS)',
        "a session uses, cancels and gives back what is another one's",
    ),
    _without(
        "ownership",
        'Check("ownership", "the caller holds the workspace", check_ownership, HOLDERS)',
        "whoever does not hold the workspace reserves and starts in it",
    ),
    _without(
        "generation",
        'Check("generation", "the caller knows the current generation", check_generation, FENCED)',
        "what an earlier owner has left acts in the generation of a later one",
    ),
    _without(
        "idempotency",
        'Check("idempotency", "one idempotency key means one request", check_idempotency, PREPARE)',
        "a call is answered with the execution of another call",
    ),
    _without(
        "publication",
        'Check("publication", "the publication is the one of the reservation", check_publication, BOUND)',
        "a capture is published under a grant that it was not reserved for, or not at all",
    ),
)

_WRITTEN = (
    Mutant(
        id="broker/stale-start",
        file="hosted/broker/admission.py",
        edits=(('frozenset({"register", "start"})', 'frozenset({"register"})'),),
        check="answers_as_declared",
        cases=(_GENERATION,),
        why="only publishers are fenced: a start of an earlier generation acts in a later one",
    ),
    Mutant(
        id="broker/generation-stands",
        file="hosted/broker/leases.py",
        edits=(("generation = place.generation + 1", "generation = max(place.generation, 1)"),),
        check="answers_as_declared",
        cases=(_GENERATION,),
        why="the fencing generation does not grow with a new owner, so it fences nothing",
    ),
    Mutant(
        id="broker/prepared-anew",
        file="hosted/broker/executions.py",
        edits=(
            ("from dataclasses import dataclass\n", "from dataclasses import dataclass, replace\n"),
            (
                "    place = place_of(connection, envelope)\n    known = ",
                "    asked = replace(asked, idempotency_key=uuid.uuid4().hex)\n"
                "    place = place_of(connection, envelope)\n    known = ",
            ),
        ),
        check="exactly_one_execution",
        cases=("direct/broker-repeated/prepare@local-shell2",),
        why="a reservation that is repeated after a lost reply is a second one",
    ),
    Mutant(
        id="broker/release-keeps-holder",
        file="hosted/broker/leases.py",
        edits=(("    give(connection, place, holder=None, expires_ms=0)\n", ""),),
        check="lease_released",
        cases=("batch/correction-once@local-shell2",),
        control=_NO_TURN,
        why="the lease is ended on paper only: the workspace stays with its holder",
    ),
    Mutant(
        id="broker/busy-ignored",
        file="hosted/broker/leases.py",
        edits=(("if place.expires_ms > now_ms() or open_executions(", "if open_executions("),),
        check="owner_kept",
        cases=("ownership/owner-kept@local-shell2",),
        why="a lease is taken from its holder between two calls of one turn",
    ),
    Mutant(
        id="broker/released-with-open-work",
        file="hosted/broker/leases.py",
        edits=(
            (
                'bindparam("runtime"), executions.c.acknowledged_ms.is_(None)',
                'bindparam("runtime"), executions.c.state == "executing"',
            ),
        ),
        check="answers_as_declared",
        cases=(_LEASE,),
        why="the workspace is given back while an outcome is not acknowledged",
    ),
    Mutant(
        id="broker/runtime-moved",
        file="hosted/broker/leases.py",
        edits=(('        raise ServiceError(409, "runtime_bound"', '        ServiceError(409, "runtime_bound"'),),
        check="answers_as_declared",
        cases=(_LEASE,),
        why="a session believes that it works in another workspace than it does",
    ),
    Mutant(
        id="broker/tenants-mixed",
        file="hosted/broker/places.py",
        edits=(
            (
                '_WORKSPACE: Final = select(workspaces).where(\n    workspaces.c.tenant_id == bindparam("tenant"), ',
                "_WORKSPACE: Final = select(workspaces).where(\n    ",
            ),
        ),
        check="answers_as_declared",
        cases=(_LEASE,),
        why="workspaces of one name are one workspace, whichever tenant's they are",
    ),
    Mutant(
        id="broker/warm-acquires",
        file="hosted/broker/leases.py",
        edits=(('    return {"warm": True}\n', '    acquire(connection, envelope, 60_000)\n    return {"warm": True}\n'),),
        check="zero_acquisition",
        cases=("ownership/fresh-refusal@local-shell2",),
        why="a lease is taken before anybody has seen that the batch must be refused",
    ),
    Mutant(
        id="broker/second-start-sent",
        file="hosted/broker/executions.py",
        edits=(
            (
                'ended without a start")\n        return execution\n',
                'ended without a start")\n        return Execution(**{**vars(execution), "first_start": True})\n',
            ),
        ),
        check="answers_as_declared",
        cases=(_EXECUTION,),
        why="the start of what is started goes on to the worker again",
    ),
    Mutant(
        id="broker/cancel-forgotten",
        file="hosted/broker/executions.py",
        edits=(('"state": "cancel_requested"}', '"state": "executing"}'),),
        check="answers_as_declared",
        cases=(_EXECUTION,),
        why="a cancel is answered and goes nowhere: the command runs on",
    ),
    Mutant(
        id="broker/cancelled-stays-prepared",
        file="hosted/broker/executions.py",
        edits=(('        settle(connection, execution_id, "not_started")\n', "        pass\n"),),
        check="answers_as_declared",
        cases=(_LEASE,),
        why="a reservation that was given up keeps the workspace for ever",
    ),
    Mutant(
        id="broker/settled-at-start",
        file="hosted/broker/api.py",
        edits=(
            (
                'executions.settle(open_, execution_id, "not_started"))\n',
                'executions.settle(open_, execution_id, "not_started"))\n'
                "        elif execution.first_start:\n"
                '            await self._database.run(lambda open_: executions.settle(open_, execution_id, "success"))\n',
            ),
        ),
        check="no_false_success",
        cases=("isolation/timeout-kills-the-tree@local-shell2",),
        why="the outcome is on record before there is one, and then it stays",
    ),
    Mutant(
        id="broker/acknowledged-unsettled",
        file="hosted/broker/executions.py",
        edits=(('        raise ServiceError(409, "not_settled"', '        ServiceError(409, "not_settled"'),),
        check="answers_as_declared",
        cases=(_EXECUTION,),
        why="work counts as done and recorded while it goes on",
    ),
    Mutant(
        id="broker/acknowledge-forgotten",
        file="hosted/broker/executions.py",
        edits=(('    connection.execute(_ACKNOWLEDGE, {"execution": execution_id, "acknowledged_ms": now_ms()})\n', ""),),
        check="lease_released",
        cases=("batch/correction-once@local-shell2",),
        control=_NO_TURN,
        why="no workspace is ever given back, since its work never counts as recorded",
    ),
    Mutant(
        id="broker/ill-formed-sent",
        file="hosted/broker/transport.py",
        edits=(("        if not _is_well_formed(payload_json):\n", "        if payload_json is None:\n"),),
        check="answers_as_declared",
        cases=(_EXECUTION,),
        why="ill-formed text reaches the worker, and what runs is up to its encoder",
    ),
    Mutant(
        id="broker/payload-normalised",
        file="hosted/broker/transport.py",
        edits=(
            ("import json\n", "import json\nimport unicodedata\n"),
            (
                '"payloadJson": payload_json,',
                '"payloadJson": unicodedata.normalize("NFC", json.dumps(json.loads(payload_json), ensure_ascii=False)),',
            ),
        ),
        check="bytes_identical",
        cases=("unicode/valid/combining@local-shell2",),
        why="decomposed letters are composed on the way: other bytes than the model's",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*_REMOVED, *_WRITTEN)
