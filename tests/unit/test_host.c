/* test_host.c - the machine's record, from invented /proc and /sys trees: what is there is found, what is missing is null. */
#include "runtime/host/host.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char root[] = "/tmp/stb-host-XXXXXX";

static void put(const char *path, const char *text)
{
	char cmd[600], full[400];
	FILE *f;

	snprintf(full, sizeof full, "%s%s", root, path);
	snprintf(cmd, sizeof cmd, "mkdir -p \"$(dirname '%s')\"", full);
	cr_assert_eq(system(cmd), 0);
	f = fopen(full, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_root(void)
{
	cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
	char cmd[100];

	snprintf(cmd, sizeof cmd, "rm -rf '%s'", root);
	cr_assert_eq(system(cmd), 0);
}

TestSuite(host, .init = make_root, .fini = remove_root);

static const char *text(json_t *o, const char *a, const char *b)
{
	json_t *v = json_object_get(o, a);

	return json_string_value(b ? json_object_get(v, b) : v);
}

Test(host, an_empty_tree_gives_nulls)
{
	json_t *e = stb_host_describe(root);

	cr_assert(json_is_null(json_object_get(e, "kernel")));
	cr_assert(json_is_null(json_object_get(e, "memory_bytes")));
	cr_assert(json_is_null(json_object_get(json_object_get(e, "cpu"), "model")));
	json_decref(e);
}

Test(host, what_is_there_is_read)
{
	json_t *e;

	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz \nflags\t\t: a b\n\nprocessor\t: 1\nmodel name\t: Other\n");
	put("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 3 kB\nSwapTotal:      0 kB\n");
	put("/etc/os-release", "NAME=\"x\"\nPRETTY_NAME=\"Some Linux 12 (name)\"\n");
	put("/sys/devices/system/cpu/online", "0-3\n");
	e = stb_host_describe(root);
	cr_assert_str_eq(text(e, "cpu", "model"), "Some CPU @ 2.00GHz");
	cr_assert_str_eq(text(e, "cpu", "online"), "0-3");
	cr_assert_str_eq(text(e, "distribution", NULL), "Some Linux 12 (name)");
	cr_assert_eq(json_integer_value(json_object_get(e, "memory_bytes")), 1024 * 1024);
	cr_assert_eq(json_integer_value(json_object_get(e, "swap_bytes")), 0);
	json_decref(e);
}

Test(host, a_partition_has_the_settings_of_its_disk)
{
	struct stat st;
	char line[400], dir[200];
	json_t *p;

	cr_assert_eq(stat("/tmp", &st), 0);
	snprintf(line, sizeof line,
		"30 1 %u:%u / / rw - ext2 /dev/old rw\n31 1 %u:%u / /tmp rw,noatime shared:1 - ext4 /dev/vda1 rw,discard\n"
		"32 1 %u:%u / /etc/resolv.conf rw - ext4 /dev/vda1 rw\n33 1 %u:%u / /tm rw - ext4 /dev/vda1 rw\nbroken\n",
		major(st.st_dev), minor(st.st_dev), major(st.st_dev), minor(st.st_dev), major(st.st_dev), minor(st.st_dev), major(st.st_dev),
		minor(st.st_dev));
	put("/proc/self/mountinfo", line);
	put("/sys/devices/vda/queue/scheduler", "none [mq-deadline]\n");
	put("/sys/devices/vda/queue/rotational", "0\n");
	put("/sys/devices/vda/device/model", "A Model   \n");
	put("/sys/devices/vda/vda1/partition", "1\n");
	put("/sys/devices/vda/vda1/size", "2048\n");
	put("/sys/dev/block/x", "");
	snprintf(dir, sizeof dir, "%s/sys/dev/block/%u:%u", root, major(st.st_dev), minor(st.st_dev));
	cr_assert_eq(symlink("../../devices/vda/vda1", dir), 0);
	p = stb_host_place(root, "/tmp");
	cr_assert_str_eq(text(p, "mount", "point"), "/tmp", "of several mounts of a device the one that covers the path");
	cr_assert_str_eq(text(p, "mount", "type"), "ext4");
	cr_assert_str_eq(text(p, "mount", "options"), "rw,noatime,discard", "no option twice");
	cr_assert_str_eq(text(p, "device", "name"), "vda1");
	cr_assert_str_eq(text(p, "device", "model"), "A Model");
	cr_assert_str_eq(text(p, "device", "scheduler"), "none [mq-deadline]");
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(p, "device"), "size_bytes")), 1048576);
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(p, "device"), "rotational")), 0);
	json_decref(p);
}

Test(host, a_path_that_is_not_there_is_no_error)
{
	json_t *p = stb_host_place("", "/tmp/stb-there-is-none");

	cr_assert(json_is_null(json_object_get(p, "mount")));
	cr_assert(json_is_null(json_object_get(p, "device")));
	json_decref(p);
}

/* The real tree: whatever is mounted here, the point is a beginning of the path and no option stands twice. */
Test(host, the_mount_named_covers_the_path)
{
	json_t *p = stb_host_place("", root);
	const char *point = json_is_object(json_object_get(p, "mount")) ? text(p, "mount", "point") : "/";

	cr_assert(!strcmp(point, "/") || !strncmp(root, point, strlen(point)), "%s", point);
	json_decref(p);
}
