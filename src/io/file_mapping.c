/* SPDX-License-Identifier: MIT */
/* A whole file in the address space, mapped when it is first wanted. */
#include "io/file_mapping.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/error.h"

ksv_status file_mapping_make(file_mapping *mapping, int fd, uint64_t file_bytes,
                             const char *path, ksv_error *error)
{
    if (file_bytes == 0 || file_bytes > PTRDIFF_MAX)
        return error_set(error, KSV_ERROR_UNSUPPORTED, path,
                         "has a size that cannot be mapped");
    void *data = mmap(NULL, (size_t)file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return error_set(error, KSV_ERROR_UNSUPPORTED, path,
                         "cannot be mapped (error %d)", errno);
    /* Else a page that is not in memory comes with megabytes around it. */
    (void)madvise(data, (size_t)file_bytes, MADV_RANDOM);
    *mapping = (file_mapping){data, file_bytes};
    return KSV_OK;
}

void file_mapping_release(file_mapping *mapping)
{
    if (mapping->data != NULL)
        (void)munmap(mapping->data, (size_t)mapping->size_bytes);
    *mapping = (file_mapping){NULL, 0};
}
