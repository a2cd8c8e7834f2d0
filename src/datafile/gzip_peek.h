/* SPDX-License-Identifier: MIT */
/* What can be told of content whose compressed bytes have not all come. */
#ifndef KSV_DATAFILE_GZIP_PEEK_H
#define KSV_DATAFILE_GZIP_PEEK_H

#include <stdbool.h>
#include <stddef.h>

#include "datafile/gzip_decoder.h"

/* An inflater leaves the last bytes of its input alone until more have come: a
 * writer who flushes and pauses would have his last records wait. Decodes them
 * as far as they go, behind the content in the buffer; the decoder stays where
 * it is and will decode them again. How many bytes of content there are;
 * `*body_ends`: the body of the member does with them. */
size_t gzip_peek(const gzip_decoder *d, bool *body_ends);

#endif
