/* test_disturb.c - settings that disturb, read from trees made here. */
#include "runtime/base/buf.h"
#include "runtime/host/disturb.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/stb-disturb-XXXXXX";

static void make_root(void)
{
	cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
	char command[100];

	snprintf(command, sizeof command, "rm -rf '%s'", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(disturb, .init = make_root, .fini = remove_root);

static void put(const char *path, const char *text)
{
	char full[300];
	FILE *f;

	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	cr_assert_not_null(f, "%s", full);
	fputs(text, f);
	fclose(f);
}

static void list(void *ctx, const char *what, const char *have, const char *better)
{
	cr_assert(*have && *better, "%s", what);
	stb_buf_printf(ctx, "%s;", what);
}

static void expect(const char *want)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_host_disturbances(root, list, &b);
	cr_assert_str_eq(stb_buf_str(&b), want);
	stb_buf_fini(&b);
}

Test(disturb, what_cannot_be_read_is_passed_over)
{
	expect("");
}

Test(disturb, a_quiet_machine_has_no_notes)
{
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/proc/sys/kernel/numa_balancing", "0\n");
	put("/proc/meminfo", "MemTotal: 1 kB\nSwapTotal:       0 kB\nSwapFree:       0 kB\n");
	put("/proc/loadavg", "0.00 0.00 0.00 1/2 3\n");
	expect("");
}

Test(disturb, each_has_its_note)
{
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
	put("/proc/sys/kernel/numa_balancing", "1\n");
	put("/proc/meminfo", "MemTotal: 1 kB\nSwapTotal:       2048 kB\nSwapFree:       1024 kB\n");
	put("/proc/loadavg", "100000.00 0.00 0.00 1/2 3\n");
	expect("CPU governor;turbo;transparent huge pages;NUMA balancing;swap;other work;");
}
