/* A lock in a shared library, and one that its symbols for linking do not show. */

#include <pthread.h>

pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
