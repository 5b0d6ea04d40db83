/*
 * disturb.c - see disturb.h. Notes, never refusals: which of these matter depends on what is measured, and the record of the environment has
 * them either way.
 */
#include "runtime/host/disturb.h"
#include "runtime/host/host.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that holds a word which disturbs. */
struct setting {
	const char *path, *what;
	const char *disturbing; /* the word; "[x]" of a list of choices */
	const char *have, *better;
};

static const struct setting settings[] = {
	{ "/sys/devices/system/cpu/intel_pstate/no_turbo", "turbo", "0", "on: the clock depends on heat and on the other cores",
		"for repeatable figures echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo" },
	{ "/sys/devices/system/cpu/cpufreq/boost", "turbo", "1", "on: the clock depends on heat and on the other cores",
		"for repeatable figures echo 0 >/sys/devices/system/cpu/cpufreq/boost" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled", "transparent huge pages", "[always]", "always: the kernel merges pages while it is measured",
		"databases ask for madvise or never" },
	{ "/proc/sys/kernel/numa_balancing", "NUMA balancing", "1", "on: pages move between nodes while it is measured",
		"pin what is measured, or sysctl kernel.numa_balancing=0" },
};

static const char *text_of(struct stb_arena *a, const char *root, const char *path)
{
	return stb_host_read_text(a, stb_arena_printf(a, "%s%s", root, path));
}

static void note_governor(struct stb_arena *a, const char *root, stb_disturb_fn *fn, void *ctx)
{
	const char *governor = text_of(a, root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");

	if (governor && *governor && strcmp(governor, "performance"))
		fn(ctx, "CPU governor", stb_arena_printf(a, "%s: the clock follows the load", governor), "cpupower frequency-set -g performance");
}

static double number_after(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtod(at + strlen(key), NULL) : 0;
}

static void note_swap(struct stb_arena *a, const char *root, stb_disturb_fn *fn, void *ctx)
{
	const char *meminfo = text_of(a, root, "/proc/meminfo");
	const double total = number_after(meminfo, "SwapTotal:"), left = number_after(meminfo, "SwapFree:");

	if (total > 0)
		fn(ctx, "swap", stb_arena_printf(a, "%.0f MiB, %.0f of them used: what is measured may be swapped out", total / 1024,
			(total - left) / 1024), "swapoff -a while measuring, or sysctl vm.swappiness=1");
}

static void note_load(struct stb_arena *a, const char *root, stb_disturb_fn *fn, void *ctx)
{
	const char *loadavg = text_of(a, root, "/proc/loadavg");
	const double load = loadavg ? strtod(loadavg, NULL) : 0;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (load > 0.5 * (double)cpus)
		fn(ctx, "other work", stb_arena_printf(a, "load %.1f on %ld CPUs in the last minute", load, cpus), "measure on an idle machine");
}

void stb_host_disturbances(const char *root, stb_disturb_fn *fn, void *ctx)
{
	struct stb_arena a;

	stb_arena_init(&a);
	note_governor(&a, root, fn, ctx);
	for (size_t i = 0; i < STB_LEN(settings); i++) {
		const char *text = text_of(&a, root, settings[i].path);
		const bool list = *settings[i].disturbing == '[';

		if (text && (list ? strstr(text, settings[i].disturbing) != NULL : !strcmp(text, settings[i].disturbing)))
			fn(ctx, settings[i].what, settings[i].have, settings[i].better);
	}
	note_swap(&a, root, fn, ctx);
	note_load(&a, root, fn, ctx);
	stb_arena_fini(&a);
}

void stb_host_disturbances_at(const char *root, const char *path, stb_disturb_fn *fn, void *ctx)
{
	json_t *place = stb_host_place(root, path), *device = json_object_get(place, "device");
	const char *scheduler = json_string_value(json_object_get(device, "scheduler"));
	const char *name = json_string_value(json_object_get(device, "name"));
	const json_t *rotational = json_object_get(device, "rotational");
	struct stb_arena a;

	stb_arena_init(&a);
	if (scheduler && name && json_is_integer(rotational) && !json_integer_value(rotational) && strchr(scheduler, '[') &&
		!strstr(scheduler, "[none]") && !strstr(scheduler, "[noop]"))
		fn(ctx, stb_arena_printf(&a, "scheduler of %s", name), stb_arena_printf(&a, "%s: requests are reordered before the device sees them",
			scheduler), stb_arena_printf(&a, "echo none >/sys/block/%s/queue/scheduler", name));
	stb_arena_fini(&a);
	json_decref(place);
}
