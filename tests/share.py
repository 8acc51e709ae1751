"""share - each case of a test, or one of so many, as $PLIM_TEST_SHARE asks: sanitizers take their time."""
import os

ONE_OF = max(1, int(os.environ.get("PLIM_TEST_SHARE", "1")))


def of(cases):
    """The cases to try; says how many of them are left out."""
    cases = list(cases)
    taken = cases[::ONE_OF]
    if len(taken) < len(cases):
        print(f"{len(cases) - len(taken)} of {len(cases)} cases are left out: PLIM_TEST_SHARE={ONE_OF}")
    return taken
