/* A program of many threads that all do a little: wakers THREADS PERIOD_MS [SLEEPING]
 * Every thread wakes once a period, spread over it; the last SLEEPING of them sleep for ever instead.
 * Prints "ready"; ends with its standard input. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long period_ns;

static void *wake(void *first_ns) {
    struct timespec first = {(long)first_ns / 1000000000, (long)first_ns % 1000000000};
    struct timespec period = {period_ns / 1000000000, period_ns % 1000000000};
    nanosleep(&first, NULL);
    for (;;)
        nanosleep(&period, NULL);
    return NULL;
}

static void *rest(void *unused) {
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fputs("usage: wakers THREADS PERIOD_MS [SLEEPING]\n", stderr);
        return 2;
    }
    long threads = atol(argv[1]);
    period_ns = atol(argv[2]) * 1000000;
    long waking = threads - 1 - (argc == 4 ? atol(argv[3]) : 0);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long n = 0; n < threads - 1; n++) {
        pthread_t thread;
        void *first = (void *)(period_ns / threads * n);
        if (pthread_create(&thread, &small, n < waking ? wake : rest, first)) {
            perror("pthread_create");
            return 1;
        }
    }
    puts("ready");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
    return 0;
}
