/* test_affinity.c - which CPUs a thread may run on, against what the kernel says of it in words. */
#include "runtime/base/affinity.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Cpus_allowed_list of this process. */
static struct stb_cpuset told(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	struct stb_cpulist_error e;
	struct stb_cpuset set;
	char line[4096];

	cr_assert_not_null(f);
	stb_cpuset_clear(&set);
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, "Cpus_allowed_list:\t", 19))
			cr_assert_eq(stb_cpulist_parse(line + 19, strcspn(line + 19, "\n"), STB_CPU_MAX, &set, &e), 0);
	fclose(f);
	return set;
}

Test(affinity, is_what_the_kernel_says)
{
	const struct stb_cpuset all = told();
	struct stb_cpuset is;

	cr_assert_eq(stb_affinity_get(0, &is), 0);
	cr_expect_eq(memcmp(&is, &all, sizeof is), 0);
	cr_expect_eq(stb_affinity_count(), stb_cpuset_count(&all));
	for (uint32_t cpu = stb_cpuset_next(&all, 0); cpu != STB_CPU_NONE; cpu = stb_cpuset_next(&all, cpu + 1)) {
		cr_assert_eq(stb_affinity_bind(cpu), 0);
		is = told();
		cr_expect(stb_cpuset_count(&is) == 1 && stb_cpuset_has(&is, cpu));
		cr_expect_eq(stb_affinity_count(), 1u);
	}
}

/* Numbers that no machine has; up to them nothing is cut off. */
Test(affinity, of_what_is_not_there)
{
	const struct stb_cpuset all = told();
	const pid_t gone = fork();
	struct stb_cpuset is;

	if (!gone)
		_exit(0);
	cr_assert_eq(waitpid(gone, NULL, 0), gone);
	memset(&is, 0xff, sizeof is);
	cr_expect_eq(stb_affinity_get(gone, &is), -1);
	cr_expect_eq(errno, ESRCH);
	cr_expect(stb_cpuset_empty(&is));
	cr_expect_eq(stb_affinity_bind(STB_CPU_MAX - 1), -1);
	cr_expect_eq(errno, EINVAL);
	is = told();
	cr_expect_eq(memcmp(&is, &all, sizeof is), 0, "it may run where it might before");
}
