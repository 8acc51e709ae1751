/*
 * test_search.c - the search for the cheapest stack, on programs that are sums of parts.
 *
 * A program has parts (weights, gradients, states, activations, logits); each phase holds some of
 * them; a technique makes parts smaller and the step slower. All stacks of such a program can be
 * tried in no time, so that the answer of the search can be held against the true one.
 */
#include "harness.h"

#include "base/numbers.h"
#include "base/units.h"
#include "fit/cost.h"
#include "fit/search.h"

#include <math.h>

/* ALL: activations and logits, as a smaller batch leaves less of both. */
enum { ALL = -1, WEIGHTS, GRADIENTS, STATES, ACTIVATIONS, LOGITS, PARTS };

typedef struct program {
    uint64_t parts[PARTS];
    uint64_t capacity_bytes;
    const char *broken; /* a technique with which it fails */
    size_t runs;
    uint64_t batch_rows; /* of its loader; 0: it has none */
    uint64_t dataset_rows;
    uint64_t evaluation_row_bytes; /* 0: it evaluates nothing */
    size_t cached_per_cent;        /* of what is allocated, with more memory than it needs */
    size_t stuck_per_cent;         /* of it, what is not given back where memory is short */
    const char *gpu;               /* of the last rehearsal */
    const char *uncounted;         /* a technique with which the work of a step is not known */
} program;

/* What a technique leaves of a part, in ten-thousandths, and of the speed. */
static const struct {
    const char *text;
    int part;
    unsigned left;
    double seconds;
} effects[] = {
    { "autocast=bf16", ALL, 5500, 0.7 },
    { "loss=chunked", LOGITS, 2000, 1.02 },
    { "fused", STATES, 9900, 0.98 },
    { "foreach=off", STATES, 9300, 1.04 },
    { "optimizer=in_backward", GRADIENTS, 500, 1.02 },
    { "offload=optimizer", STATES, 0, 1.3 },
    { "accumulate=2", ALL, 5000, 1.03 },
    { "accumulate=4", ALL, 2500, 1.06 },
    { "accumulate=8", ALL, 1250, 1.1 },
    { "checkpoint=every:4", ACTIVATIONS, 7875, 1.0625 },
    { "checkpoint=every:2", ACTIVATIONS, 5750, 1.125 },
    { "checkpoint=fraction:0.75", ACTIVATIONS, 3625, 1.1875 },
    { "checkpoint", ACTIVATIONS, 1500, 1.25 },
    { "offload=layer_inputs", ACTIVATIONS, 900, 1.33 },
};

static const char *const searched = "autocast\nloss\nfused\nforeach\noptimizer=in_backward\n"
                                    "offload=optimizer\naccumulate=2\naccumulate=4\naccumulate=8\n"
                                    "checkpoint\noffload=layer_inputs";

static void apply(const program *self, const char *techniques, uint64_t parts[PARTS],
                  double *ret_seconds)
{
    char lines[PLIM_FIT_LINES_BYTES];
    memcpy(parts, self->parts, sizeof(self->parts));
    *ret_seconds = 1;
    (void)snprintf(lines, sizeof(lines), "%s", techniques);
    for (char *line = strtok(lines, "\n "); line != NULL; line = strtok(NULL, "\n ")) {
        for (size_t i = 0; i < T_COUNT(effects); i++) {
            if (strcmp(effects[i].text, line) == 0) {
                const int part = effects[i].part;
                for (int j = part == ALL ? ACTIVATIONS : part; j < (part == ALL ? PARTS : part + 1);
                     j++) {
                    parts[j] = parts[j] / 10000 * effects[i].left;
                }
                *ret_seconds *= effects[i].seconds;
            }
        }
    }
}

