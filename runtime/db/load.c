/*
 * load.c - fills the tables of a data set, as `sysbench prepare` would: multi-row INSERTs of up to 512 KiB, each committed by itself, and the
 * secondary index after the rows.
 *
 *   unit = one table, or an even part of one when there are fewer tables than processors
 *   connection i takes units i, i + n, i + 2n, ... of n connections
 *
 * The rows of a table depend on seed, table and id alone, not on how the work was shared, so every machine loads the same data. A table that
 * is loaded in parts gets its ids written out, where sysbench leaves them to AUTO_INCREMENT: the rows are the same ones, and so is the tree but
 * for the seam (200,000 rows in two parts: 45,694,976 bytes of data, against 45,678,592 in one).
 *
 * A load that was cut short is not continued but done again: the marker (dataset.c) says that it is incomplete and which tables are stb's, and
 * rows that depend on nothing but seed, table and id are the same ones the second time.
 */
#include "runtime/base/clock.h"
#include "runtime/db/dataset.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_BYTES (512 * 1024)
#define ROW_BYTES 256 /* more than a row takes as text: 3 numbers, c, pad */
#define CONNECT_TIMEOUT_S 20
#define IO_TIMEOUT_S (24 * 3600) /* building an index over terabytes is one statement */
#define CLEANUP_TIMEOUT_S 300
#define STACK_BYTES (256 * 1024)
#define MAX_CONNECTIONS 64

struct load {
	const struct stb_oltp_setup *setup;
	struct stb_dataset data;
	struct stb_phase *phase;
	uint32_t n_connections, n_parts; /* n_parts: per table */
	uint64_t *table_seed;            /* [tables] */
	_Atomic uint32_t *parts_left;    /* [tables] */
	pthread_mutex_t lock;
	bool failed;                     /* under lock: phase->err is set */
	_Atomic bool quit;
};

struct loader {
	struct load *load;
	uint32_t index;
	pthread_t thread;
	struct stb_client *client;
	char *batch; /* BATCH_BYTES */
};

static int fail(struct load *load, const char *what)
{
	pthread_mutex_lock(&load->lock);
	if (!load->failed)
		stb_err_set(&load->phase->err, 0, "cannot load the data set: %s", what);
	load->failed = true;
	atomic_store(&load->quit, true);
	pthread_mutex_unlock(&load->lock);
	return -1;
}

/* Also the parent's wish to stop ends a load with an error: half a data set is of no use. */
static bool quitting(struct load *load)
{
	if (atomic_load(&load->phase->stop) && !atomic_load(&load->quit))
		(void)fail(load, "it was stopped");
	return atomic_load(&load->quit);
}

static int query(struct loader *l, const char *sql, size_t len, size_t shown)
{
	struct stb_reply reply;
	char what[STB_ERR_TEXT];

	if (stb_client_query(l->client, sql, len, &reply) == 0)
		return 0;
	snprintf(what, sizeof(what), "`%.*s` failed: %s (%u)", (int)STB_MIN(len, shown), sql, stb_client_text(l->client),
		stb_client_code(l->client));
	return fail(l->load, what);
}

/* "(id, k, 'c', 'pad')" or without the id; returns the end. */
static char *put_row(char *at, const struct load *load, uint32_t table, uint64_t id, bool with_id)
{
	struct stb_rng rng;

	stb_rng_seed(&rng, load->table_seed[table - 1] + id * 0x9e3779b97f4a7c15u);
	*at++ = '(';
	if (with_id) {
		at = stb_sql_put_i64(at, (int64_t)id);
		*at++ = ',';
	}
	at = stb_sql_put_i64(at, (int64_t)stb_dist_draw(&load->data.keys, &rng));
	*at++ = ',';
	*at++ = '\'';
	stb_sql_fill_c(at, &rng);
	at += STB_C_LEN;
	memcpy(at, "','", 3);
	at += 3;
	stb_sql_fill_pad(at, &rng);
	at += STB_PAD_LEN;
	*at++ = '\'';
	*at++ = ')';
	return at;
}

