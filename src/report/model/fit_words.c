/*
 * fit_words.c - stacks and answers of a search for techniques in words. See fit.h.
 */
#include "report/model/fit.h"

const char *plim_fit_answer_name(plim_fit_answer answer)
{
    static const char *const names[] = {
        [PLIM_FIT_FITS] = "fits",       [PLIM_FIT_SHORT] = "short",
        [PLIM_FIT_REFUSED] = "refused", [PLIM_FIT_NO_EFFECT] = "no_effect",
        [PLIM_FIT_BROKEN] = "broken",   [PLIM_FIT_UNKNOWN] = "unknown",
    };
    return names[answer];
}

const char *plim_fit_stack_text(plim_page *page, const plim_fit_trial *of)
{
    const char *text = of->use_count == 0 ? "as it is" : of->uses[0].text;
    for (size_t i = 1; i < of->use_count; i++) {
        text = plim_page_text(page, "{} {}",
                              PLIM_FACTS(plim_words(text), plim_words(of->uses[i].text)));
    }
    return text;
}
