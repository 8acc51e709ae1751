/*
 * words.h - a judgement in two plain sentences with its figures.
 */
#ifndef PLIMSOLL_VERDICT_WORDS_H
#define PLIMSOLL_VERDICT_WORDS_H

#include "base/text.h"
#include "verdict/judge.h"

/** Append two sentences to `out`: what the figures say, and what follows from it. */
void plim_words_why(plim_text *out, const plim_oom_case *oom, const plim_judgement *judgement);

#endif