/* The number of "batch=N" or "batch=eval:N" among techniques; 0: it is not there. */
static uint64_t rows_wanted(const char *techniques, const char *name)
{
    const char *const at = strstr(techniques, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Batches, as loaders have them; returns what an evaluation needs. */
static uint64_t set_batch(const program *self, const char *techniques, uint64_t parts[PARTS],
                          plim_fit_sample *ret)
{
    const uint64_t rows = rows_wanted(techniques, "batch=");
    const uint64_t evaluated = rows_wanted(techniques, "batch=eval:");
    for (int i = ACTIVATIONS; rows > 0 && i < PARTS; i++) {
        parts[i] = plim_whole((double)parts[i] / (double)self->batch_rows * (double)rows);
    }
    ret->batch_rows = rows > 0 || strstr(techniques, "accumulate") != NULL ? self->batch_rows : 0;
    ret->piece_rows = self->batch_rows / plim_max(rows_wanted(techniques, "accumulate="), 1);
    ret->dataset_rows =
        self->dataset_rows > 0 && rows > self->dataset_rows ? self->dataset_rows : 0;
    return self->evaluation_row_bytes * plim_max(evaluated, 1);
}

static const char *state_of(const program *self, const char *technique, const plim_fit_sample *ret)
{
    const bool is_evaluation = strncmp(technique, "batch=eval:", strlen("batch=eval:")) == 0;
    if (is_evaluation && self->evaluation_row_bytes == 0) {
        return "waiting";
    }
    return ret->dataset_rows > 0 && strncmp(technique, "batch=", strlen("batch=")) == 0 ? "refused"
                                                                                        : "applied";
}

static void rehearse(program *self, const plim_fit_request *request, plim_fit_sample *ret)
{
    uint64_t parts[PARTS];
    double seconds = 1;
    *ret = (plim_fit_sample){ .is_done = true, .seconds = 1, .steps = 3 };
    apply(self, request->techniques, parts, &seconds);
    const uint64_t evaluation = set_batch(self, request->techniques, parts, ret);
    const bool has_inputs = strstr(request->techniques, "offload=layer_inputs") != NULL;
    ret->host_bytes = has_inputs ? parts[ACTIVATIONS] : 0;
    const uint64_t forward = parts[WEIGHTS] + parts[STATES] + parts[ACTIVATIONS] + parts[LOGITS];
    const uint64_t step = parts[WEIGHTS] + 2 * parts[GRADIENTS] + parts[STATES];
    const uint64_t peak = plim_max(plim_max(forward, step), parts[WEIGHTS] + evaluation);
    const uint64_t beside = GIB / 2;
    const bool is_broken =
        self->broken != NULL && strstr(request->techniques, self->broken) != NULL;
    uint64_t capacity = request->capacity_bytes;
    const plim_gpu *gpu = NULL;
    if (capacity == 0) {
        assert_int_equal(plim_gpu_find(request->gpu, &gpu, NULL), PLIM_OK);
        capacity = gpu->memory_bytes;
    }
    uint64_t reserved = peak + peak / 100 * self->cached_per_cent;
    const uint64_t least = peak + peak / 100 * self->stuck_per_cent;
    reserved =
        reserved + beside > capacity && least + beside <= capacity ? capacity - beside : reserved;
    ret->peak = (plim_rehearsed_peak){ peak, reserved, reserved + beside };
    ret->bar = (plim_rehearsed_bar){ reserved + beside, reserved + beside, reserved + beside };
    ret->phase_count = 2;
    (void)strcpy(ret->phases[0].name, "forward");
    ret->phases[0].allocated_bytes = forward;
    (void)strcpy(ret->phases[1].name, "optimizer");
    ret->phases[1].allocated_bytes = step;
    const bool is_counted =
        self->uncounted == NULL || strstr(request->techniques, self->uncounted) == NULL;
    ret->cost.seconds = is_counted ? seconds : 0;
    for (const char *line = request->techniques; line[0] != '\0';) {
        (void)strcpy(ret->reports[ret->report_count++].state, state_of(self, line, ret));
        line += strcspn(line, "\n");
        line += line[0] == '\n';
    }
    ret->verdict = is_broken                   ? PLIM_REHEARSED_FAILED
                   : least + beside > capacity ? PLIM_REHEARSED_OUT_OF_MEMORY
                                               : PLIM_REHEARSED_FITS;
    (void)strcpy(ret->reason, is_broken ? "RuntimeError: shapes" : "");
    self->gpu = request->gpu;
    self->runs++;
}

static plim_status run(void *ctx, const plim_fit_request *requests, size_t count,
                       plim_fit_sample *ret, plim_error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++) {
        rehearse(ctx, &requests[i], &ret[i]);
    }
    return PLIM_OK;
}

static plim_status fit(program *self, const plim_fit_options *more, const plim_mem *mem,
                       plim_fitted *ret)
{
    const plim_fit_runner runner = { .ctx = self, .run = run };
    plim_fit_options options = more != NULL ? *more : (plim_fit_options){ 0 };
    options.only = options.only != NULL ? options.only : searched;
    options.host_bytes = options.host_bytes > 0 ? options.host_bytes : UINT64_MAX;
    options.rehearse.mem = mem;
    options.rehearse.capacity_bytes = self->capacity_bytes;
    return plim_fit_with(&runner, &options, ret, NULL);
}

static program random_program(void)
{
    program self = { .capacity_bytes = (4 + t_random() % 20) * GIB };
    const uint64_t weights = GIB / 4 + t_random() % (4 * GIB);
    self.parts[WEIGHTS] = weights;
    self.parts[GRADIENTS] = weights;
    self.parts[STATES] = 2 * weights;
    self.parts[ACTIVATIONS] = t_random() % (40 * GIB);
    self.parts[LOGITS] = t_random() % (12 * GIB);
    return self;
}

/* ---- the true answer ------------------------------------------------------------------------- */

typedef struct truth {
    bool is_there;
    long slowdown;
    size_t size;
} truth;

static void try_stack(const program *self, const plim_fit_space *space, const plim_fit_stack *stack,
                      truth *best)
{
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_stack_write(space, stack, '\n', lines, sizeof(lines));
    program copy = *self;
    plim_fit_sample *const sample = malloc(sizeof(*sample));
    const plim_fit_request request = { .techniques = lines,
                                       .capacity_bytes = self->capacity_bytes };
    rehearse(&copy, &request, sample);
    const char *texts[PLIM_FIT_AXES];
    size_t count = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (stack->at[axis] > 0) {
            texts[count++] = space->choices[axis][stack->at[axis]].text;
        }
    }
    const plim_fit_cost plain = { .seconds = 1 };
    const double slowdown = count == 0 ? 1 : plim_fit_slowdown(&plain, &sample->cost, texts, count);
    const long hundredths = lround(slowdown * 100);
    if (sample->verdict == PLIM_REHEARSED_FITS &&
        (!best->is_there || hundredths < best->slowdown ||
         (hundredths == best->slowdown && count < best->size))) {
        *best = (truth){ true, hundredths, count };
    }
    free(sample);
}

