/*
 * test_prose.c - errors and sentences about them, distinguished by the words around.
 */
#include "oomtext/flattened.h"

#include "oomtext/clause.h"
#include "oomtext/prose.h"

/* The first place of a phrase in flat text. */
static bool find(const plim_flat *flat, const char *phrase, size_t *ret_begin, size_t *ret_end)
{
    for (size_t w = 0; w < flat->word_count; w++) {
        if (plim_phrase_at(flat, w, phrase, ret_end)) {
            *ret_begin = w;
            return true;
        }
    }
    return false;
}

typedef bool judge(const plim_flat *flat, size_t begin, size_t end);

static bool is_class_name(const plim_flat *flat, size_t begin, size_t end)
{
    (void)begin;
    return plim_prose_is_class_name(flat, end);
}

static bool begins_line(const plim_flat *flat, size_t begin, size_t end)
{
    (void)end;
    return plim_prose_begins_line(flat, begin);
}

static bool is_signal(const plim_flat *flat, size_t begin, size_t end)
{
    (void)begin;
    return plim_prose_is_signal(flat, end);
}

static void check(judge *judges, const char *phrase, bool wanted, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        T_CASE("\"%s\"", *texts);
        plim_flat flat = t_flatten(*texts);
        size_t begin = 0;
        size_t end = 0;
        T_TRUE(find(&flat, phrase, &begin, &end));
        T_EQ_U64(judges(&flat, begin, end), wanted);
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void failures_are_stated(void)
{
    static const char *const texts[] = {
        "out of memory",
        "ERROR: out of memory",
        "RuntimeError: CUDA error: out of memory",
        "CUDA failed with error out of memory",
        "cudaMalloc failed: out of memory (2)",
        "worker 3 died: out of memory while loading the model",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 MiB",
        "kernel: out of memory on device 0",
        "GPUassert: out of memory kernel.cu 88",
        "RuntimeError: out of mem\nory",
        NULL,
    };
    check(plim_prose_states_error, "out of memory", true, texts);
}

static void suppositions_and_programs_are_no_failures(void)
{
    static const char *const texts[] = {
        "to avoid running out of memory, use a smaller batch",
        "this may go out of memory on small cards",
        "except torch.cuda.OutOfMemoryError:",
        "if \"out of memory\" in str(e):",
        "class OutOfMemoryHandler:",
        "def on_out_of_memory(self):",
        "the shop is out of memory cards",
        "set it lower to prevent out of memory errors",
        "raise OutOfMemoryError",
        "never out of memory",
        NULL,
    };
    check(plim_prose_states_error, "out of memory", false, texts);
}

static void names_of_exceptions_are_known(void)
{
    static const char *const names[] = { "OutOfMemoryError: x", "OutOfMemoryException",
                                         "OutOfMemoryEr\nror: x", NULL };
    static const char *const others[] = { "out of memory error", "OutOfMemoryErrors", "OutOfMemory",
                                          "out of memory: error", NULL };
    check(is_class_name, "out of memory", true, names);
    check(is_class_name, "out of memory", false, others);
}

static void a_line_begins_behind_its_prefix(void)
{
    static const char *const at_begin[] = { "MemoryError",          "x\nMemoryError",
                                            "[rank0]: MemoryError", "svc | [1] MemoryError",
                                            "builtins.MemoryError", NULL };
    static const char *const within[] = { "a MemoryError was raised", "except MemoryError", NULL };
    check(begins_line, "memoryerror", true, at_begin);
    check(begins_line, "memoryerror", false, within);
}

static void shells_say_killed_in_few_ways(void)
{
    static const char *const shells[] = {
        "Killed",
        "step 12\nKilled\nstep 13",
        "Killed: 9",
        "zsh: killed     python train.py",
        "./run.sh: line 12:  4711 Killed                  python train.py",
        "[1]+  4711 Killed   python train.py",
        " 41%|####      | 410/1000 [02:11<03:09]Killed",
        NULL,
    };
    static const char *const others[] = {
        "Killed 3 workers",
        "He was killed in the first act",
        "the process was killed",
        "Killed process 4711 (python)",
        "worker 4711 killed by the user",
        NULL,
    };
    check(plim_prose_is_shell_line, "killed", true, shells);
    check(plim_prose_is_shell_line, "killed", false, others);
}

static void a_signal_has_a_minus_or_is_137(void)
{
    static const char *const minus[] = { "exitcode: -9", "(exitcode: -9)", "exitcode -9", NULL };
    static const char *const plain[] = { "exitcode 9", "exitcode: 9", NULL };
    static const char *const shell[] = { "exit code 137", NULL };
    check(is_signal, "exitcode 9", true, minus);
    check(is_signal, "exitcode 9", false, plain);
    check(is_signal, "exit code 137", true, shell);
}

/* Any words around a phrase get an answer, and nothing beyond the text is looked at. */
static void any_text_is_judged(void)
{
    static const char *const pieces[] = {
        "out of memory",
        "OutOfMemoryError",
        " ",
        "\n",
        "killed",
        "9",
        "-9",
        ": ",
        ". ",
        "if ",
        "error ",
        "'",
        "|",
        "/",
        "#",
        "(",
        ")",
        "_",
        "x",
        "12 ",
        "[1]",
        "**",
        "exitcode",
        "E",
        "\t",
        ", ",
        "may ",
        "=",
        "]",
        "%",
    };
    judge *const all[] = { plim_prose_states_error, is_class_name, begins_line,
                           plim_prose_is_shell_line, is_signal };
    for (size_t round = 0; round < 5000; round++) {
        char text[300] = "";
        for (size_t n = (size_t)t_random_between(1, 12); n > 0; n--) {
            strcat(text, pieces[t_random_between(0, T_COUNT(pieces) - 1)]);
        }
        plim_flat flat = t_flatten(text);
        for (size_t w = 0; w < flat.word_count; w++) {
            for (size_t end = w + 1; end <= flat.word_count && end < w + 20; end++) {
                for (size_t j = 0; j < T_COUNT(all); j++) {
                    (void)all[j](&flat, w, end);
                }
            }
        }
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

T_MAIN(T_TEST(failures_are_stated), T_TEST(suppositions_and_programs_are_no_failures),
       T_TEST(names_of_exceptions_are_known), T_TEST(a_line_begins_behind_its_prefix),
       T_TEST(shells_say_killed_in_few_ways), T_TEST(a_signal_has_a_minus_or_is_137),
       T_TEST(any_text_is_judged))