/* Rows first..last of a table. */
static int insert_rows(struct loader *l, uint32_t table, uint64_t first, uint64_t last)
{
	struct load *load = l->load;
	const bool with_id = !load->data.auto_inc || load->n_parts > 1;
	const int head = snprintf(l->batch, BATCH_BYTES, "INSERT INTO sbtest%u(%sk, c, pad) VALUES", table, with_id ? "id, " : "");
	char *const rows = l->batch + head;

	for (uint64_t id = first; id <= last;) {
		char *at = rows;
		uint64_t n = 0;

		for (; id <= last && at + ROW_BYTES < l->batch + BATCH_BYTES; id++, n++) {
			if (n)
				*at++ = ',';
			at = put_row(at, load, table, id, with_id);
		}
		if (quitting(load) || query(l, l->batch, (size_t)(at - l->batch), (size_t)head))
			return -1;
		atomic_fetch_add_explicit(&load->phase->progress_done, n, memory_order_relaxed);
	}
	return 0;
}

static int load_unit(struct loader *l, uint32_t unit)
{
	struct load *load = l->load;
	const uint32_t table = unit / load->n_parts + 1, part = unit % load->n_parts;
	const uint64_t size = load->data.table_size;
	const uint64_t first = 1 + size * part / load->n_parts, last = size * (part + 1) / load->n_parts;
	char sql[STB_SQL_MAX];

	if (first <= last && !load->data.empty && insert_rows(l, table, first, last))
		return -1;
	/* Whoever ends last makes the index. */
	if (atomic_fetch_sub(&load->parts_left[table - 1], 1) != 1 || !load->data.create_secondary)
		return 0;
	stb_sql_create_index(sql, table);
	return query(l, sql, strlen(sql), sizeof(sql));
}

static void *loader_main(void *arg)
{
	struct loader *l = arg;
	struct load *load = l->load;
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_err err = {0};

	stb_client_thread_begin();
	if (stb_client_open(&l->client, &load->setup->addr, &limits, &err)) {
		(void)fail(load, err.what);
		goto out;
	}
	for (uint32_t unit = l->index; unit < load->data.tables * load->n_parts; unit += load->n_connections)
		if (quitting(load) || load_unit(l, unit))
			break;
out:
	stb_client_close(l->client);
	stb_client_thread_end();
	return NULL;
}

static void plan_work(struct load *load)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint32_t wanted = (uint32_t)STB_MIN(STB_MAX(cpus, 1), MAX_CONNECTIONS);
	const uint64_t batches = load->data.table_size / (BATCH_BYTES / ROW_BYTES) + 1;

	load->n_parts = load->data.tables >= wanted ? 1 : (uint32_t)STB_MIN(wanted / load->data.tables, batches);
	load->n_connections = (uint32_t)STB_MIN((uint64_t)load->data.tables * load->n_parts, wanted);
	load->table_seed = stb_xcalloc(load->data.tables, sizeof(*load->table_seed));
	load->parts_left = stb_xcalloc(load->data.tables, sizeof(*load->parts_left));
	for (uint32_t i = 0; i < load->data.tables; i++) {
		struct stb_rng rng;

		stb_rng_stream(&rng, load->setup->seed, load->setup->cell, 0, i, STB_RNG_LOAD);
		load->table_seed[i] = stb_rng_next(&rng);
		atomic_store(&load->parts_left[i], load->n_parts);
	}
}

static int create_tables(struct stb_client *c, const struct stb_dataset *d, struct stb_err *err)
{
	char sql[STB_SQL_MAX];
	struct stb_reply reply;

	for (uint32_t i = 1; i <= d->tables; i++) {
		if (d->bulk)
			stb_sql_create_bulk(sql, i);
		else
			stb_sql_create_table(sql, i, d->auto_inc, d->engine);
		if (stb_client_query(c, sql, strlen(sql), &reply))
			return stb_err_set(err, 0, "cannot load the data set: `%s` failed: %s (%u)", sql, stb_client_text(c), stb_client_code(c));
	}
	return 0;
}

