/* affinity.c - see affinity.h. */
#include "runtime/base/affinity.h"

#include <errno.h>
#include <sched.h>

int stb_affinity_get(pid_t thread, struct stb_cpuset *out)
{
	const size_t bytes = CPU_ALLOC_SIZE(STB_CPU_MAX);
	cpu_set_t *set = CPU_ALLOC(STB_CPU_MAX);
	int rc = -1, code = ENOMEM;

	stb_cpuset_clear(out);
	if (set) {
		rc = sched_getaffinity(thread, bytes, set);
		code = errno;
	}
	for (uint32_t cpu = 0; !rc && cpu < STB_CPU_MAX; cpu++)
		if (CPU_ISSET_S(cpu, bytes, set))
			stb_cpuset_add(out, cpu);
	CPU_FREE(set);
	errno = code;
	return rc;
}

int stb_affinity_bind(uint32_t cpu)
{
	const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set;
	int rc, code;

	STB_ASSERT(cpu < STB_CPU_MAX);
	set = CPU_ALLOC(cpu + 1);
	if (!set)
		return -1;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	rc = sched_setaffinity(0, bytes, set);
	code = errno;
	CPU_FREE(set);
	errno = code;
	return rc;
}

uint32_t stb_affinity_count(void)
{
	struct stb_cpuset set;

	return stb_affinity_get(0, &set) ? 0 : stb_cpuset_count(&set);
}
