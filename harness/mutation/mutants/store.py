"""Mutants of the store: its admission without each of its rows, and mistakes that a store could really have."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

_ADMISSION, _LEDGER = "hosted/store/admission.py", "hosted/store/ledger.py"
_GRANTS, _PUBLICATIONS, _VERIFICATION = "hosted/store/grants.py", "hosted/store/publications.py", "hosted/store/verification.py"

_PARSED_COLUMN = """
import json

from sqlalchemy import JSON, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB


class Parsed(TypeDecorator):
    impl = JSON().with_variant(JSONB(), "postgresql")
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return None if value is None else json.loads(value)

    def process_result_value(self, value, dialect):
        return None if value is None else json.dumps(value).encode()
"""


def _removed(row: str, entry: str, case: str, why: str) -> Mutant:
    """The store without that row, which stands in the table as `entry`; the direct requests of `case` reach it."""
    return Mutant(
        id=f"store/{row}-removed",
        file=_ADMISSION,
        edits=((f'    Check("{row}", {entry}),\n', ""),),
        check="answers_as_declared",
        cases=(f"direct/store-{case}@local-shell2",),
        why=why,
        removes=f"store:{row}",
    )


_REMOVALS = (
    _removed(
        "identities",
        '"every id has the form of an id", check_identities, IDENTIFY',
        "record/command-id",
        "what is no id reaches statements, columns that cut it short, and the paths of objects",
    ),
    _removed(
        "kind",
        '"the record is of a known kind", check_kind, APPEND',
        "record/kind",
        "a record that no reader knows is on record for good",
    ),
    _removed(
        "writer",
        '"the caller holds the writer lease in its current generation", check_writer, WRITER',
        "record/old-generation",
        "two hosts write one session's history into each other",
    ),
    _removed(
        "sequence",
        '"the record is the next one", check_sequence, APPEND',
        "record/behind",
        "a writer that has missed a record goes on as if it had not",
    ),
    _removed(
        "text-size",
        '"the text is within its bound", check_text_size, APPEND',
        "text",
        "one record fills the page and the memory of whoever loads the session",
    ),
    _removed(
        "object-store",
        '"a capture could be read back and admitted", check_object_store, RESERVE',
        "no-objects",
        "a command runs whose capture nobody can ever admit, and its session is blocked",
    ),
    _removed(
        "in-time",
        '"the grant has not expired on the store\'s clock", check_time, IN_TIME',
        "grant-expired",
        "a worker that was given up for lost publishes hours later",
    ),
    _removed(
        "token",
        '"the worker presents the token of the grant", check_token, WORKER',
        "grant",
        "whoever has any token publishes for every execution",
    ),
    _removed(
        "fencing",
        '"the writer generation is still that of the grant", check_fencing, FENCED',
        "grant-ended",
        "a worker publishes for a host that has lost the session",
    ),
    _removed(
        "content",
        '"one publication id means one execution and one content", check_content, ONE_CONTENT',
        "grant",
        "the capture of one execution is taken for that of another",
    ),
    _removed(
        "open",
        '"the grant is open", check_open, OPEN_GRANT',
        "grant-ended",
        "a late worker publishes what was declared never started",
    ),
    _removed(
        "finished",
        '"the worker has finished the publication", check_finished, FINISHED_GRANT',
        "admission",
        "a capture that is still being written is called a wrong one, and its session is blocked",
    ),
    _removed(
        "objects",
        '"every object is there, with the size and digest of the manifest", check_objects, ADMIT',
        "admission",
        "a capture counts of which not one byte was ever written",
    ),
    _removed(
        "complete",
        '"no stream of the capture was cut", check_complete, ADMIT',
        "capture/cut/stdout",
        "the beginning of an output is taken for the whole of it",
    ),
    _removed(
        "admitted",
        '"the publication was admitted before its receipt", check_admitted, COMMIT',
        "admission",
        "a receipt vouches for a capture that nobody has read",
    ),
)

_RECORDS = (
    Mutant(
        id="store/record-parsed",
        file="hosted/store/tables.py",
        edits=(
            ("TABLES: Final = MetaData()\n", _PARSED_COLUMN + "\n\nTABLES: Final = MetaData()\n"),
            ('Column("text", Blob, nullable=False)', 'Column("text", Parsed(), nullable=False)'),
        ),
        check="exact_text_in_store",
        cases=("reload/after-refusals@local-shell2",),
        control="direct/broker-version@local-shell2",
        why="a column type that parses JSON gives back an equal value, and other characters",
        stuck_after_s=2.0,
        stores=("postgres", "mariadb"),
    ),
    Mutant(
        id="store/generation-not-compared",
        file=_ADMISSION,
        edits=(("request.writer != request.holder", "request.writer[:2] != request.holder[:2]"),),
        check="answers_as_declared",
        cases=("direct/store-record/old-generation@local-shell2",),
        why="a host that was restarted is fenced off from its older self by the generation alone",
    ),
    Mutant(
        id="store/released-writer-writes",
        file=_ADMISSION,
        edits=(("request.released or request.writer", "request.writer"),),
        check="answers_as_declared",
        cases=("direct/store-writer@local-shell2",),
        why="a host that has left a session still changes it",
    ),
    Mutant(
        id="store/gap-accepted",
        file=_ADMISSION,
        edits=(("request.expected_sequence != request.next_sequence", "request.expected_sequence < request.next_sequence"),),
        check="answers_as_declared",
        cases=("direct/store-record/ahead@local-shell2",),
        why="a writer believes in a record that the store does not have",
    ),
    Mutant(
        id="store/command-stored-twice",
        file=_LEDGER,
        edits=(
            ("    first = _first_outcome(connection, asked)\n", "    first = None\n"),
            ("expected_sequence=asked.expected_sequence", "expected_sequence=next_sequence(connection, session_id)"),
            ('"command_id": asked.command_id', '"command_id": f"{asked.command_id}.{request.next_sequence}"'),
        ),
        check="no_duplicate_history",
        cases=("persistence/recovered/reply-lost/executed-assistant@local-shell1",),
        why="a host that did not hear the reply asks again, and its message is in the history twice",
    ),
    Mutant(
        id="store/repetition-not-compared",
        file=_LEDGER,
        edits=(
            (
                "(row.tenant_id, row.kind, bytes(row.text)) != (asked.writer.tenant_id, asked.kind, asked.content)",
                "(row.tenant_id, row.kind) != (asked.writer.tenant_id, asked.kind)",
            ),
        ),
        check="answers_as_declared",
        cases=("direct/store-text@local-shell2",),
        why="another record under a known command id is said to be stored, and is not",
    ),
    Mutant(
        id="store/surrogate-replaced",
        file=_LEDGER,
        edits=(('self.text.encode("utf-8", "surrogatepass")', 'self.text.encode("utf-8", "replace")'),),
        check="answers_as_declared",
        cases=("direct/store-text@local-shell2",),
        why="the store repairs what it is to keep: the evidence of a lone surrogate is gone",
    ),
    Mutant(
        id="store/text-unescaped",
        file=_LEDGER,
        edits=(
            ("import binascii\n", "import binascii\nimport json\n"),
            ("return self.text.encode(", "return json.dumps(json.loads(self.text), ensure_ascii=False).encode("),
        ),
        check="exact_text_in_store",
        cases=("unicode/valid/emoji@local-shell2",),
        control="direct/store-record/kind@local-shell2",
        why="a store that writes JSON anew keeps the value, and neither the spaces nor the escapes",
    ),
    Mutant(
        id="store/records-out-of-order",
        file=_LEDGER,
        edits=((".order_by(records.c.sequence)", ".order_by(records.c.command_id)"),),
        check="reload_identical",
        cases=("reload/after-refusals@local-shell2",),
        why="ids that end in a number are in order up to the ninth: a longer session comes back shuffled",
    ),
    Mutant(
        id="store/resource-unverified",
        file=_LEDGER,
        edits=(("not DIGEST.fullmatch(digest) or bytes_digest(content) != digest", "not DIGEST.fullmatch(digest)"),),
        check="answers_as_declared",
        cases=("direct/store-resource@local-shell2",),
        why="a receipt names a digest, and under it lie other bytes",
    ),
    Mutant(
        id="store/resource-of-any-tenant",
        file=_LEDGER,
        edits=(('    resources.c.tenant_id == bindparam("tenant"),\n', ""),),
        check="answers_as_declared",
        cases=("direct/store-resource@local-shell2",),
        why="one tenant reads what another one's command has printed",
    ),
)

_PUBLICATION = (
    Mutant(
        id="store/token-not-compared",
        file=_ADMISSION,
        edits=((" or not hmac.compare_digest(request.token_digest, request.grant_token_digest)", ""),),
        check="answers_as_declared",
        cases=("direct/store-grant@local-shell2",),
        why="the token of any grant is good for all of them",
    ),
    Mutant(
        id="store/second-token-taken",
        file=_GRANTS,
        edits=(
            ("capture_bytes, request.token_digest, request.writer[2])", "capture_bytes, request.writer[2])"),
            ("grant.capture_bytes, grant.token_digest, grant.generation)", "grant.capture_bytes, grant.generation)"),
        ),
        check="answers_as_declared",
        cases=("direct/store-grant@local-shell2",),
        why="a repetition with a new token is told that all is well, and that token opens nothing",
    ),
    Mutant(
        id="store/stderr-cut-admitted",
        file=_VERIFICATION,
        edits=(("for stream in streams if not stream.complete", "for stream in streams[:1] if not stream.complete"),),
        check="recovery_blocked",
        cases=("objects/cut/stderr@o2-shell2",),
        why="the model is told a part of the errors, and that it is all of them",
    ),
    Mutant(
        id="store/bytes-unverified",
        file=_VERIFICATION,
        edits=(
            (
                "bytes_digest(await objects.get(place.key(stream.name), stream.size + 1)) == stream.digest",
                "len(await objects.get(place.key(stream.name), stream.size + 1)) == stream.size",
            ),
        ),
        check="answers_as_declared",
        cases=("direct/store-altered@local-shell2",),
        why="an object of the right size is taken for the right one",
    ),
    Mutant(
        id="store/granted-bytes-ignored",
        file=_VERIFICATION,
        edits=(("read_manifest(content, claim.capture_bytes)", "read_manifest(content, shared.CAPTURE_BYTES)"),),
        check="answers_as_declared",
        cases=("direct/store-capture/larger-than-granted/stdout@local-shell2",),
        why="a worker publishes more than the session allows",
    ),
    Mutant(
        id="store/receipt-not-kept",
        file=_PUBLICATIONS,
        edits=(("    connection.execute(_ADD_RECEIPT, row)\n", ""),),
        check="witnesses_agree",
        cases=("batch/correction-once@o2-shell2",),
        why="the store says that it has the receipt, and nobody will ever find it",
    ),
)

MUTANTS: tuple[Mutant, ...] = (*_REMOVALS, *_RECORDS, *_PUBLICATION)
