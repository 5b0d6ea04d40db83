/*
 * gen.c - see gen.h. A spec is a tree of heads and values whose tokens are separated by blanks (a blank inside a string is `~`), so that a
 * look may put any layout between any two of them.
 */
#include "tests/support/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { /* an attribute, or a block where value is NULL */
	const char *head, *value;
	struct node **kids;
	uint32_t n_kids, cap_kids;
	bool text;  /* label or note */
	bool fixed; /* keeps its place among its kind when the rest is shuffled */
};

struct gen {
	struct stb_arena arena;
	struct stb_rng rng;
	struct node top;
	struct node *w0_size;
	const char *rename_from, *rename_to;
	uint32_t n_storage, n_volumes, n_io, n_oltp, n_servers;
	bool by_axis, has_database, has_mix;
};

static uint32_t roll(struct stb_rng *r, uint32_t n)
{
	return (uint32_t)stb_rng_below(r, n);
}

static bool chance(struct stb_rng *r, uint32_t percent)
{
	return roll(r, 100) < percent;
}

static struct node *add(struct gen *g, struct node *to, const char *head, const char *value)
{
	struct node *n = STB_NEW(&g->arena, struct node);

	n->head = stb_arena_strdup(&g->arena, head);
	n->value = value ? stb_arena_strdup(&g->arena, value) : NULL;
	STB_ARENA_GROW(&g->arena, to->kids, to->n_kids, to->cap_kids);
	to->kids[to->n_kids++] = n;
	return n;
}

#define TEXT(...) stb_arena_printf(&g->arena, __VA_ARGS__)
#define PICK(r, ...) ((const char *const[]){ __VA_ARGS__ }[roll(r, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))])

static void texts(struct gen *g, struct node *b)
{
	if (chance(&g->rng, 40))
		add(g, b, "label", PICK(&g->rng, "\"A~label\"", "\"\u6a19\u7c64\"", "\"a~#~in~it\"", "\"q\\\"uo\\\\te\\n\\u{3bc}\""))->text = true;
	if (chance(&g->rng, 15))
		add(g, b, "note", PICK(&g->rng, "\"remember~{this}\"", "\"50%~=~half\""))->text = true;
}

/* "[ w0 , w1 ]" */
static const char *names(struct gen *g, const char *prefix, uint32_t n)
{
	const char *text = "[";

	for (uint32_t i = 0; i < n; i++)
		text = TEXT("%s%s %s%u", text, i ? " ," : "", prefix, i);
	return TEXT("%s%s ]", text, chance(&g->rng, 20) ? " ," : "");
}

static void storage_and_volumes(struct gen *g)
{
	struct stb_rng *r = &g->rng;

	g->n_storage = 1 + roll(r, 3);
	g->n_volumes = 1 + roll(r, 2);
	g->by_axis = chance(r, 70);
	for (uint32_t i = 0; i < g->n_storage; i++) {
		const char *type = PICK(r, "directory", "directory", "tmpfs", "loop");
		struct node *b = add(g, &g->top, TEXT("storage %s s%u", type, i), NULL);

		texts(g, b);
		if (!strcmp(type, "directory"))
			add(g, b, "path", TEXT("\"/srv/s%u\"", i));
		else
			add(g, b, "size", PICK(r, "4GiB", "8GiB", "10GB"));
		if (!strcmp(type, "loop") && chance(r, 40))
			add(g, b, "filesystem", PICK(r, "xfs", "ext4"));
		if (!strcmp(type, "loop") && chance(r, 40))
			add(g, b, "mount_options", "[ \"noatime\" ]");
	}
	for (uint32_t i = 0; i < g->n_volumes; i++) {
		struct node *b = add(g, &g->top, TEXT("volume v%u", i), NULL);

		texts(g, b);
		if (!g->by_axis)
			add(g, b, "storage", TEXT("s%u", roll(r, g->n_storage)));
		if (chance(r, 60))
			add(g, b, "size", PICK(r, "2GiB", "2048MiB", "1GiB + 1024MiB"));
	}
}

static void servers(struct gen *g)
{
	g->n_servers = chance(&g->rng, 25) ? 1 + roll(&g->rng, 2) : 0;
	for (uint32_t i = 0; i < g->n_servers; i++) {
		struct node *b = add(g, &g->top, TEXT("server external m%u", i), NULL);

		texts(g, b);
		add(g, b, "cpus", PICK(&g->rng, "4", "8", "2 * 8"));
		add(g, b, "memory", PICK(&g->rng, "16GiB", "64GiB"));
	}
}