static void fill_tables(struct load *load)
{
	struct loader *loaders = stb_xcalloc(load->n_connections, sizeof(*loaders));
	uint32_t n_started = 0;
	pthread_attr_t attr;
	int r = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (; n_started < load->n_connections && r == 0; n_started += r == 0) {
		struct loader *l = &loaders[n_started];

		l->load = load;
		l->index = n_started;
		l->batch = stb_xmalloc(BATCH_BYTES);
		r = pthread_create(&l->thread, &attr, loader_main, l);
	}
	pthread_attr_destroy(&attr);
	if (r) {
		char what[128];

		snprintf(what, sizeof(what), "no thread can be started: %s", strerror(r));
		(void)fail(load, what);
	}
	for (uint32_t i = 0; i < n_started; i++)
		pthread_join(loaders[i].thread, NULL);
	for (uint32_t i = 0; i < load->n_connections; i++)
		free(loaders[i].batch);
	free(loaders);
}

/* Claims the schema, loads, notes that it is complete; with `use`, only looks. */
static int carry_out(struct load *load, struct stb_client *c, struct stb_err *err)
{
	if (load->data.use)
		return stb_dataset_check(c, &load->data, true, err);
	if (stb_dataset_claim(c, &load->data, load->setup->run_mark ? load->setup->run_mark : "", err) || create_tables(c, &load->data, err))
		return -1;
	if (load->data.bulk)
		return stb_dataset_seal(c, &load->data, err);
	atomic_store(&load->phase->progress_total, load->data.empty ? 0 : load->data.table_size * load->data.tables);
	plan_work(load);
	fill_tables(load);
	return load->failed ? -1 : stb_dataset_seal(c, &load->data, err);
}

int stb_oltp_load(const struct stb_oltp_setup *setup, struct stb_phase *phase)
{
	struct load load = {.setup = setup, .phase = phase, .lock = PTHREAD_MUTEX_INITIALIZER};
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_client *c = NULL;
	int r;

	stb_phase_enter(phase, STB_STAGE_LAYOUT, stb_clock_ns());
	stb_client_setup();
	r = stb_dataset_read(&load.data, setup->dataset, &phase->err);
	if (r == 0)
		r = stb_client_open(&c, &setup->addr, &limits, &phase->err);
	if (r == 0)
		r = carry_out(&load, c, &phase->err);
	stb_client_close(c);
	free(load.table_seed);
	free((void *)load.parts_left);
	pthread_mutex_destroy(&load.lock);
	stb_phase_enter(phase, STB_STAGE_DONE, stb_clock_ns());
	return r;
}

enum stb_undo stb_oltp_cleanup(const struct stb_oltp_setup *setup, struct stb_err *err)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, CLEANUP_TIMEOUT_S};
	struct stb_client *c;
	enum stb_undo r;
	unsigned code;
	char text[512];

	stb_client_setup();
	if (stb_client_try(&c, &setup->addr, &limits, &code, text, sizeof(text))) {
		if (code == STB_MYSQL_NO_SCHEMA) /* its tables went with it */
			return STB_UNDO_GONE;
		if (stb_client_open(&c, &setup->addr, &limits, err)) /* once more, for its words */
			return STB_UNDO_FAILED;
	}
	r = stb_dataset_drop(c, setup->run_mark ? setup->run_mark : "", err);
	stb_client_close(c);
	return r;
}

uint32_t stb_oltp_tables(const struct stb_plan_block *dataset)
{
	struct stb_err ignored = {0};
	struct stb_dataset d;

	return stb_dataset_read(&d, dataset, &ignored) || d.use ? 0 : d.tables;
}
