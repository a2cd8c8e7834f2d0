/* SPDX-License-Identifier: MIT */
/* A lock for the slow paths of objects that threads share. */
#ifndef KSV_BASE_MUTEX_H
#define KSV_BASE_MUTEX_H

#include <pthread.h>

#include <keysieve/status.h>

typedef struct mutex {
    pthread_mutex_t handle;
} mutex;

/* Not recursive. KSV_ERROR_MEMORY when the system has no room for it. */
ksv_status mutex_init(mutex *m, ksv_error *error);
void mutex_release(mutex *m);

void mutex_lock(mutex *m);
void mutex_unlock(mutex *m);

/* Lets threads wait until something that a mutex guards has changed. */
typedef struct condition {
    pthread_cond_t handle;
} condition;

/* KSV_ERROR_MEMORY when the system has no room for it. */
ksv_status condition_init(condition *c, ksv_error *error);
void condition_release(condition *c);

/* With `m` locked; it is unlocked while waiting. May return too early. */
void condition_wait(condition *c, mutex *m);
/* Wakes all that wait. */
void condition_wake(condition *c);

#endif
