/*
 * explain_text.c - why a program ran out of memory, and the first thing to do: text in, struct out.
 *
 *     cc explain_text.c $(pkg-config --cflags --libs plimsoll) && ./a.out train.log
 */
#include <plimsoll/explain.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    plim_explanation *explanation = NULL;
    plim_error err = { 0 };
    if (argc != 2) {
        fprintf(stderr, "usage: explain_text LOG\n");
        return 2;
    }
    if (plim_explain_file(argv[1], NULL, &explanation, &err) != PLIM_OK) {
        fprintf(stderr, "explain_text: %s\n", err.message);
        return 3;
    }
    const plim_oom_message *message = plim_explanation_main(explanation);
    if (message == NULL) {
        puts("no out-of-memory message");
    } else {
        const uint64_t requested = message->request.figures[PLIM_FIGURE_REQUESTED].bytes;
        printf("line %" PRIu64 ": %s (%s)\n%s\n", message->line,
               plim_verdict_name(message->judgement.verdict), message->framework, message->why);
        if (requested != PLIM_BYTES_UNKNOWN) {
            printf("asked for %" PRIu64 " bytes\n", requested);
        }
        if (message->advice_count > 0) {
            printf("try: %s\n", message->advice[0].text);
        }
    }
    plim_explanation_destroy(explanation);
    return 0;
}
