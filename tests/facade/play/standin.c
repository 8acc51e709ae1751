/* standin.c - what the facades of the test lead to. See calls.h. */
#include "standin.h"
#include "calls.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define TABLES_MAX 16

static plim_facade_table *tables[TABLES_MAX];
static size_t table_count;
static const char *last_unknown = "";

static long note_unknown(const plim_facade_entry *entry)
{
    last_unknown = entry->name;
    return UNKNOWN_RESULT;
}

void plim_standin_attach(plim_facade_table *table)
{
    if (table_count == TABLES_MAX || table->version != PLIM_FACADE_VERSION) {
        return;
    }
    tables[table_count++] = table;
    table->unknown = (void *)note_unknown;
    Dl_info info;
    (void)dladdr((void *)note_unknown, &info);
    void *const self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; self != NULL && i < table->entry_count; i++) {
        void *const found = dlsym(self, table->entries[i].name);
        if (found != NULL) {
            table->entries[i].target = found;
        }
    }
}

int64_t play_count(const char *soname, const char *name)
{
    for (size_t i = 0; i < table_count; i++) {
        if (strcmp(tables[i]->soname, soname) != 0) {
            continue;
        }
        for (size_t k = 0; k < tables[i]->entry_count; k++) {
            if (strcmp(tables[i]->entries[k].name, name) == 0) {
                return (int64_t)tables[i]->entries[k].count;
            }
        }
    }
    return -1;
}

const char *play_last_unknown(void)
{
    return last_unknown;
}

int64_t cudaManyIntegers(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                         int64_t g, int64_t h, int64_t i, int64_t j, int64_t k, int64_t l,
                         const char *text, int16_t m, int8_t n)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * text[0] + 14 * m + 15 * n;
}

double cudaManyReals(double a, float b, double c, float d, double e, float f, double g, float h,
                     double i, float j, double k, float l)
{
    return a + 2 * (double)b + 3 * c + 4 * (double)d + 5 * e + 6 * (double)f + 7 * g +
           8 * (double)h + 9 * i + 10 * (double)j + 11 * k + 12 * (double)l;
}

double cudaMixed(int a, double b, const int *c, float d, uint64_t e, double f, int8_t g, double h,
                 int64_t i, double j, const char *k, double l, int m, double n, float o, double p)
{
    return a + 2 * b + 3 * *c + 4 * (double)d + 5 * (double)e + 6 * f + 7 * g + 8 * h +
           9 * (double)i + 10 * j + 11 * k[0] + 12 * l + 13 * m + 14 * n + 15 * (double)o + 16 * p;
}

pair cudaPair(double first, int64_t second)
{
    return (pair){ .first = first * 2, .second = second * 3 };
}

large cudaLarge(large in, int factor, double real)
{
    for (size_t i = 0; i < sizeof in.words / sizeof in.words[0]; i++) {
        in.words[i] *= (uint64_t)factor;
    }
    in.real += real;
    return in;
}

double cudaVariable(int count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double real = va_arg(arguments, double);
        sum += (i + 1) * (real + va_arg(arguments, int));
    }
    va_end(arguments);
    return sum;
}

long double cudaLongDouble(long double a, int b)
{
    return a * b;
}

void cudaCallBack(void (*function)(void *), void *argument)
{
    function(argument);
}

int cudaWeak(void)
{
    return 5;
}

int ncclWithoutVersion(int a)
{
    return a + 1;
}

int cudaOnlyByName(int a)
{
    return a + 2;
}

int cuOnlyByName(int a)
{
    return a + 3;
}