static void io(struct gen *g)
{
	struct stb_rng *r = &g->rng;

	g->n_io = 1 + roll(r, 3);
	for (uint32_t i = 0; i < g->n_io; i++) {
		struct node *b = add(g, &g->top, TEXT("workload io w%u", i), NULL);
		const char *rw = PICK(r, "read", "write", "randread", "randwrite", "rw", "randrw");
		struct node *size;

		texts(g, b);
		add(g, b, "volume", TEXT("v%u", roll(r, g->n_volumes)));
		size = add(g, b, "size", PICK(r, "16MiB", "1_6MiB", "64MiB", "32MiB / 2"));
		if (i == 0)
			g->w0_size = size;
		add(g, b, "rw", rw);
		add(g, b, "filename", TEXT("\"file~%u\"", i)); /* those of a mix may not share one */
		if (strstr(rw, "rw") && chance(r, 50))
			add(g, b, "rwmixread", PICK(r, "70%", "33.3%", "100% - 20%"));
		if (chance(r, 60)) {
			add(g, b, "ioengine", PICK(r, "libaio", "io_uring"));
			add(g, b, "iodepth", PICK(r, "2", "16", "4 * ( 1 + 3 )"));
			add(g, b, "direct", "true");
		}
		if (chance(r, 60))
			add(g, b, "runtime", PICK(r, "5s", "how_long", "how_long * 2", "1min"));
		if (chance(r, 30))
			add(g, b, "ramp_time", "500ms");
		if (chance(r, 30))
			add(g, b, "error_limit", PICK(r, "0", "5"));
		if (!strncmp(rw, "rand", 4) && chance(r, 30))
			add(g, b, "randrepeat", PICK(r, "true", "false"));
	}
	g->has_mix = g->n_io > 1 && chance(r, 10);
	if (g->has_mix)
		add(g, add(g, &g->top, "workload mix mx", NULL), "run", "[ w0 , w1 ]");
}

static void oltp(struct gen *g)
{
	struct stb_rng *r = &g->rng;
	struct node *b;

	g->has_database = chance(r, 40);
	if (!g->has_database)
		return;
	b = add(g, &g->top, "database mysql db", NULL);
	texts(g, b);
	add(g, b, "volume", "v0");
	if (chance(r, 60)) {
		struct node *o = add(g, b, "options", NULL);

		add(g, o, "innodb_buffer_pool_size", PICK(r, "64MiB", "128MiB"));
		add(g, o, "innodb_flush_log_at_trx_commit", PICK(r, "1", "2"));
	}
	g->n_oltp = 1 + roll(r, 2);
	for (uint32_t i = 0; i < g->n_oltp; i++) {
		b = add(g, &g->top, TEXT("workload oltp t%u", i), NULL);
		texts(g, b);
		add(g, b, "database", "db");
		add(g, b, "script", PICK(r, "read_write", "read_only", "point_select"));
		add(g, b, "table_size", PICK(r, "1_000", "10000", "5 * 1_000"));
		add(g, b, "time", PICK(r, "5s", "how_long"));
		if (chance(r, 50))
			add(g, b, "threads", PICK(r, "2", "4"));
	}
}

static void run_of(struct gen *g, struct node *m)
{
	struct stb_rng *r = &g->rng;

	if (chance(r, 60))
		add(g, m, "repeat", PICK(r, "2", "3", "1 + 4"));
	if (chance(r, 30))
		add(g, m, "order", PICK(r, "interleaved", "balanced", "declared", "shuffled"));
	if (chance(r, 30))
		add(g, m, "fresh", PICK(r, "group", "cell", "repetition"));
	if (chance(r, 30))
		add(g, m, "seed", PICK(r, "1", "42"));
	if (chance(r, 20))
		add(g, m, "cooldown", "1s");
	if (chance(r, 15)) {
		struct node *s = add(g, m, "schedule", NULL);

		add(g, s, "days", "2");
		add(g, s, "at", "[ 03:00 , 15:30 ]");
	}
}

