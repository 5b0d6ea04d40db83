/*
 * doctor.c - what a spec, or stb itself, needs that this machine lacks. Nothing is touched, and nobody is connected to unless that was asked for.
 *
 * The needs of a spec are those that `run` looks at (needs.h). Without a spec there is nothing that must be there: engines, tools, privileges and
 * limits are listed with what can be done without them. What disturbs measurements is a note in either case.
 */
#include "runtime/exec/message.h"
#include "runtime/exec/needs.h"
#include "runtime/base/affinity.h"
#include "runtime/host/disturb.h"
#include "runtime/io/engine.h"
#include "runtime/storage/volume.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct doctor {
	struct stb_arena arena;
	const struct stb_plan *plan; /* NULL: stb itself */
	json_t *lines;               /* as they are printed, or to be printed as JSON */
	bool json;
	size_t n_lacking, n_unasked;
};

/* One line, each of its kind once. have and remedy may be NULL. */
static void line(struct doctor *d, const char *status, const char *what, const char *need, const char *have, const char *remedy, const char *at)
{
	json_t *one = json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:s?}", "status", status, "what", what, "need", need, "have", have, "remedy", remedy, "at", at);
	size_t i;
	json_t *other;

	if (!one) /* words of a log that are no UTF-8 */
		one = json_pack("{s:s,s:s}", "status", status, "what", "words that are no UTF-8");
	json_array_foreach(d->lines, i, other) {
		if (json_equal(one, other)) {
			json_decref(one);
			return;
		}
	}
	json_array_append_new(d->lines, one);
	if (d->json)
		return;
	printf("%-6s %s", status, what);
	if (need && *need)
		printf(": %s", need);
	if (have && *have)
		printf("%s%s", strcmp(status, "lacks") ? "; have " : "\n       why: ", have);
	putchar('\n');
	if (at && *at)
		printf("       asked for at %s\n", at);
	if (remedy && *remedy)
		printf("       what to do: %s\n", remedy);
}

static int on_need(void *ctx, const struct stb_need *n)
{
	struct doctor *d = ctx;
	const char *at = NULL;

	if (!n->asked) {
		d->n_unasked++;
		line(d, "asks", n->what, n->need, "not looked at, since that would connect", "say --connect if you trust the spec", NULL);
		return 0;
	}
	if (!n->err->set) {
		line(d, "ok", n->what, n->need, n->have, NULL, NULL);
		return 0;
	}
	if (d->plan && n->err->span)
		at = stb_plan_where(&d->arena, d->plan, n->err->span - 1);
	d->n_lacking++;
	line(d, "lacks", n->what, n->need, n->err->what, n->err->remedy, at);
	return 0;
}

static void on_disturbance(void *ctx, const char *what, const char *have, const char *better)
{
	line(ctx, "note", what, "", have, better, NULL);
}

/* --- limits that either form tells ------------------------------------------------------------------------------------------------------------ */

