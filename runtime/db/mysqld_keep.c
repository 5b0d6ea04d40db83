/*
 * mysqld_keep.c - a loaded data set that is given out many times: the files of a server are set aside once, and copies of them are what it runs on.
 *
 *   data/  --keep: renamed-->  data.kept/  --restore: copied-->  data.part/  --renamed-->  data/
 *
 * The same with redo/ and binlog/, each on its own volume. The server never runs on the files that were loaded, so the first measurement stands
 * on the same as all others: a copy, laid out in one go. The temporary directory is made anew.
 *
 * What is cached then. The page cache has none of it (tree_copy.c). The buffer pool is what the server makes of it at its start: with
 * innodb_buffer_pool_load_at_startup, which is on by default, it reads the pages in that its dump names, and the dump is that of the stop
 * after the load, a copy like the rest; that is waited for. With the option off the pool is empty.
 *
 * Nothing of this outlives a killed run as something to go on with: the directories lie in volumes of the run, which go as a whole, and a name
 * without `.part` is given only to a copy that is complete and on disk.
 */
#include "runtime/base/tree.h"
#include "runtime/db/client.h"
#include "runtime/db/mysqld.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAX_PLACES (3 * (1 + STB_MAX_REPLICAS)) /* at most: data, redo log and binary log of each on file systems of their own */
#define ROOM_BYTES (16ull << 20)                /* beside a copy and a tenth of it */
#define POOL_STILL_NS (60 * STB_NS_PER_S)       /* without a page that is read in */
#define POOL_LOOK_NS (STB_NS_PER_S / 20)

/* A directory of the server's in its parent: kept = "data.kept", part = "data.part". */
struct place {
	int at;
	char name[64], kept[80], part[80];
	const char *path;
};

static int open_place(struct place *p, const char *path, struct stb_err *err)
{
	const char *slash = strrchr(path, '/');
	char *parent = stb_xstrdup(path);

	parent[slash - path] = '\0';
	p->path = path;
	snprintf(p->name, sizeof(p->name), "%s", slash + 1);
	snprintf(p->kept, sizeof(p->kept), "%s.kept", p->name);
	snprintf(p->part, sizeof(p->part), "%s.part", p->name);
	p->at = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->at < 0)
		stb_err_set(err, errno, "cannot open `%s`", parent);
	free(parent);
	return p->at < 0 ? -1 : 0;
}

/* The i-th of a server's, of which there are at most 3; NULL: it has no such. */
static const char *path_of(const struct stb_mysqld *m, unsigned i)
{
	return i == 0 ? m->data_dir : i == 1 ? m->redo_dir : m->binlog_dir;
}

static int each_place(struct stb_mysqld *m, int (*fn)(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err), void *ctx,
	struct stb_err *err)
{
	int r = 0;

	for (unsigned i = 0; i < 3 && r == 0; i++) {
		struct place p;

		if (!path_of(m, i))
			continue;
		if (open_place(&p, path_of(m, i), err))
			return -1;
		r = fn(m, &p, ctx, err);
		close(p.at);
	}
	if (r && m->block->span != STB_NONE && !err->span)
		err->span = m->block->span + 1;
	return r;
}

/* --- setting aside ------------------------------------------------------------------------------------------------------------------- */

struct room { /* on file systems */
	struct {
		dev_t dev;
		uint64_t need_bytes;
		const char *path; /* of a directory there */
	} on[MAX_PLACES];
	uint32_t n;
};

static int add_need(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err)
{
	struct room *room = ctx;
	struct stat st;
	uint32_t i = 0;

	if (fstat(p->at, &st)) {
		stb_err_set(err, errno, "%s: cannot look at `%s`", m->label, p->path);
		return -1;
	}
	while (i < room->n && room->on[i].dev != st.st_dev)
		i++;
	if (i == room->n) {
		STB_ASSERT(room->n < MAX_PLACES);
		room->on[room->n].dev = st.st_dev;
		room->on[room->n].need_bytes = 0;
		room->on[room->n++].path = p->path;
	}
	return stb_tree_bytes(p->at, p->name, &room->on[i].need_bytes, err);
}

/* 0 there is, 1 there is not. */
static int check_room(const struct room *room, struct stb_err *err)
{
	for (uint32_t i = 0; i < room->n; i++) {
		const uint64_t need = room->on[i].need_bytes + room->on[i].need_bytes / 10 + ROOM_BYTES;
		struct statvfs fs;

		if (statvfs(room->on[i].path, &fs) || !fs.f_blocks || (uint64_t)fs.f_bavail * fs.f_frsize >= need)
			continue;
		stb_err_set(err, 0, "there is no room for a copy of the loaded data beside it: `%s` has %llu MiB free, and %llu MiB are wanted",
			room->on[i].path, (unsigned long long)fs.f_bavail * fs.f_frsize >> 20, (unsigned long long)(need >> 20));
		return 1;
	}
	return 0;
}

static int set_aside(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err)
{
	(void)ctx;
	if (renameat(p->at, p->name, p->at, p->kept) == 0)
		return 0;
	return stb_err_set(err, errno, "%s: cannot rename `%s` to `%s`", m->label, p->path, p->kept);
}

