/* SPDX-License-Identifier: MIT */
/* The version at run time. */
#include <keysieve/status.h>
#include <keysieve/version.h>

const char *ksv_version(void)
{
    return KSV_VERSION_STRING;
}
