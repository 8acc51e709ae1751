/*
 * query.h - the page of an answer to SQL, and of the tables that can be asked.
 */
#ifndef PLIMSOLL_REPORT_MODEL_QUERY_H
#define PLIMSOLL_REPORT_MODEL_QUERY_H

#include "base/vec.h"
#include "report/model/page.h"

#include "plimsoll/query.h"

#define PLIM_ANSWER_ROWS_DEFAULT 200u

/* The rows of an answer: the first `limit` are kept, all are counted. Zeroed but for the page. */
typedef struct plim_query_answer {
    plim_page *page;
    uint64_t limit; /* 0: none is kept */
    bool full;      /* texts are not cut */
    const char **names;
    size_t column_count;
    uint64_t seen;
    PLIM_VEC(plim_query_value *) rows; /* in the page's memory, but for the list itself */
} plim_query_answer;

/* A reader that fills an answer. False from its functions: the page could not be kept. */
plim_query_reader plim_query_answer_reader(plim_query_answer *answer);
/* The list of rows; the rest is the page's. */
void plim_query_answer_deinit(plim_query_answer *answer);

/* A table of the rows; a list of columns and values for each where the columns are too many. */
void plim_query_page(plim_page *page, const plim_query_answer *answer);
/* "12 rows", for documents whose rows are not on the page. */
void plim_query_count_page(plim_page *page, uint64_t rows);

/*
 * Tables, views and functions; or all of one of them.
 *
 * name     of a table or a view; NULL: a list
 * returns  false: there is no such table
 */
bool plim_query_schema_page(plim_page *page, const char *name);

#endif