static void try_all(const program *self, const plim_fit_space *space, size_t axis,
                    plim_fit_stack *stack, truth *best)
{
    if (axis == PLIM_FIT_AXES) {
        try_stack(self, space, stack, best);
        return;
    }
    for (uint8_t i = 0; i < space->counts[axis]; i++) {
        if (i == 0 ||
            (space->choices[axis][i].is_open && plim_fit_stack_takes(space, stack, axis, i))) {
            stack->at[axis] = i;
            try_all(self, space, axis + 1, stack, best);
        }
    }
    stack->at[axis] = 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Programs of 200 whose answer may be another than the true one: the trials are few. */
#define MISSES_MAX 3

static void the_cheapest_is_the_true_one(void)
{
    size_t misses = 0;
    for (int i = 0; i < 200; i++) {
        program self = random_program();
        self.cached_per_cent = t_random() % 12;
        self.stuck_per_cent = t_random() % (self.cached_per_cent + 1);
        const plim_fit_options options = { .only = searched };
        plim_fit_space space;
        plim_fit_space_init(&space, &options, NULL);
        truth best = { 0 };
        plim_fit_stack stack = { { 0 } };
        try_all(&self, &space, 0, &stack, &best);
        plim_fitted found;
        T_CASE("program %d", i);
        assert_int_equal(fit(&self, NULL, NULL, &found), PLIM_OK);
        T_TRUE(self.runs <= PLIM_FIT_TRIALS_MAX);
        T_TRUE(best.is_there || found.cheapest == NULL);
        if (found.plain->answer == PLIM_FIT_FITS) {
            T_TRUE(found.cheapest == found.plain); /* nothing is to be done */
        } else if (found.cheapest != NULL) {
            const long slowdown = lround(found.cheapest->slowdown * 100);
            T_TRUE(found.cheapest->is_confirmed && slowdown >= best.slowdown);
            misses += slowdown != best.slowdown || found.cheapest->use_count != best.size;
        } else {
            misses += best.is_there;
            T_TRUE(found.missing_bytes > 0);
        }
        if (found.roomy != NULL) {
            T_TRUE(found.roomy->bar.high_bytes <= self.capacity_bytes - self.capacity_bytes / 10);
        }
        plim_fitted_deinit(&found);
    }
    print_message("misses: %zu\n", misses);
    T_TRUE(misses <= MISSES_MAX);
}

static void the_same_program_gives_the_same_result(void)
{
    for (int i = 0; i < 20; i++) {
        program self = random_program();
        plim_fitted a;
        plim_fitted b;
        assert_int_equal(fit(&self, NULL, NULL, &a), PLIM_OK);
        assert_int_equal(fit(&self, NULL, NULL, &b), PLIM_OK);
        T_EQ_U64(a.trial_count, b.trial_count);
        for (size_t j = 0; j < a.trial_count; j++) {
            T_EQ_U64(a.trials[j].use_count, b.trials[j].use_count);
            for (size_t k = 0; k < a.trials[j].use_count; k++) {
                T_EQ_STR(a.trials[j].uses[k].text, b.trials[j].uses[k].text);
            }
        }
        plim_fitted_deinit(&a);
        plim_fitted_deinit(&b);
    }
}

static program big_program(void)
{
    return (program){ .parts = { GIB, GIB, 2 * GIB, 20 * GIB, 4 * GIB },
                      .capacity_bytes = 12 * GIB };
}

static void what_breaks_is_reported_and_the_search_goes_on(void)
{
    program self = big_program();
    self.broken = "autocast=bf16";
    plim_fitted found;
    bool is_reported = false;
    assert_int_equal(fit(&self, NULL, NULL, &found), PLIM_OK);
    for (size_t i = 0; i < found.trial_count; i++) {
        const plim_fit_trial *const trial = &found.trials[i];
        if (trial->use_count == 1 && strcmp(trial->uses[0].text, "autocast=bf16") == 0) {
            is_reported = true;
            assert_int_equal(trial->answer, PLIM_FIT_BROKEN);
            T_EQ_STR(trial->reason, "RuntimeError: shapes");
        }
    }
    T_TRUE(is_reported);
    T_NOT_NULL(found.cheapest);
    for (size_t i = 0; i < found.cheapest->use_count; i++) {
        T_TRUE(strcmp(found.cheapest->uses[i].text, "autocast=bf16") != 0);
    }
    plim_fitted_deinit(&found);
}

static void stacks_of_the_caller_are_rehearsed(void)
{
    program self = big_program();
    const plim_fit_options options = {
        .only = searched,
        .also = "autocast=bf16 checkpoint accumulate=8\noptimizer=8bit checkpoint",
    };
    plim_fitted found;
    size_t also = 0;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    for (size_t i = 0; i < found.trial_count; i++) {
        also += found.trials[i].is_also;
    }
    T_EQ_U64(also, 2);
    T_TRUE(found.cheapest != NULL && found.cheapest->label != PLIM_TECHNIQUE_CHANGED);
    plim_fitted_deinit(&found);
    const plim_fit_options bad = { .also = "checkpoint nothing" };
    assert_int_equal(fit(&self, &bad, NULL, &found), PLIM_INVALID_ARGUMENT);
}

static void what_never_fits_misses_memory_and_has_a_gpu(void)
{
    program self = big_program();
    self.parts[WEIGHTS] = 30 * GIB;
    plim_fitted found;
    assert_int_equal(fit(&self, NULL, NULL, &found), PLIM_OK);
    T_NULL(found.cheapest);
    T_NOT_NULL(found.smallest);
    T_TRUE(found.missing_bytes > 15 * GIB);
    T_NOT_NULL(found.enough);
    T_TRUE(found.enough->memory_bytes > 30 * GIB);
    plim_fitted_deinit(&found);
}

static void the_smallest_gpu_is_found(void)
{
    program self = big_program();
    const plim_fit_options options = { .finds_gpu = true };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_TRUE(found.cheapest == found.plain);
    T_TRUE(found.gpu->memory_bytes >= 27 * GIB && found.gpu->memory_bytes < 33 * GIB);
    plim_fitted_deinit(&found);
}

/* The page is then of the largest, which shows how much is missing. */
static void where_no_gpu_is_enough_the_largest_is_said(void)
{
    program self = big_program();
    self.parts[WEIGHTS] = 700 * GIB;
    self.capacity_bytes = 0;
    const plim_fit_options options = { .finds_gpu = true };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_NULL(found.cheapest);
    T_NULL(found.enough);
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        T_TRUE(plim_gpu_at(i)->memory_bytes <= found.capacity_bytes);
    }
    T_TRUE(found.missing_bytes > 300 * GIB);
    plim_fitted_deinit(&found);
}

