/* SPDX-License-Identifier: MIT */
/* How many processors there are to work with. */
#ifndef KSV_IO_PROCESSORS_H
#define KSV_IO_PROCESSORS_H

/* The processors that this process may run on, at least 1. */
unsigned processor_count(void);

#endif