/* The axes of its own; their number. */
static uint32_t own_axes(struct gen *g, struct node *m)
{
	struct stb_rng *r = &g->rng;
	uint32_t n = 0;
	struct node *a, *p;

	if (g->has_mix)
		return 0;
	if (chance(r, 50)) {
		n++;
		a = add(g, m, "axis block_size", NULL);
		a->fixed = true;
		if (g->n_io > 1 && chance(r, 40))
			add(g, add(g, a, "where", NULL), "workload", "w0");
		add(g, a, "set", "workload.bs");
		add(g, a, "values", PICK(r, "[ 4KiB , 16KiB ]", "[ 8KiB ]", "[ 4096B , 8192B , 16KiB , ]"));
	}
	if (chance(r, 40)) {
		n++;
		a = add(g, m, "axis tolerance", NULL);
		a->fixed = true;
		p = add(g, a, "point none_at_all", NULL);
		p->fixed = true;
		add(g, p, "workload.error_limit", "0");
		p = add(g, a, "point three", NULL);
		p->fixed = true;
		texts(g, p);
		p->n_kids = STB_MIN(p->n_kids, 1u);
		if (p->n_kids && strcmp(p->kids[0]->head, "label"))
			p->n_kids = 0;
		add(g, p, "workload.error_limit", "3");
		add(g, p, "workload.ramp_time", "1ms");
	}
	return n;
}

static void io_matrix(struct gen *g)
{
	struct stb_rng *r = &g->rng;
	struct node *m = add(g, &g->top, "matrix io", NULL), *b;
	uint32_t own;

	texts(g, m);
	if (g->n_servers)
		add(g, m, "server", names(g, "m", g->n_servers));
	if (g->by_axis)
		add(g, m, "storage", names(g, "s", g->n_storage));
	add(g, m, "workload", g->has_mix ? TEXT("[ mx , %s", names(g, "w", g->n_io) + 2) : names(g, "w", g->n_io));
	own = own_axes(g, m);
	if (g->by_axis && g->n_storage > 1 && g->n_io > 1 && chance(r, 30)) {
		b = add(g, m, "exclude", NULL);
		add(g, b, "reason", "\"not~asked~for\"");
		b = add(g, b, "where", NULL);
		add(g, b, "storage", "s1");
		add(g, b, "workload", "w1");
	}
	if (g->by_axis && !g->has_mix && chance(r, 30)) {
		b = add(g, m, "override", NULL);
		add(g, add(g, b, "where", NULL), "storage", "s0");
		add(g, b, "workload.loops", "2");
	}
	run_of(g, m);
	if (g->by_axis && !own && chance(r, 50)) {
		b = add(g, &g->top, "report figures", NULL);
		texts(g, b);
		add(g, b, "from", "io");
		add(g, b, "rows", "storage");
		add(g, b, "columns", "workload");
		if (g->n_servers)
			add(g, b, "split", "server");
		add(g, b, "metrics", g->has_mix ? "[ w0.iops ]" : "[ iops , lat_p95 ]");
		add(g, b, "show", "[ value , percent ]");
		add(g, add(g, b, "baseline", NULL), "storage", "s0");
		if (g->has_mix)
			b->n_kids = 0, g->top.n_kids--;
	}
	if (g->by_axis && g->n_storage > 1 && !g->has_mix && chance(r, 40)) {
		b = add(g, &g->top, "claim better", NULL);
		texts(g, b);
		add(g, b, "from", "io");
		add(g, b, "metric", PICK(r, "iops", "lat_p999"));
		add(g, add(g, b, "where", NULL), "storage", "s1");
		add(g, add(g, b, "baseline", NULL), "storage", "s0");
		add(g, b, PICK(r, "percent", "improvement"), PICK(r, "90.5%..*", "*..110%", "- 5%..5%"));
	}
}

static void oltp_matrix(struct gen *g)
{
	struct node *m;

	if (!g->has_database)
		return;
	m = add(g, &g->top, "matrix oltp", NULL);
	texts(g, m);
	if (g->by_axis)
		add(g, m, "storage", names(g, "s", g->n_storage));
	add(g, m, "workload", names(g, "t", g->n_oltp));
	if (chance(&g->rng, 40)) {
		struct node *a = add(g, m, "axis sync_binlog", NULL);

		add(g, a, "set", "database.options.sync_binlog");
		add(g, a, "values", "[ 0 , 1 ]");
	}
	run_of(g, m);
}

struct gen *gen_new(uint64_t seed)
{
	struct gen *g = stb_xcalloc(1, sizeof(*g));
	struct node *b;

	stb_arena_init(&g->arena);
	stb_rng_seed(&g->rng, seed);
	if (chance(&g->rng, 50)) {
		b = add(g, &g->top, "suite generated", NULL);
		add(g, b, "title", "\"A~title\"");
		if (chance(&g->rng, 50))
			add(g, b, "source", "\"https://example.org/x#y\"");
	}
	add(g, &g->top, chance(&g->rng, 50) ? "let how_long" : "param how_long", PICK(&g->rng, "5s", "2 * 3s"));
	storage_and_volumes(g);
	servers(g);
	io(g);
	oltp(g);
	io_matrix(g);
	oltp_matrix(g);
	if (chance(&g->rng, 25)) {
		b = add(g, &g->top, "profile small", NULL);
		add(g, add(g, b, "workload io *", NULL), "size", "8MiB");
		add(g, add(g, b, "matrix io", NULL), "repeat", "1");
	}
	return g;
}