/* A table of cards needs the techniques alone, and the largest batch that GPU's own context. */
static void more_is_found_for_the_smallest_gpu(void)
{
    program self = big_program();
    self.capacity_bytes = 0;
    self.batch_rows = 8;
    const plim_fit_options options = { .finds_gpu = true,
                                       .finds_batch = true,
                                       .makes_table = true };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_TRUE(found.cheapest == found.plain && found.trial_count > 4);
    T_NULL(found.training.why_unknown);
    T_EQ_STR(self.gpu, found.gpu->key);
    T_NOT_NULL(found.rows[1].trial); /* 12 GB */
    plim_fitted_deinit(&found);
}

/* Alone it needs more of the host than there is, with the batch in pieces it does not. */
static void the_host_is_enough_for_pieces(void)
{
    program self = { .parts = { GIB, GIB, GIB, 80 * GIB, 0 }, .capacity_bytes = 5 * GIB };
    const plim_fit_options options = { .only = "accumulate=2\naccumulate=4\naccumulate=8\n"
                                               "offload=layer_inputs",
                                       .host_bytes = 4 * GIB };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_NOT_NULL(found.cheapest);
    T_EQ_U64(found.cheapest->use_count, 2);
    T_EQ_STR(found.cheapest->uses[1].text, "offload=layer_inputs");
    T_TRUE(found.cheapest->host_bytes <= options.host_bytes);
    for (size_t i = 1; i < found.trial_count; i++) {
        T_TRUE(found.trials[i].answer != PLIM_FIT_FITS ||
               found.trials[i].host_bytes <= options.host_bytes);
    }
    plim_fitted_deinit(&found);
}

