/*
 * calls.h - functions of a made-up vendor, chosen for how they are called: registers of both
 * kinds, the stack, structures by value and by hidden pointer, variable arguments.
 *
 *   vendor.c    the vendor's libraries (vendor_nccl.c: one without versions): all answers are
 * wrong, so that who gets there knows it standin.c   what facades lead to: right answers, and the
 * way in, plim_standin_attach() consumer.c  an object linked to the vendor's library player.c    a
 * program that loads consumers over facades and looks
 *
 * None of them is built with sanitizers: they would have to be preloaded before the facades.
 */
#ifndef PLIMSOLL_TESTS_FACADE_PLAY_CALLS_H
#define PLIMSOLL_TESTS_FACADE_PLAY_CALLS_H

#include <stdint.h>

typedef struct pair {
    double first;
    int64_t second;
} pair;

typedef struct large {
    uint64_t words[6];
    double real;
} large;

/* More than there are registers. */
int64_t cudaManyIntegers(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                         int64_t g, int64_t h, int64_t i, int64_t j, int64_t k, int64_t l,
                         const char *text, int16_t m, int8_t n);
double cudaManyReals(double a, float b, double c, float d, double e, float f, double g, float h,
                     double i, float j, double k, float l);
double cudaMixed(int a, double b, const int *c, float d, uint64_t e, double f, int8_t g, double h,
                 int64_t i, double j, const char *k, double l, int m, double n, float o, double p);
pair cudaPair(double first, int64_t second);
large cudaLarge(large in, int factor, double real);
double cudaVariable(int count, ...);
long double cudaLongDouble(long double a, int b);
void cudaCallBack(void (*function)(void *), void *argument);

int cudaNobodyKnows(int a);         /* there is no stand-in */
int cudaWeak(void);                 /* wanted weakly, by version */
int cudaWeakAbsent(void);           /* wanted weakly, and not of the vendor */
extern int64_t cudaVariableData[4]; /* a variable */

int ncclWithoutVersion(int a);
int cudaOnlyByName(int a); /* no object wants it: requested by dlsym() */
int cuOnlyByName(int a);

#endif