void gen_free(struct gen *g)
{
	stb_arena_fini(&g->arena);
	free(g);
}

bool gen_can(const struct gen *g, enum gen_change change)
{
	return change != GEN_RENAME_STORAGE || g->by_axis;
}

void gen_change(struct gen *g, enum gen_change change)
{
	switch (change) {
	case GEN_ATTRIBUTE:
		g->w0_size->value = "20MiB";
		return;
	case GEN_RENAME_WORKLOAD:
		g->rename_from = "w0";
		g->rename_to = "first_work";
		return;
	case GEN_RENAME_STORAGE:
		g->rename_from = "s0";
		g->rename_to = "first_class";
		return;
	case GEN_NONE:
	case GEN_N_CHANGES:
		return;
	}
}

/* --- looks --------------------------------------------------------------------------------------------------------------------------- */

struct writer {
	const struct gen *g;
	const struct gen_look *look;
	struct stb_rng rng;
	struct stb_buf out;
};

static void gap(struct writer *w)
{
	static const char *const gaps[] = { " ", " ", " ", "  ", "\n", "\n\n\n", "\t", "\r\n", " # odd\n", "\n# own line\n", "\n  # two\n\n # lines \n" };

	stb_buf_adds(&w->out, w->look->tidy ? " " : gaps[roll(&w->rng, STB_LEN(gaps))]);
}

/* Like gap(), or nothing where two tokens need none between them. */
static void tokens(struct writer *w, const char *s)
{
	while (*s) {
		const size_t n = strcspn(s, " ");
		const char *from = w->g->rename_from;

		if (from && strlen(from) == n && !memcmp(from, s, n)) {
			stb_buf_adds(&w->out, w->g->rename_to);
		} else {
			for (size_t i = 0; i < n; i++)
				stb_buf_addc(&w->out, s[i] == '~' ? ' ' : s[i]);
		}
		gap(w);
		s += n;
		s += *s == ' ';
	}
}

static void shuffle(struct writer *w, const struct node **v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t k = roll(&w->rng, i);
		const struct node *swap = v[i - 1];

		if (swap->fixed || v[k]->fixed)
			continue;
		v[i - 1] = v[k];
		v[k] = swap;
	}
}

static void write_node(struct writer *w, const struct node *n);

static void write_kids(struct writer *w, const struct node *n, uint32_t file, uint32_t n_files)
{
	const struct node **v = stb_xcalloc(n->n_kids + 1, sizeof(*v));

	for (uint32_t i = 0; i < n->n_kids; i++)
		v[i] = n->kids[i];
	if (w->look->shuffled)
		shuffle(w, v, n->n_kids);
	for (uint32_t i = 0; i < n->n_kids; i++)
		if (n_files < 2 || i % n_files == file)
			write_node(w, v[i]);
	free(v);
}

static void write_node(struct writer *w, const struct node *n)
{
	if (n->text && w->look->other_texts && chance(&w->rng, 50))
		return;
	tokens(w, n->head);
	if (n->value) {
		tokens(w, "=");
		tokens(w, n->text && w->look->other_texts ? "\"another~text\"" : n->value);
		stb_buf_adds(&w->out, w->look->tidy ? "\n" : "");
		return;
	}
	tokens(w, "{");
	write_kids(w, n, 0, 1);
	tokens(w, "}");
	stb_buf_adds(&w->out, w->look->tidy ? "\n" : "");
}

char *gen_text(const struct gen *g, const struct gen_look *look, uint32_t file, size_t *len)
{
	struct writer w = { .g = g, .look = look };

	stb_rng_seed(&w.rng, look->seed);
	stb_buf_init(&w.out);
	if (!look->tidy)
		gap(&w);
	tokens(&w, "stb 1");
	for (uint32_t i = 1; file == 0 && i < look->n_files; i++) {
		char include[40];

		snprintf(include, sizeof(include), "include \"part%u.stb\"", i);
		tokens(&w, include);
	}
	stb_rng_seed(&w.rng, look->seed); /* all files agree about the order */
	write_kids(&w, &g->top, file, look->n_files);
	*len = w.out.len;
	return stb_buf_take(&w.out);
}
