/*
 * host.h - what this machine is, for environment.json: kernel, processors, memory, and what lies under a path.
 *
 * Reads /proc and /sys below `root` ("" for the real ones, a directory in tests). What cannot be read is null in the record, never left out
 * silently and never an error. No state.
 */
#ifndef STB_HOST_H
#define STB_HOST_H

#include "runtime/base/arena.h"

struct json_t; /* jansson's; the caller owns what is returned */

/* {kernel, machine, distribution, cpu: {model, online, usable, allowed, governor}, memory_bytes, huge_pages, swap_bytes, time} */
struct json_t *stb_host_describe(const char *root);
/*
 * {path, mount: {point, type, source, options}, device: {name, model, serial, rotational, scheduler, size_bytes}} of the file system that
 * holds path; device is null where none lies below (tmpfs, network).
 */
struct json_t *stb_host_place(const char *root, const char *path);

/* The text of a small file of /proc or /sys without trailing blanks, in the arena; NULL where it cannot be read. For this room. */
char *stb_host_read_text(struct stb_arena *a, const char *path);

#endif
