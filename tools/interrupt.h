/* SPDX-License-Identifier: MIT */
/* Signals: which are ignored, and those that ask a build to stop. */
#ifndef KSV_TOOLS_INTERRUPT_H
#define KSV_TOOLS_INTERRUPT_H

/* A closed pipe and a file-size limit become errors of write(). */
void interrupt_ignore_limits(void);

/* From now on SIGINT, SIGTERM and SIGHUP are noted; a second one ends the
 * process. */
void interrupt_watch(void);

/* The signal that was noted, or 0. May be called by any thread. */
int interrupt_signal(void);

#endif
