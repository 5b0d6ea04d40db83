/*
 * disturb.h - settings of this machine that make figures wander from run to run, or from machine to machine. Read only.
 */
#ifndef STB_DISTURB_H
#define STB_DISTURB_H

/* what is, why that disturbs and what would be better. The texts are valid during the call. */
typedef void stb_disturb_fn(void *ctx, const char *what, const char *have, const char *better);

/* Reads below root ("" for the real /proc and /sys). What cannot be read is passed over. */
void stb_host_disturbances(const char *root, stb_disturb_fn *fn, void *ctx);
/* The scheduler of the disk below path, where it reorders requests of a device that needs no such thing. */
void stb_host_disturbances_at(const char *root, const char *path, stb_disturb_fn *fn, void *ctx);

#endif