static unsigned long long number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long v = 0;

	if (f && fscanf(f, "%llu", &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

/* Whether a line says already that `need`, or what begins so, is not to be had. */
static bool is_lacking(const struct doctor *d, const char *need)
{
	size_t i;
	json_t *one;

	json_array_foreach(d->lines, i, one) {
		const char *status = json_string_value(json_object_get(one, "status")), *what = json_string_value(json_object_get(one, "what"));
		const char *its = json_string_value(json_object_get(one, "need"));

		if ((!strcmp(status, "lacks") && its && !strncmp(its, need, strlen(need))) || (!strcmp(status, "misses") && !strcmp(what, need)))
			return true;
	}
	return false;
}

/* By the rule of a workload that asks for it. A limit that one workload keeps and another does not is neither good nor bad by itself. */
static void tell_locked(struct doctor *d)
{
	static const char *const what = "locked memory", *const need = "rings and registered buffers of io_uring, bs x iodepth x numjobs";
	struct stb_err err;
	struct stb_buf b;
	uint64_t limit;

	if (is_lacking(d, "ioengine io_uring"))
		return;
	stb_err_clear(&err);
	stb_buf_init(&b);
	if (!stb_io_uring_lock_limit(&limit)) {
		line(d, "ok", what, need, "no limit", NULL, NULL);
	} else if (stb_io_uring_check_locked((uint64_t)sysconf(_SC_PAGESIZE), &err)) { /* not one */
		line(d, "misses", what, need, err.what, err.remedy, NULL);
	} else {
		stb_buf_adds(&b, "a limit of ");
		stb_text_bytes(&b, limit);
		stb_buf_adds(&b, " for all processes of this user");
		line(d, "note", what, need, stb_buf_str(&b), "raise it (ulimit -l) for workloads with fixedbufs = true that need more; others do without", NULL);
	}
	stb_buf_fini(&b);
}

static void tell_slots(struct doctor *d)
{
	const unsigned long long most = number_in("/proc/sys/fs/aio-max-nr"), used = number_in("/proc/sys/fs/aio-nr");

	if (most && !is_lacking(d, "ioengine libaio"))
		line(d, "ok", "libaio slots", "iodepth x numjobs of every libaio workload", stb_arena_printf(&d->arena, "%llu free of %llu",
			most > used ? most - used : 0, most), NULL, NULL);
}

static void tell_limits(struct doctor *d)
{
	struct statvfs shm;
	struct stb_buf b;
	const uint32_t cpus = stb_affinity_count();

	stb_buf_init(&b);
	if (cpus)
		line(d, "ok", "CPUs", "", stb_arena_printf(&d->arena, "%u that this process may use, of %ld", cpus, sysconf(_SC_NPROCESSORS_ONLN)), NULL,
			NULL);
	tell_slots(d);
	tell_locked(d);
	if (!statvfs("/dev/shm", &shm)) {
		stb_text_bytes(&b, (uint64_t)shm.f_bavail * shm.f_frsize);
		stb_buf_adds(&b, " free of ");
		stb_text_bytes(&b, (uint64_t)shm.f_blocks * shm.f_frsize);
		line(d, "ok", "/dev/shm", "directory classes in memory", stb_buf_str(&b), NULL, NULL);
	}
	stb_buf_fini(&b);
}

static int finish(struct doctor *d)
{
	if (d->json) {
		json_t *all = json_pack("{s:b,s:O}", "runnable", d->n_lacking == 0, "lines", d->lines);

		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else if (d->n_lacking) {
		printf("\n%zu thing%s lacking\n", d->n_lacking, d->n_lacking == 1 ? " is" : "s are");
	} else if (d->plan) {
		printf("\nthis machine can run it%s\n", d->n_unasked ? ", as far as can be seen without connecting" : "");
	}
	json_decref(d->lines);
	stb_arena_fini(&d->arena);
	return d->n_lacking ? STB_EXIT_ENVIRONMENT : STB_EXIT_OK;
}

static void begin(struct doctor *d, const struct stb_plan *p, bool json)
{
	*d = (struct doctor){ .plan = p, .json = json, .lines = json_array() };
	stb_arena_init(&d->arena);
}

/* --- a spec ----------------------------------------------------------------------------------------------------------------------------------- */

int stb_exec_doctor(const struct stb_exec_options *o, bool pins, bool connect, bool json)
{
	struct stb_run *run = stb_run_new(o);
	struct doctor d;

	begin(&d, o->plan, json);
	(void)!stb_run_needs(run, connect, on_need, &d);
	if (!pins) {
		d.n_lacking++;
		line(&d, "lacks", "pins", "the processors and nodes that they name", "see the messages on standard error",
			"lay a profile over the spec with other pins, or none (--profile); `stb topology` shows what there is", NULL);
	}
	stb_run_free(run);
	tell_limits(&d);
	stb_host_disturbances("", on_disturbance, &d);
	for (uint32_t i = 0; i < o->plan->n_blocks; i++) {
		const struct stb_plan_attr *path = stb_plan_attr(&o->plan->blocks[i], "path");

		if (!strcmp(o->plan->blocks[i].kind, "storage") && path && path->val.str)
			stb_host_disturbances_at("", path->val.str, on_disturbance, &d);
	}
	return finish(&d);
}

/* --- stb itself ------------------------------------------------------------------------------------------------------------------------------- */

static void tell_engines(struct doctor *d)
{
	for (int i = 0; i < STB_IO_N_ENGINES; i++) {
		const struct stb_io_caps *c = stb_io_caps((enum stb_io_engine_id)i);
		const char *what = stb_arena_printf(&d->arena, "ioengine %s", c->name);
		struct stb_err err;

		stb_err_clear(&err);
		if (c->ops->probe(1, 1, &err))
			line(d, "misses", what, "", err.what, err.remedy, NULL);
		else
			line(d, "ok", what, "", "usable", NULL, NULL);
	}
}

static void tell_program(struct doctor *d, const char *name, const char *for_what, const char *package)
{
	static const char *const more = ":/usr/sbin:/sbin:/usr/local/sbin:/usr/libexec";
	const char *path = getenv("PATH");
	char *all = stb_arena_printf(&d->arena, "%s%s", path ? path : "/usr/bin:/bin", more), *save = NULL;

	for (char *dir = strtok_r(all, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		const char *file = stb_arena_printf(&d->arena, "%s/%s", dir, name);

		if (!access(file, X_OK)) {
			line(d, "ok", name, for_what, file, NULL, NULL);
			return;
		}
	}
	line(d, "misses", name, for_what, NULL, stb_arena_printf(&d->arena, "install %s", package), NULL);
}

static void tell_privileges(struct doctor *d)
{
	const int fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct stb_err err;

	stb_err_clear(&err);
	if (geteuid())
		line(d, "misses", "root", "storage tmpfs, loop and zram", NULL, "run as root, or use directory classes (/dev/shm for memory)", NULL);
	else
		line(d, "ok", "root", "storage tmpfs, loop and zram", "yes", NULL, NULL);
	if (fd < 0)
		line(d, "misses", "/dev/loop-control", "storage loop", strerror(errno), "modprobe loop, as root", NULL);
	else
		line(d, "ok", "/dev/loop-control", "storage loop", "it opens", NULL, NULL);
	if (fd >= 0)
		close(fd);
	if (stb_zram_check(&err)) /* looks, and adds none */
		line(d, "misses", "/sys/class/zram-control", "storage zram", err.what, err.remedy, NULL);
	else
		line(d, "ok", "/sys/class/zram-control", "storage zram", "devices can be added", NULL, NULL);
}

static void tell_server(struct doctor *d)
{
	const struct stb_plan_block any = { .kind = "database", .type = "mysql", .name = "any", .span = STB_NONE };
	const char *path, *version;
	struct stb_err err;

	stb_err_clear(&err);
	if (stb_mysqld_binary(&any, &d->arena, &path, &version, &err))
		line(d, "misses", "mariadbd or mysqld", "database mysql", NULL, err.remedy, NULL);
	else
		line(d, "ok", "mariadbd or mysqld", "database mysql", stb_arena_printf(&d->arena, "%s, %s", path, version), NULL, NULL);
}

static void tell_here(struct doctor *d)
{
	char *cwd = getcwd(NULL, 0);
	struct statvfs vfs;
	struct stb_buf b;

	stb_buf_init(&b);
	if (cwd && !statvfs(cwd, &vfs) && vfs.f_blocks) {
		stb_text_bytes(&b, (uint64_t)vfs.f_bavail * vfs.f_frsize);
		stb_buf_adds(&b, " free");
	}
	if (cwd && !access(cwd, W_OK | X_OK))
		line(d, "ok", "this directory", "run directories", stb_arena_printf(&d->arena, "%s %s", cwd, stb_buf_str(&b)), NULL, NULL);
	else
		line(d, "misses", "this directory", "run directories", cwd ? "it cannot be written to" : strerror(errno),
			"name another place with stb run -o DIR", NULL);
	stb_buf_fini(&b);
	if (cwd)
		stb_host_disturbances_at("", cwd, on_disturbance, d);
	free(cwd);
}

int stb_exec_doctor_self(bool json)
{
	struct doctor d;

	begin(&d, NULL, json);
	tell_engines(&d);
	tell_privileges(&d);
	tell_program(&d, "mkfs.ext4", "filesystem ext4 on loop and zram classes", "e2fsprogs");
	tell_program(&d, "mkfs.xfs", "filesystem xfs on loop and zram classes", "xfsprogs");
	tell_server(&d);
	tell_here(&d);
	tell_limits(&d);
	stb_host_disturbances("", on_disturbance, &d);
	return finish(&d);
}
