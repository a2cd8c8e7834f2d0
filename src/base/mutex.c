/* SPDX-License-Identifier: MIT */
/* A lock for the slow paths of objects that threads share. */
#include "base/mutex.h"

#include "base/error.h"

ksv_status mutex_init(mutex *m, ksv_error *error)
{
    if (pthread_mutex_init(&m->handle, NULL) != 0)
        return error_set_memory(error);
    return KSV_OK;
}

void mutex_release(mutex *m)
{
    pthread_mutex_destroy(&m->handle);
}

/* A default mutex that its owner unlocks cannot fail. */
void mutex_lock(mutex *m)
{
    (void)pthread_mutex_lock(&m->handle);
}

void mutex_unlock(mutex *m)
{
    (void)pthread_mutex_unlock(&m->handle);
}

ksv_status condition_init(condition *c, ksv_error *error)
{
    if (pthread_cond_init(&c->handle, NULL) != 0)
        return error_set_memory(error);
    return KSV_OK;
}

void condition_release(condition *c)
{
    pthread_cond_destroy(&c->handle);
}

void condition_wait(condition *c, mutex *m)
{
    (void)pthread_cond_wait(&c->handle, &m->handle);
}

void condition_wake(condition *c)
{
    (void)pthread_cond_broadcast(&c->handle);
}
