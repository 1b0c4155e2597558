"""All checks, one row each, and how a ledger is judged by them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.checks import (
    admitted_order,
    answers_as_declared,
    approval_binds,
    arguments_preserved,
    audited,
    bytes_identical,
    configuration_refused,
    deny_means_not_run,
    digest_unchanged,
    error_names_key,
    exact_text_in_store,
    exactly_one_execution,
    faults_fired,
    hook_once,
    hook_prefix_kept,
    lease_released,
    marker_completed_from_prefix,
    names_field_not_value,
    no_approval_created,
    no_duplicate_history,
    no_false_success,
    no_hook_saw_invalid,
    no_post_callback,
    no_silent_drop,
    not_run_with_defaults,
    operator_text_agrees,
    ordered_paired_errors,
    override_told,
    owner_kept,
    policy_denied,
    reapproved,
    recovery_blocked,
    refusal_appends_nothing_else,
    reload_identical,
    result_reaches_model,
    script_followed,
    second_session_completes,
    suggestion_offered,
    turns_end_as_declared,
    witnesses_agree,
    zero_acquisition,
    zero_execution,
    zero_publication,
    zero_side_effects,
)
from harness.checks.check import Check, CheckResult, Finding
from harness.ledger.event import Ledger
from harness.ledger.history import History
from harness.verdict import Verdict

CHECKS: tuple[Check, ...] = (
    zero_acquisition.CHECK,
    zero_publication.CHECK,
    zero_execution.CHECK,
    zero_side_effects.CHECK,
    ordered_paired_errors.CHECK,
    refusal_appends_nothing_else.CHECK,
    no_approval_created.CHECK,
    names_field_not_value.CHECK,
    arguments_preserved.CHECK,
    bytes_identical.CHECK,
    digest_unchanged.CHECK,
    admitted_order.CHECK,
    approval_binds.CHECK,
    exactly_one_execution.CHECK,
    result_reaches_model.CHECK,
    no_false_success.CHECK,
    owner_kept.CHECK,
    lease_released.CHECK,
    second_session_completes.CHECK,
    reload_identical.CHECK,
    recovery_blocked.CHECK,
    no_duplicate_history.CHECK,
    exact_text_in_store.CHECK,
    witnesses_agree.CHECK,
    no_hook_saw_invalid.CHECK,
    no_post_callback.CHECK,
    hook_prefix_kept.CHECK,
    marker_completed_from_prefix.CHECK,
    hook_once.CHECK,
    reapproved.CHECK,
    deny_means_not_run.CHECK,
    operator_text_agrees.CHECK,
    no_silent_drop.CHECK,
    override_told.CHECK,
    error_names_key.CHECK,
    suggestion_offered.CHECK,
    not_run_with_defaults.CHECK,
    policy_denied.CHECK,
    audited.CHECK,
    configuration_refused.CHECK,
    answers_as_declared.CHECK,
    faults_fired.CHECK,
    script_followed.CHECK,
    turns_end_as_declared.CHECK,
)
GUARDS = frozenset(check.id for check in CHECKS if check.guard)


def judge_one(check: Check, history: History) -> CheckResult:
    """One check on one history: a missing witness is not observed, a crash is unknown, and a doubt forbids absence."""
    absent = [witness for witness in check.needs if witness not in history.meta.witnesses]
    if absent:
        return CheckResult(check.id, Verdict.NOT_OBSERVED, f"no witness: {', '.join(absent)}")
    try:
        finding = check.judge(history)
    except Exception as error:  # its message may hold text that a model sent, so only its type is told
        finding = Finding(Verdict.UNKNOWN, f"the check crashed: {type(error).__name__}")
    if check.claims_absence and history.doubts and finding.verdict is Verdict.PASS:
        finding = Finding(Verdict.UNKNOWN, f"absence cannot be claimed: {history.doubts[0]}")
    return CheckResult(check.id, finding.verdict, finding.text)


def judge(ledger: Ledger, checks: Iterable[Check] = CHECKS) -> tuple[CheckResult, ...]:
    """Every check that applies to the ledger's case."""
    history = History(ledger)
    return tuple(judge_one(check, history) for check in checks if check.applies(history.case))
