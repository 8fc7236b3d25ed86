"""Learn, unlearn and merge with the kernel alone, and return whether it changed anything."""

from kenyon import _native

OVERFLOW = {"overflow"}
NOT_LEARNED = {"not learned", "residue", "below calibration"}


def learn(counters, pairs, codes, slots, n_threads=1):
    outcome = _native.change(counters, pairs, None, n_threads, learned=codes, learned_slots=slots)
    return is_done(outcome, OVERFLOW)


def unlearn(counters, pairs, codes, slots, n_threads=1):
    outcome = _native.change(
        counters, pairs, None, n_threads, unlearned=codes, unlearned_slots=slots
    )
    return is_done(outcome, NOT_LEARNED)


def merge(counters, pairs, other, other_pairs, slots):
    return is_done(_native.merge(counters, pairs, other, other_pairs, slots), OVERFLOW)


def is_done(outcome, refusals):
    assert outcome in {"done", *refusals}
    return outcome == "done"
