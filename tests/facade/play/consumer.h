/* consumer.h - what consumers export. */
#ifndef PLIMSOLL_TESTS_FACADE_PLAY_CONSUMER_H
#define PLIMSOLL_TESTS_FACADE_PLAY_CONSUMER_H

/* Calls each function once, the constructor's apart. NULL, or what came out wrong. */
const char *consume(void);

#endif
