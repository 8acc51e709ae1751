/*
 * slowdown.c - the time of a step beside that of the program as it is. See cost.h.
 *
 * Where both were rehearsed it is the ratio of the model's figures. Else each technique has its
 * typical figure, the middle of what was measured in public: docs/design/fit-cost.md.
 */
#include "fit/cost.h"
#include "fit/degree.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *begins; /* the text of the technique */
    double slowdown;
} typical[] = {
    { "autocast", 0.55 },
    { "attention", 0.7 },
    { "fused", 0.98 },
    { "weights", 0.5 },
    { "loss", 1.01 },
    { "optimizer=in_backward", 0.99 },
    { "optimizer=8bit", 1.03 },
    { "optimizer=adafactor", 1.08 },
    { "optimizer=sgd", 0.98 },
    { "foreach=off", 1.02 },
    { "empty_cache", 1.05 },
    { "checkpoint", 1.28 },
    { "offload=layer_inputs", 1.31 },
    { "offload=optimizer", 1.3 },
    { "offload=all_saved", 1.5 },
};

/* Of accumulation, for each halving of the batch: kernels of small batches use a GPU less, which no
 * count of work shows. Measured were 0 to 15 %. */
#define LOSS_BY_HALVING 0.02

/* The part of a technique's slowdown that the model of time cannot see. */
static double unseen_of(const char *text)
{
    return 1 + LOSS_BY_HALVING * log2(plim_fit_pieces(text));
}

static double typical_of(const char *text)
{
    for (size_t i = 0; i < sizeof(typical) / sizeof(typical[0]); i++) {
        if (strncmp(text, typical[i].begins, strlen(typical[i].begins)) == 0) {
            return 1 + (typical[i].slowdown - 1) * plim_fit_blocks(text);
        }
    }
    return unseen_of(text);
}

double plim_fit_slowdown(const plim_fit_cost *plain, const plim_fit_cost *with,
                         const char *const *techniques, size_t count)
{
    const bool is_modelled =
        plain != NULL && with != NULL && plain->seconds > 0 && with->seconds > 0;
    double slowdown = is_modelled ? with->seconds / plain->seconds : 1;
    for (size_t i = 0; i < count; i++) {
        slowdown *= is_modelled ? unseen_of(techniques[i]) : typical_of(techniques[i]);
    }
    return slowdown;
}
