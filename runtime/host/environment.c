/*
 * environment.c - the machine's part of environment.json.
 *
 * The mount under a path is the one whose number statx() tells; where the kernel tells none, of the mounts of its device in
 * /proc/self/mountinfo (proc(5)) the one whose point is the longest beginning of the path, the last one listed winning, since later mounts
 * cover earlier ones: one device may be mounted in many places, with different options. A partition's queue settings are those of its disk, one directory up in sysfs.
 */
#include "runtime/host/host.h"

#include "runtime/base/affinity.h"
#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/fsname.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_FILE (4u << 20)

char *stb_host_read_text(struct stb_arena *a, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	size_t len = 0, cap = 0;

	if (fd < 0)
		return NULL;
	for (;;) {
		if (len + 4096 > cap) {
			cap = cap ? cap * 2 : 8192;
			char *more = stb_arena_alloc(a, cap + 1);

			if (len)
				memcpy(more, text, len);
			text = more;
		}
		const ssize_t n = read(fd, text + len, cap - len);

		if (n <= 0 || len > MAX_FILE)
			break;
		len += (size_t)n;
	}
	close(fd);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static json_t *text_or_null(const char *s)
{
	json_t *v = s && *s ? json_string(s) : NULL; /* NULL as well where it is no UTF-8 */

	return v ? v : json_null();
}

static json_t *number_or_null(const char *s)
{
	char *end;
	const long long v = s ? strtoll(s, &end, 10) : 0;

	return s && end != s ? json_integer(v) : json_null();
}

/* The value of "key : value" or KEY="value" in a text of lines, in the arena; NULL where there is none. */
static char *field(struct stb_arena *a, const char *text, const char *key, char separator)
{
	const size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *v = line + n;
		size_t len;

		if (strncmp(line, key, n))
			continue;
		v += strspn(v, " \t");
		if (*v++ != separator)
			continue;
		v += strspn(v, " \t\"");
		len = strcspn(v, "\n");
		while (len && (v[len - 1] == '"' || v[len - 1] == ' '))
			len--;
		return stb_arena_strndup(a, v, len);
	}
	return NULL;
}

static json_t *kib(const char *s)
{
	return s ? json_integer(strtoll(s, NULL, 10) * 1024) : json_null();
}

json_t *stb_host_describe(const char *root)
{
	struct stb_arena a;
	struct utsname u;
	char now[26];
	json_t *out = json_object();

	stb_arena_init(&a);
	stb_clock_rfc3339(now);
	uname(&u);

	const char *cpuinfo = stb_host_read_text(&a, stb_arena_printf(&a, "%s/proc/cpuinfo", root));
	const char *meminfo = stb_host_read_text(&a, stb_arena_printf(&a, "%s/proc/meminfo", root));
	const char *release = stb_host_read_text(&a, stb_arena_printf(&a, "%s/etc/os-release", root));
	const char *online = stb_host_read_text(&a, stb_arena_printf(&a, "%s/sys/devices/system/cpu/online", root));
	const char *governor = stb_host_read_text(&a, stb_arena_printf(&a, "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", root));
	const char *huge = stb_host_read_text(&a, stb_arena_printf(&a, "%s/sys/kernel/mm/transparent_hugepage/enabled", root));
	const char *version = stb_host_read_text(&a, stb_arena_printf(&a, "%s/proc/version", root));

	json_object_set_new(out, "time", json_string(now));
	json_object_set_new(out, "kernel", text_or_null(*root ? version : u.release));
	json_object_set_new(out, "machine", text_or_null(u.machine));
	json_object_set_new(out, "distribution", text_or_null(release ? field(&a, release, "PRETTY_NAME", '=') : NULL));
	json_object_set_new(out, "cpu", json_pack("{s:o,s:o,s:i,s:i,s:o}", "model",
		text_or_null(cpuinfo ? field(&a, cpuinfo, "model name", ':') : NULL), "online", text_or_null(online), "usable",
		(int)sysconf(_SC_NPROCESSORS_ONLN), "allowed", (int)stb_affinity_count(), "governor", text_or_null(governor)));
	json_object_set_new(out, "memory_bytes", kib(meminfo ? field(&a, meminfo, "MemTotal", ':') : NULL));
	json_object_set_new(out, "swap_bytes", kib(meminfo ? field(&a, meminfo, "SwapTotal", ':') : NULL));
	json_object_set_new(out, "huge_pages", text_or_null(huge));
	stb_arena_fini(&a);
	return out;
}

/* mountinfo writes blank, tab, line end and backslash as \ooo. */
static char *unescape(char *s)
{
	char *out = s;

	for (const char *p = s; *p;) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' && p[3] <= '7') {
			*out++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 4;
		} else {
			*out++ = *p++;
		}
	}
	*out = '\0';
	return s;
}

struct mount_line {
	char *options, *point, *type, *source, *super;
	unsigned maj, min;
	uint64_t id;
};

/* "ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER". Cuts the line up. */
static bool cut_line(char *line, struct mount_line *m)
{
	char *f[64], *save = NULL;
	size_t n = 0, dash = 0;

	for (char *w = strtok_r(line, " ", &save); w && n < STB_LEN(f); w = strtok_r(NULL, " ", &save)) {
		if (!dash && n > 5 && !strcmp(w, "-"))
			dash = n;
		f[n++] = w;
	}
	if (!dash || n < dash + 4 || sscanf(f[2], "%u:%u", &m->maj, &m->min) != 2)
		return false;
	m->id = strtoull(f[0], NULL, 10);
	m->point = unescape(f[4]);
	m->options = f[5];
	m->type = f[dash + 1];
	m->source = unescape(f[dash + 2]);
	m->super = f[dash + 3];
	return true;
}

