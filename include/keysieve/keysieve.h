/* SPDX-License-Identifier: MIT */
/* keysieve: find records by key in data files, without importing them.
 *
 * Rules that hold for every function:
 * - Handles are opaque. What an open or create function made, its close
 *   function releases; closing NULL is allowed.
 * - A pointer argument is borrowed for the call unless its comment says more.
 *   Out-parameters come last; on failure a handle written to is NULL.
 * - A handle is for one thread at a time unless its comment says that it can be
 *   shared. Different handles never disturb each other.
 * - The library prints nothing, reads no environment variables, keeps no global
 *   state and never ends the process. */
#ifndef KEYSIEVE_H
#define KEYSIEVE_H

#include <keysieve/builder.h>
#include <keysieve/dedup.h>
#include <keysieve/filter.h>
#include <keysieve/format.h>
#include <keysieve/hash.h>
#include <keysieve/index.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/range.h>
#include <keysieve/status.h>
#include <keysieve/table.h>
#include <keysieve/verify.h>
#include <keysieve/version.h>

#endif
