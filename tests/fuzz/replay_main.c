/* SPDX-License-Identifier: MIT */
/* Replays the corpus of a fuzz target without a fuzzer: every file of the given
 * directories, whole, then cut short and with single bits flipped. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    fseek(f, 0, SEEK_END);
    long length = ftell(f);
    rewind(f);
    uint8_t *data = length >= 0 ? malloc((size_t)length + 1) : NULL;
    *size = data != NULL ? fread(data, 1, (size_t)length, f) : 0;
    fclose(f);
    return data;
}

/* A copy of exact size, so that a sanitizer sees a read past its end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL)
        exit(1);
    if (size > 0)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void replay(uint8_t *data, size_t size)
{
    run(data, size);
    size_t step = size / 64 + 1;
    for (size_t i = 0; i < size; i += step) {
        run(data, i);
        data[i] ^= (uint8_t)(1u << (i % 8));
        run(data, size);
        data[i] ^= (uint8_t)(1u << (i % 8));
    }
}

static int replay_directory(const char *directory)
{
    DIR *d = opendir(directory);
    if (d == NULL)
        return 0;
    int count = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        size_t size;
        uint8_t *data = e->d_name[0] != '.' ? read_file(path, &size) : NULL;
        if (data == NULL)
            continue;
        replay(data, size);
        free(data);
        count++;
    }
    closedir(d);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay_directory(argv[i]);
    printf("%d inputs replayed\n", count);
    if (count == 0)
        fprintf(stderr, "no corpus found\n");
    return count > 0 ? 0 : 1;
}
