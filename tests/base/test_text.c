/*
 * test_text.c - texts grow, stop at their maximum, and tell once.
 */
#include "harness.h"

#include "base/sink.h"
#include "base/text.h"

static void starts_empty_and_takes_nothing(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_text text;
    plim_text_init(&text, &heap.mem, 100);
    T_EQ_STR(plim_text_string(&text), "");
    T_EQ_U64(plim_text_status(&text, "testing", NULL), PLIM_OK);
    plim_text_append(&text, NULL, 0);
    plim_text_append_format(&text, "%s", "");
    plim_text_deinit(&text);
    T_EQ_U64(heap.call_count, 0);

    plim_text zeroed = { 0 };
    plim_text_deinit(&zeroed);
}

static void all_ways_of_appending_add_up(void)
{
    plim_text text;
    plim_text_init(&text, NULL, 1000);
    plim_text_append(&text, "ab\0c", 4);
    plim_text_append_string(&text, "de");
    plim_text_append_char(&text, 'f');
    plim_text_append_format(&text, "-%d-%s", 7, "x");
    T_EQ_U64(text.length, 11);
    T_EQ_MEM(plim_text_string(&text), "ab\0cdef-7-x", 12);
    plim_text_reset(&text);
    T_EQ_STR(plim_text_string(&text), "");
    plim_text_append_string(&text, "again");
    T_EQ_STR(plim_text_string(&text), "again");
    T_EQ_U64(plim_text_status(&text, "testing", NULL), PLIM_OK);
    plim_text_deinit(&text);
}

static void long_texts_keep_every_byte(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_text text;
    plim_text_init(&text, &heap.mem, 1 << 20);
    static char model[1 << 20];
    size_t length = 0;
    while (length < (1 << 20) - 40) {
        const size_t piece = (size_t)t_random_between(0, 40);
        for (size_t i = 0; i < piece; i++) {
            model[length + i] = (char)t_random_between('a', 'z');
        }
        if (t_random() % 2 == 0) {
            plim_text_append(&text, model + length, piece);
        } else {
            plim_text_append_format(&text, "%.*s", (int)piece, model + length);
        }
        length += piece;
    }
    T_EQ_U64(plim_text_status(&text, "testing", NULL), PLIM_OK);
    T_EQ_U64(text.length, length);
    T_EQ_MEM(plim_text_string(&text), model, length);
    T_TRUE(heap.live_bytes <= (1 << 20) + 1);
    plim_text_deinit(&text);
    T_EQ_U64(heap.live_bytes, 0);
}

static void the_maximum_is_reached_and_not_passed(void)
{
    plim_text text;
    plim_text_init(&text, NULL, 5);
    plim_text_append_string(&text, "12345");
    T_EQ_U64(plim_text_status(&text, "testing", NULL), PLIM_OK);
    plim_text_append_char(&text, '6');
    plim_error err;
    T_EQ_U64(plim_text_status(&text, "testing", &err), PLIM_LIMIT);
    T_EQ_STR(err.message, "a text grows beyond its limit of 5 bytes while testing");
    T_EQ_STR(plim_text_string(&text), "12345");
    plim_text_reset(&text);
    plim_text_append_format(&text, "%d", 123456);
    T_EQ_STR(plim_text_string(&text), "");
    plim_text_append_char(&text, '1'); /* would fit, but the failure sticks */
    T_EQ_STR(plim_text_string(&text), "");
    T_EQ_U64(plim_text_status(&text, "testing", NULL), PLIM_LIMIT);
    plim_text_deinit(&text);
}

static bool append_some(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_text text;
    plim_text_init(&text, mem, 100000);
    for (int i = 0; i < 1000; i++) {
        plim_text_append_format(&text, "%d,", i);
    }
    T_EQ_U64(strlen(plim_text_string(&text)), text.length);
    plim_error err;
    const plim_status status = plim_text_status(&text, "testing", &err);
    if (status != PLIM_OK) {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
        T_EQ_STR(err.message, "out of host memory while testing");
    }
    plim_text_deinit(&text);
    return status == PLIM_OK;
}

static void without_memory_it_keeps_what_it_has_and_tells(void)
{
    t_fail_each_allocation(append_some, NULL);
}

static void texts_and_files_are_sinks(void)
{
    plim_text text;
    plim_text_init(&text, NULL, 6);
    const plim_sink to_text = plim_sink_to_text(&text);
    T_TRUE(to_text.write(to_text.ctx, "abc", 3));
    T_TRUE(to_text.write(to_text.ctx, "def", 3));
    T_FALSE(to_text.write(to_text.ctx, "g", 1));
    T_EQ_STR(plim_text_string(&text), "abcdef");
    plim_text_deinit(&text);

    FILE *file = tmpfile();
    T_NOT_NULL(file);
    const plim_sink to_file = plim_sink_to_file(file);
    T_TRUE(to_file.write(to_file.ctx, "abc", 3));
    rewind(file);
    char back[8] = { 0 };
    T_EQ_U64(fread(back, 1, sizeof back, file), 3);
    T_EQ_STR(back, "abc");
    T_EQ_I64(fclose(file), 0);

    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        setvbuf(full, NULL, _IONBF, 0);
        const plim_sink to_full = plim_sink_to_file(full);
        T_FALSE(to_full.write(to_full.ctx, "abc", 3));
        fclose(full);
    }
}

T_MAIN(T_TEST(starts_empty_and_takes_nothing), T_TEST(all_ways_of_appending_add_up),
       T_TEST(long_texts_keep_every_byte), T_TEST(the_maximum_is_reached_and_not_passed),
       T_TEST(without_memory_it_keeps_what_it_has_and_tells), T_TEST(texts_and_files_are_sinks))
