/* SPDX-License-Identifier: MIT */
/* Any bytes as a gzip file: by one thread and by two it is the same, and random
 * reads by its access points give what the pass gave. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/memory_file_system.h"
#include "support/gzip_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int holds)
{
    if (!holds)
        abort();
}

static void read_randomly(const ksv_file_system *fs, const gzip_bytes *content)
{
    datafile *file;
    need(datafile_open_compressed(fs, "data", "1.ksz", gzip_pass_id, NULL,
                                  &file, NULL) == KSV_OK);
    random_source random = {content->size};
    for (int i = 0; i < 30; i++) {
        uint8_t buffer[3000];
        const uint64_t offset = random_below(&random, content->size + 1);
        const size_t wanted = (size_t)random_below(&random, sizeof buffer);
        size_t expected = content->size - (size_t)offset;
        expected = expected < wanted ? expected : wanted;
        size_t got;
        need(datafile_read_at(file, offset, buffer, wanted, &got, NULL, NULL) ==
             KSV_OK);
        need(got == expected);
        need(got == 0 || memcmp(buffer, content->data + offset, got) == 0);
    }
    datafile_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    ksv_file_system fs;
    need(memory_file_system_open(NULL, &fs, NULL) == KSV_OK);
    gzip_file_write(&fs, "data", data, size);
    gzip_pass serial = {.threads = 1,
                        .spacing_bytes = 1000 << (data[size - 1] & 7),
                        .points_path = "1.ksz"};
    gzip_pass parallel = serial;
    parallel.threads = 2;
    parallel.points_path = "2.ksz";
    gzip_pass_run(&serial, &fs, "data", NULL);
    gzip_pass_run(&parallel, &fs, "data", NULL);
    need(serial.status == parallel.status);
    if (serial.status != KSV_OK) {
        need(strcmp(serial.error.text, parallel.error.text) == 0);
        need(serial.error.byte_offset == parallel.error.byte_offset);
    } else {
        need(serial.content.size == parallel.content.size);
        need(serial.content.size == 0 ||
             memcmp(serial.content.data, parallel.content.data,
                    serial.content.size) == 0);
    }
    if (serial.status == KSV_OK && serial.kind != DATAFILE_PLAIN) {
        gzip_bytes a = {0}, b = {0};
        gzip_file_read(&fs, "1.ksz", &a);
        gzip_file_read(&fs, "2.ksz", &b);
        need(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
        gzip_bytes_release(&a);
        gzip_bytes_release(&b);
        read_randomly(&fs, &serial.content);
    }
    gzip_bytes_release(&serial.content);
    gzip_bytes_release(&parallel.content);
    memory_file_system_close(&fs);
    return 0;
}
