/* SPDX-License-Identifier: MIT */
/* The version of the library and its tool: the one source that CMake reads. */
#ifndef KEYSIEVE_VERSION_H
#define KEYSIEVE_VERSION_H

#define KSV_VERSION_MAJOR 0
#define KSV_VERSION_MINOR 1
#define KSV_VERSION_PATCH 0
#define KSV_VERSION_STRING "0.1.0"

#endif