/* Two pieces and all blocks, by which the other degrees are known, are not among the names. */
static void a_degree_is_searched_without_the_one_it_is_known_by(void)
{
    static const char *const names[] = { "accumulate=4", "checkpoint=every:2",
                                         "accumulate=4\nautocast" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const plim_fit_options options = { .only = names[i] };
        program self = big_program();
        plim_fitted found;
        bool is_tried = false;
        assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
        for (size_t j = 1; j < found.trial_count; j++) {
            const plim_fit_trial *const trial = &found.trials[j];
            const char *const last = trial->uses[trial->use_count - 1].text;
            is_tried = is_tried || strncmp(names[i], last, strlen(last)) == 0;
            T_TRUE(strcmp(last, "accumulate=2") != 0 && strcmp(last, "checkpoint") != 0);
        }
        T_TRUE(is_tried);
        plim_fitted_deinit(&found);
    }
}

static void a_margin_is_part_of_the_tenth_to_spare(void)
{
    program self = { .parts = { GIB, GIB, GIB, GIB, 0 }, .capacity_bytes = 5 * GIB };
    const plim_fit_options options = { .rehearse = { .margin_bytes = GIB / 2 } };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_TRUE(found.roomy != NULL && found.roomy == &found.trials[0]);
    plim_fitted_deinit(&found);
}

