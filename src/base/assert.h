/*
 * assert.h - checks on ourselves, never on input.
 *
 * PLIM_ASSERT is constant-time and on in every build; PLIM_ASSERT_DEBUG is on in debug builds.
 * Conditions have no side effects and state one thing each.
 */
#ifndef PLIMSOLL_BASE_ASSERT_H
#define PLIMSOLL_BASE_ASSERT_H

/* Says what failed, on stderr, and aborts: a broken promise inside the library. */
_Noreturn void plim_assert_failed(const char *condition, const char *file, int line);

#define PLIM_ASSERT(condition)                                  \
    do {                                                        \
        if (!(condition)) {                                     \
            plim_assert_failed(#condition, __FILE__, __LINE__); \
        }                                                       \
    } while (0)

#ifdef NDEBUG
#define PLIM_ASSERT_DEBUG(condition) ((void)0)
#else
#define PLIM_ASSERT_DEBUG(condition) PLIM_ASSERT(condition)
#endif

#endif
