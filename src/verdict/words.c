/*
 * words.c - a judgement in two plain sentences with its figures.
 */
#include "verdict/words.h"

void plim_words_why(plim_text *out, const plim_oom_case *oom, const plim_judgement *judgement)
{
    (void)out, (void)oom, (void)judgement;
}