/* Its time is that of the nearest trial, not what is typical of all its techniques. */
static void a_step_that_was_not_counted_is_no_bargain(void)
{
    program self = big_program();
    self.capacity_bytes = 6 * GIB;
    self.uncounted = "accumulate=8";
    plim_fitted found;
    size_t uncounted = 0;
    assert_int_equal(fit(&self, NULL, NULL, &found), PLIM_OK);
    for (size_t i = 0; i < found.trial_count; i++) {
        const plim_fit_trial *const trial = &found.trials[i];
        char lines[PLIM_FIT_LINES_BYTES];
        uint64_t parts[PARTS];
        double seconds = 1;
        plim_fit_trial_write(trial, PLIM_FIT_ALL_USES, '\n', lines, sizeof(lines));
        apply(&self, lines, parts, &seconds);
        if (strstr(lines, self.uncounted) != NULL) {
            uncounted++;
            T_CASE("trial %zu: %g, %g", i, trial->slowdown, seconds);
            T_TRUE(fabs(trial->slowdown / seconds - 1) < 0.12);
        }
    }
    T_TRUE(uncounted > 0);
    plim_fitted_deinit(&found);
}

static void few_trials_end_the_search(void)
{
    program self = big_program();
    const plim_fit_options options = { .trials_max = 5 };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_TRUE(self.runs <= 5);
    T_EQ_STR(found.stopped, "trials");
    plim_fitted_deinit(&found);
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool fits_with(program *self, const char *stack, const char *kind, uint64_t rows)
{
    char lines[PLIM_FIT_LINES_BYTES];
    (void)snprintf(lines, sizeof(lines), "%s%s%s%llu", stack, stack[0] != '\0' ? "\n" : "", kind,
                   (unsigned long long)rows);
    for (char *at = lines; *at != '\0'; at++) {
        *at = *at == ' ' ? '\n' : *at;
    }
    const plim_fit_request request = { .techniques = lines,
                                       .capacity_bytes = self->capacity_bytes };
    plim_fit_sample *const sample = malloc(sizeof(*sample));
    rehearse(self, &request, sample);
    const bool fits = sample->verdict == PLIM_REHEARSED_FITS;
    free(sample);
    return fits;
}

#define BATCHES_MAX 48 /* rehearsals for them, beside those of the search */
#define CARDS_MAX   16

static void the_largest_batch_is_exact(void)
{
    size_t unknown = 0;
    const plim_fit_options options = { .only = searched, .finds_batch = true };
    for (int i = 0; i < 100; i++) {
        program self = random_program();
        self.cached_per_cent = t_random() % 12;
        self.batch_rows = 1 + t_random() % 100;
        self.evaluation_row_bytes = MIB + t_random() % (64 * MIB);
        plim_fitted found;
        assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
        T_TRUE(self.runs <= PLIM_FIT_TRIALS_MAX + BATCHES_MAX);
        unknown += found.training.why_unknown != NULL;
        const plim_fit_batch *const training = &found.training;
        if (training->why_unknown == NULL) {
            T_EQ_U64(training->now, self.batch_rows);
            T_NULL(strstr(training->stack, "accumulate"));
            T_TRUE(training->largest == 0 ||
                   fits_with(&self, training->stack, "batch=", training->largest));
            T_FALSE(fits_with(&self, training->stack, "batch=", training->largest + 1));
        }
        plim_fitted_deinit(&found);
    }
    T_TRUE(unknown <= 2);
}

static void a_batch_ends_where_the_dataset_ends(void)
{
    program self = big_program();
    self.capacity_bytes = 40 * GIB;
    self.batch_rows = 10;
    self.dataset_rows = 13;
    const plim_fit_options options = { .only = searched, .finds_batch = true };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_NULL(found.training.why_unknown);
    T_EQ_U64(found.training.largest, 13);
    T_EQ_STR(found.training.why_not_more, "the dataset has 13 rows");
    T_NOT_NULL(found.evaluation.why_unknown); /* there is no evaluation */
    plim_fitted_deinit(&found);
}

/* ---- cards ----------------------------------------------------------------------------------- */

static void each_card_has_its_stack(void)
{
    program self = big_program();
    self.batch_rows = 64;
    const plim_fit_options options = { .only = searched, .makes_table = true };
    plim_fitted found;
    assert_int_equal(fit(&self, &options, NULL, &found), PLIM_OK);
    T_TRUE(self.runs <= PLIM_FIT_TRIALS_MAX + CARDS_MAX);
    T_EQ_U64(found.row_count, PLIM_FIT_CARDS);
    for (size_t i = 0; i < found.row_count; i++) {
        const plim_fit_row *const row = &found.rows[i];
        T_NOT_NULL(row->gpu);
        T_TRUE(row->trial != NULL && row->device_bytes <= row->gpu->memory_bytes);
        T_TRUE(i == 0 || row->nominal_bytes > found.rows[i - 1].nominal_bytes);
        T_TRUE(i == 0 || row->trial->slowdown <= found.rows[i - 1].trial->slowdown + 0.005 ||
               row->trial == found.plain);
        T_TRUE(row->rows_most == 0 || row->rows_most >= row->rows);
    }
    T_TRUE(found.rows[PLIM_FIT_CARDS - 1].trial == found.plain);
    plim_fitted_deinit(&found);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool operate(const plim_mem *mem, void *ctx)
{
    program self = *(const program *)ctx;
    const plim_fit_options options = {
        .also = "optimizer=8bit checkpoint",
        .finds_batch = true,
        .makes_table = true,
    };
    plim_fitted found;
    const plim_status status = fit(&self, &options, mem, &found);
    if (status == PLIM_OK) {
        plim_fitted_deinit(&found);
    }
    return status == PLIM_OK;
}

static void every_allocation_may_fail(void)
{
    program self = big_program();
    t_fail_each_allocation(operate, &self);
}

T_MAIN(T_TEST(the_cheapest_is_the_true_one), T_TEST(the_same_program_gives_the_same_result),
       T_TEST(what_breaks_is_reported_and_the_search_goes_on),
       T_TEST(stacks_of_the_caller_are_rehearsed),
       T_TEST(what_never_fits_misses_memory_and_has_a_gpu), T_TEST(the_smallest_gpu_is_found),
       T_TEST(where_no_gpu_is_enough_the_largest_is_said),
       T_TEST(more_is_found_for_the_smallest_gpu), T_TEST(the_host_is_enough_for_pieces),
       T_TEST(a_degree_is_searched_without_the_one_it_is_known_by),
       T_TEST(a_margin_is_part_of_the_tenth_to_spare), T_TEST(few_trials_end_the_search),
       T_TEST(a_step_that_was_not_counted_is_no_bargain), T_TEST(the_largest_batch_is_exact),
       T_TEST(a_batch_ends_where_the_dataset_ends), T_TEST(each_card_has_its_stack),
       T_TEST(every_allocation_may_fail))