int stb_mysqld_keep(struct stb_mysqld *const *servers, uint32_t n, struct stb_err *err)
{
	struct room room = {.n = 0};

	for (uint32_t i = 0; i < n; i++) {
		STB_ASSERT(servers[i]->pid == 0 && !servers[i]->kept);
		if (each_place(servers[i], add_need, &room, err))
			return -1;
	}
	if (check_room(&room, err))
		return 1;
	for (uint32_t i = 0; i < n; i++) {
		if (each_place(servers[i], set_aside, NULL, err))
			return -1;
		servers[i]->kept = true;
	}
	return 0;
}

/* --- giving out ---------------------------------------------------------------------------------------------------------------------- */

static bool is_told(void *ctx)
{
	return stb_mysqld_is_stopped(ctx) > 0;
}

/* What the last measurement left, and what a copy that failed did. */
static int clear(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err)
{
	(void)m;
	(void)ctx;
	return stb_tree_remove(p->at, p->name, NULL, p->path, err) || stb_tree_remove(p->at, p->part, NULL, p->part, err) ? -1 : 0;
}

static int give_copy(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err)
{
	(void)ctx;
	if (stb_tree_copy(p->at, p->kept, p->part, is_told, m, err)) {
		stb_err_wrap(err, "%s: no copy of its loaded data", m->label);
		if (err->code == ENOSPC)
			stb_err_remedy(err, "give the volume more room, or free some");
		return -1;
	}
	if (renameat(p->at, p->part, p->at, p->name) || fsync(p->at))
		return stb_err_set(err, errno, "%s: cannot rename `%s` to `%s`", m->label, p->part, p->name);
	return 0;
}

static int write_back(struct stb_mysqld *m, const struct place *p, void *ctx, struct stb_err *err)
{
	(void)m;
	(void)ctx;
	return stb_tree_forget(p->at, p->name, err);
}

static int renew_tmp(struct stb_mysqld *m, struct stb_err *err)
{
	struct place p;
	int r;

	if (open_place(&p, m->tmp_dir, err))
		return -1;
	r = stb_tree_remove(p.at, p.name, NULL, p.path, err);
	close(p.at);
	return r ? -1 : stb_server_place_mkdir(m->tmp_dir, &m->user, err);
}

int stb_mysqld_restore(struct stb_mysqld *m, struct stb_err *err)
{
	STB_ASSERT(m->pid == 0);
	if (!m->kept)
		return each_place(m, write_back, NULL, err);
	/* all of the old goes first: there may not be room for both */
	if (each_place(m, clear, NULL, err) || each_place(m, give_copy, NULL, err))
		return -1;
	return renew_tmp(m, err);
}

/* --- the buffer pool ----------------------------------------------------------------------------------------------------------------- */

static bool take_status(void *ctx, const char *const *cells, uint32_t n)
{
	if (n >= 2 && cells[1])
		snprintf(ctx, 160, "%s", cells[1]);
	return false;
}

/* "Loaded 128/512 pages", and before that nothing or that it was not begun. */
static bool is_loading(const char *status)
{
	return !status[0] || strstr(status, "not yet started") || strstr(status, "not started") || strncmp(status, "Loaded ", 7) == 0 ||
		strncmp(status, "Loading ", 8) == 0;
}

int stb_mysqld_wait_pool(struct stb_mysqld *m, struct stb_err *err)
{
	const struct stb_client_limits limits = {.connect_timeout_s = 10, .io_timeout_s = 60};
	char status[160], last[160] = "", load[8];
	struct stb_db_address address = m->address;
	uint64_t moved_ns = stb_clock_ns();
	struct stb_client *c;
	bool found;
	int r = 0;

	address.schema = NULL;
	if (stb_client_open(&c, &address, &limits, err))
		return -1;
	if (stb_client_cell(c, "SELECT @@GLOBAL.innodb_buffer_pool_load_at_startup", load, sizeof(load), &found) || !found ||
		strcmp(load, "1") != 0)
		goto out;
	for (;;) {
		status[0] = '\0';
		if (stb_client_rows(c, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'", take_status, status)) {
			r = stb_err_set(err, 0, "%s: cannot ask what it has read into its buffer pool: %s (%u)", m->label, stb_client_text(c),
				stb_client_code(c));
			break;
		}
		if (!is_loading(status))
			break;
		if (strcmp(status, last) != 0)
			moved_ns = stb_clock_ns();
		strcpy(last, status);
		if (stb_mysqld_is_stopped(m)) {
			r = stb_err_set(err, 0, "%s: interrupted while it read its buffer pool in", m->label);
			break;
		}
		if (stb_clock_ns() > moved_ns + POOL_STILL_NS) {
			r = stb_err_set(err, 0, "%s: has read nothing more into its buffer pool for %llu s, and says `%s`", m->label,
				POOL_STILL_NS / STB_NS_PER_S, status);
			stb_err_remedy(err, "see its error log; with innodb_buffer_pool_load_at_startup = OFF it begins with an empty pool");
			break;
		}
		(void)stb_clock_sleep_until(stb_clock_ns() + POOL_LOOK_NS);
	}
out:
	stb_client_close(c);
	return r;
}