/* Whether path lies at or below point. */
static bool lies_below(const char *path, const char *point)
{
	const size_t n = strlen(point);

	if (!strcmp(point, "/"))
		return *path == '/';
	return !strncmp(path, point, n) && (!path[n] || path[n] == '/');
}

/* "rw,relatime" and "rw,size=1g": each word once. */
static const char *join_options(struct stb_arena *a, const char *options, const char *super)
{
	const char *out = options;

	for (const char *p = super; *p;) {
		const size_t n = strcspn(p, ",");
		bool there = false;

		for (const char *q = out; !there && *q;) {
			const size_t len = strcspn(q, ",");

			there = len == n && !memcmp(p, q, n);
			q += len + (q[len] == ',');
		}
		if (!there && n)
			out = stb_arena_printf(a, "%s,%.*s", out, (int)n, p);
		p += n + (p[n] == ',');
	}
	return out;
}

/* The mount's number as the kernel tells it, 0 where it does not (before Linux 5.8). */
static uint64_t mount_id(const char *path)
{
#ifdef STATX_MNT_ID
	struct statx sx;

	if (!statx(AT_FDCWD, path, 0, STATX_MNT_ID, &sx) && sx.stx_mask & STATX_MNT_ID)
		return sx.stx_mnt_id;
#else
	(void)path;
#endif
	return 0;
}

static json_t *mount_of(struct stb_arena *a, const char *root, const char *path, unsigned maj, unsigned min)
{
	char *text = stb_host_read_text(a, stb_arena_printf(a, "%s/proc/self/mountinfo", root)), *save = NULL;
	char *real = realpath(path, NULL);
	const uint64_t id = *root ? 0 : mount_id(path);
	struct mount_line m, best = { .point = NULL };
	json_t *found;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		if (!cut_line(line, &m))
			continue;
		if (id && m.id == id) {
			best = m;
			break;
		}
		if (m.maj != maj || m.min != min || (real && !lies_below(real, m.point)))
			continue;
		if (!best.point || strlen(m.point) >= strlen(best.point))
			best = m;
	}
	free(real);
	if (!best.point)
		return json_null();
	found = json_object();
	json_object_set_new(found, "point", text_or_null(best.point));
	json_object_set_new(found, "options", text_or_null(join_options(a, best.options, best.super)));
	json_object_set_new(found, "type", text_or_null(best.type));
	json_object_set_new(found, "source", text_or_null(best.source));
	return found;
}

static char *device_file(struct stb_arena *a, const char *dir, const char *name)
{
	return stb_host_read_text(a, stb_arena_printf(a, "%s/%s", dir, name));
}

/* Of /sys/dev/block/MAJ:MIN, or its disk where that is a partition. */
static json_t *device_of(struct stb_arena *a, const char *root, unsigned maj, unsigned min)
{
	const char *dir = stb_arena_printf(a, "%s/sys/dev/block/%u:%u", root, maj, min);
	const char *disk = dir, *sectors, *name;
	char *real = realpath(dir, NULL);
	json_t *out;

	if (!real)
		return json_null();
	name = strrchr(real, '/') ? strrchr(real, '/') + 1 : real;
	if (device_file(a, dir, "partition"))
		disk = stb_arena_printf(a, "%s/..", dir);
	sectors = device_file(a, dir, "size");
	out = json_object();
	json_object_set_new(out, "name", text_or_null(name));
	json_object_set_new(out, "size_bytes", sectors ? json_integer(strtoll(sectors, NULL, 10) * 512) : json_null());
	json_object_set_new(out, "model", text_or_null(device_file(a, disk, "device/model")));
	json_object_set_new(out, "serial", text_or_null(device_file(a, disk, "device/serial")));
	json_object_set_new(out, "rotational", number_or_null(device_file(a, disk, "queue/rotational")));
	json_object_set_new(out, "scheduler", text_or_null(device_file(a, disk, "queue/scheduler")));
	json_object_set_new(out, "write_cache", text_or_null(device_file(a, disk, "queue/write_cache")));
	json_object_set_new(out, "logical_block_bytes", number_or_null(device_file(a, disk, "queue/logical_block_size")));
	free(real);
	return out;
}

/* Known also where the mount is not to be seen, as in a chroot. */
static json_t *filesystem_of(const char *path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	char name[64];

	if (fd < 0)
		return json_null();
	stb_fs_name(fd, name, sizeof name);
	close(fd);
	return json_string(name);
}

json_t *stb_host_place(const char *root, const char *path)
{
	struct stb_arena a;
	struct stat st;
	json_t *out = json_object();

	json_object_set_new(out, "path", text_or_null(path));
	if (stat(path, &st)) {
		json_object_set_new(out, "filesystem", json_null());
		json_object_set_new(out, "mount", json_null());
		json_object_set_new(out, "device", json_null());
		return out;
	}
	stb_arena_init(&a);
	json_object_set_new(out, "filesystem", filesystem_of(path));
	json_object_set_new(out, "mount", mount_of(&a, root, path, major(st.st_dev), minor(st.st_dev)));
	json_object_set_new(out, "device", device_of(&a, root, major(st.st_dev), minor(st.st_dev)));
	stb_arena_fini(&a);
	return out;
}
