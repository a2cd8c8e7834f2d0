/* SPDX-License-Identifier: MIT */
/* A program that uses the installed library. */
#include <stdio.h>
#include <string.h>

#include <keysieve/keysieve.h>

int main(void)
{
    ksv_filter_plan plan;
    ksv_error error;
    if (ksv_filter_make_plan(1000, 0.01, 64, &plan, &error) != KSV_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("keysieve %s: %llu bytes\n", ksv_version(),
           (unsigned long long)plan.file_bytes);
    return strcmp(ksv_version(), KSV_VERSION_STRING) != 0;
}
