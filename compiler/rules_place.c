/*
 * rules_place.c - rules of where things are: the servers of a cell and their pins, a database with its replicas and volumes, volumes that
 * share a class or a device.
 */
#include "compiler/pins.h"
#include "compiler/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_type(const struct stb_eblock *b, const char *type)
{
	return b && !strcmp(b->block->type->type, type);
}

/* --- servers and pins ---------------------------------------------------------------------------------------------------------------- */

static void judge_pin(struct stb_rules_run *r, const struct stb_eblock *pin)
{
	if (!pin || stb_intern_get(&r->known, &pin, sizeof(pin)))
		return;
	stb_intern_put(&r->known, &pin, sizeof(pin), r); /* any address: it was met */
	stb_pin_judge(r->x->m, pin);
}

static void judge_pins(struct stb_rules_run *r)
{
	judge_pin(r, r->s->pin);
	judge_pin(r, r->s->client_pin);
}

/* Judged where both are this machine and both have pins. */
static void shared_cpus(struct stb_rules_run *r)
{
	const struct stb_scope *s = r->s;
	const struct stb_eattr *client = stb_eattr(s->workload, "client");
	struct stb_pin_spec a, b;
	struct stb_cpuset *shared;
	struct stb_buf list;
	struct stb_diag *d;

	if (!s->pin || !s->client_pin || !client || !is_type(s->server, "host") || !is_type(s->client, "host") ||
		is_type(s->database, "external"))
		return;
	stb_pin_read(r->x->arena, s->pin, &a);
	stb_pin_read(r->x->arena, s->client_pin, &b);
	shared = stb_xcalloc(1, sizeof(*shared));
	stb_buf_init(&list);
	if (stb_pin_shares(&a, &b, r->x->m->options->topology, shared) == STB_PIN_SHARE_YES) {
		stb_cpulist_print(shared, &list);
		d = stb_find(r, a.exclusive || b.exclusive ? STB_E0475 : STB_W0474, s->workload, client, s->server, stb_eattr(s->server, "pin"),
			"server `%s` and client `%s` are pinned to the same CPUs%s%s", s->server->block->name, s->client->block->name,
			list.len ? ": " : "", stb_buf_str(&list));
		if (d) {
			stb_diag_label(r->x->sink, d, s->pin->block->span, "the server's pin");
			if (s->client_pin->block != s->pin->block)
				stb_diag_label(r->x->sink, d, s->client_pin->block->span, "the client's pin");
			stb_diag_help(r->x->sink, d, "give the client a pin of its own, with other pCPUs");
		}
	}
	stb_buf_fini(&list);
	free(shared);
}

static void vcpus_of_server(struct stb_rules_run *r)
{
	const struct stb_eattr *cpus = stb_eattr(r->s->server, "cpus"), *vcpus = stb_eattr(r->s->pin, "vcpus");
	struct stb_diag *d;

	if (!is_type(r->s->server, "host") || !cpus || !vcpus || stb_val_cmp(&vcpus->val, &cpus->val) <= 0)
		return;
	d = stb_find(r, STB_W0476, r->s->pin, vcpus, r->s->server, cpus, "pin `%s` has %s vCPUs, and server `%s` is held to %s CPUs",
		r->s->pin->block->name, stb_val_label(r->x->arena, &vcpus->val), r->s->server->block->name,
		stb_val_label(r->x->arena, &cpus->val));
	if (d)
		stb_find_other(r, d, r->s->server, cpus, "the server's CPUs");
}

/* --- databases ----------------------------------------------------------------------------------------------------------------------- */

/* An option in bytes as the server reads it: 1073741824, 512M. */
static uint64_t option_bytes(const struct stb_eattr *a)
{
	static const char suffixes[] = "kmgtpe";
	uint64_t n = 0;
	const char *p;

	if (!a || a->val.type != STB_V_STRING)
		return 0;
	for (p = a->val.str; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return UINT64_MAX;
	}
	const char *suffix = *p ? strchr(suffixes, *p | 0x20) : NULL;

	for (long shift = suffix ? suffix - suffixes + 1 : 0; shift > 0; shift--) {
		if (__builtin_mul_overflow(n, (uint64_t)1024, &n))
			return UINT64_MAX;
	}
	return n;
}

static void buffer_pool(struct stb_rules_run *r)
{
	const struct stb_eattr *pool = stb_eattr(r->s->database, "options.innodb_buffer_pool_size"),
		*memory = stb_eattr(r->s->server, "memory");
	const bool held = is_type(r->s->server, "host") && is_type(r->s->database, "mysql");
	struct stb_diag *d;

	if (!pool || !memory || option_bytes(pool) <= (uint64_t)memory->val.num)
		return;
	d = stb_find(r, held ? STB_E0472 : STB_W0473, r->s->database, pool, r->s->server, memory,
		"the buffer pool of database `%s` is %s, and server `%s` has %s of memory", r->s->database->block->name,
		stb_bytes_text(r->x->arena, option_bytes(pool)), r->s->server->block->name, stb_val_label(r->x->arena, &memory->val));
	if (!d)
		return;
	stb_find_other(r, d, r->s->server, memory, "the server's memory");
	stb_diag_help(r->x->sink, d, "leave room for connections and the system beside it: about three quarters of the memory at most");
}

static void replication_of_single(struct stb_rules_run *r)
{
	const struct stb_eblock *db = r->s->database;

	if (!stb_eattr_is(db, "topology", "single"))
		return;
	stb_without_effect(r, STB_E0459, db, "replicas", db, "topology", "a single server has no replicas");
	stb_without_effect(r, STB_E0459, db, "binlog_volume", db, "topology", "a single server keeps no binary log");
}

static void tls(struct stb_rules_run *r)
{
	static const char *const files[] = { "tls_ca", "tls_cert", "tls_key" };
	const struct stb_eblock *db = r->s->database;
	const struct stb_eattr *mode = stb_eattr(db, "tls"), *cert = stb_eattr(db, "tls_cert"), *key = stb_eattr(db, "tls_key"),
		*socket = stb_eattr(db, "socket");
	const struct stb_eattr *lone = cert ? cert : key;
	struct stb_diag *d;

	if (!mode)
		return;
	if (!strcmp(mode->val.str, "disabled")) {
		for (size_t i = 0; i < STB_LEN(files); i++)
			stb_without_effect(r, STB_E0471, db, files[i], db, "tls", "the connection is not encrypted");
		return;
	}
	if (socket) {
		d = stb_find(r, STB_E0471, db, mode, db, socket, "database `%s` is reached through a socket, which is not encrypted", db->block->name);
		if (d)
			stb_find_other(r, d, db, socket, "the socket");
	}
	if (!strncmp(mode->val.str, "verify", 6) && !stb_eattr(db, "tls_ca")) {
		d = stb_find(r, STB_E0471, db, mode, NULL, NULL, "`%s` verifies the server against nothing", stb_attr_text(r, mode));
		if (d)
			stb_diag_help(r->x->sink, d, "name the authorities that are trusted: tls_ca = \"FILE\"");
	}
	if (!cert == !key)
		return;
	d = stb_find(r, STB_E0471, db, lone, NULL, NULL, "`%s` stands without `%s`", lone->name, cert ? "tls_key" : "tls_cert");
	if (d)
		stb_diag_help(r->x->sink, d, "a client's certificate and its key belong together");
}

static void other_volumes(struct stb_rules_run *r)
{
	for (uint32_t i = 0; i < r->s->n_mounts; i++) {
		const struct stb_xmount *m = &r->s->mounts[i];
		const struct stb_eattr *fs = stb_eattr(m->volume, "filesystem"), *size;
		const uint64_t have = m->storage ? stb_volume_bytes(m->volume, m->storage) : STB_UNBOUNDED;
		const struct stb_eblock *limit = stb_eattr(m->volume, "size") ? m->volume : m->storage;
		struct stb_diag *d;

		if (fs && !strcmp(fs->val.str, "none")) {
			d = stb_find(r, STB_E0442, m->volume, fs, r->s->database, NULL, "database `%s` cannot lie on raw volume `%s`",
				r->s->database->block->name, m->volume->block->name);
			if (d)
				stb_diag_help(r->x->sink, d, "give the volume a file system");
		}
		if (strcmp(m->role, "redo") || have == STB_UNBOUNDED || r->cost.redo_bytes <= have)
			continue;
		size = stb_eattr(limit, "size");
		d = stb_find(r, STB_E0418, limit, size, r->s->database, NULL, "the redo log of database `%s` needs %s, and %s `%s` has %s",
			r->s->database->block->name, stb_bytes_text(r->x->arena, r->cost.redo_bytes), stb_kind_name(limit->block->kind),
			limit->block->name, stb_bytes_text(r->x->arena, have));
		if (d)
			stb_diag_label(r->x->sink, d, r->s->database->block->span, "the database");
	}
}

/* --- volumes side by side ------------------------------------------------------------------------------------------------------------ */

static uint32_t n_volumes(const struct stb_scope *s)
{
	return s->volume && s->storage ? 1 + s->n_mounts : 0;
}

static const struct stb_eblock *volume_at(const struct stb_scope *s, uint32_t i)
{
	return i ? s->mounts[i - 1].volume : s->volume;
}

static const struct stb_eblock *storage_at(const struct stb_scope *s, uint32_t i)
{
	return i ? s->mounts[i - 1].storage : s->storage;
}

/* Whether it stands among the first n already. */
static bool seen_before(const struct stb_scope *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (volume_at(s, i) == volume_at(s, n))
			return true;
	}
	return false;
}

static void volumes_together(struct stb_rules_run *r)
{
	const struct stb_scope *s = r->s;
	const uint64_t copies = 1 + (is_type(s->database, "mysql") ? stb_eattr_u64(s->database, "replicas", 0) : 0);

	for (uint32_t i = 0; i < n_volumes(s); i++) {
		const struct stb_eattr *have = stb_eattr(storage_at(s, i), "size");
		uint64_t sum = 0, n = 0;
		struct stb_diag *d;

		for (uint32_t k = 0; k < n_volumes(s); k++) {
			uint64_t bytes = stb_eattr_u64(volume_at(s, k), "size", 0);

			if (storage_at(s, k) != storage_at(s, i) || seen_before(s, k))
				continue;
			n += copies;
			if (__builtin_mul_overflow(bytes, copies, &bytes) || __builtin_add_overflow(sum, bytes, &sum))
				sum = UINT64_MAX;
		}
		if (!have || n < 2 || sum <= (uint64_t)have->val.num)
			continue;
		d = stb_find(r, STB_E0455, storage_at(s, i), have, s->database, NULL, "the %" PRIu64 " volumes of database `%s` claim %s of storage `%s`, which has %s",
			n, s->database ? s->database->block->name : "", stb_bytes_text(r->x->arena, sum), storage_at(s, i)->block->name,
			stb_val_label(r->x->arena, &have->val));
		if (!d)
			continue;
		if (copies > 1)
			stb_diag_note(r->x->sink, d, "each of the %" PRIu64 " servers has its own copy of them", copies);
		stb_diag_help(r->x->sink, d, "make them smaller, or take them from different classes");
	}
}

const char *stb_device_of(const struct stb_eblock *storage)
{
	static const char *const names[] = { "serial", "by_id", "namespace" };

	if (strcmp(storage->block->type->type, "device") && strcmp(storage->block->type->type, "pmem"))
		return NULL;
	for (size_t i = 0; i < STB_LEN(names); i++) {
		const struct stb_eattr *a = stb_eattr(storage, names[i]);

		if (a && a->val.str)
			return a->val.str;
	}
	return storage->block->name;
}

static void one_device(struct stb_rules_run *r)
{
	const struct stb_scope *s = r->s;
	const uint64_t replicas = is_type(s->database, "mysql") ? stb_eattr_u64(s->database, "replicas", 0) : 0;

	for (uint32_t i = 0; i < n_volumes(s); i++) {
		const char *device = stb_device_of(storage_at(s, i));
		struct stb_diag *d;

		if (!device)
			continue;
		if (replicas && !seen_before(s, i)) {
			d = stb_find(r, STB_E0456, s->database, stb_eattr(s->database, "replicas"), storage_at(s, i), NULL,
				"every replica of database `%s` has its own copy of volume `%s`, and storage `%s` is one device", s->database->block->name,
				volume_at(s, i)->block->name, storage_at(s, i)->block->name);
			if (d)
				stb_diag_label(r->x->sink, d, storage_at(s, i)->block->span, "the device");
		}
		for (uint32_t k = 0; k < i; k++) {
			const char *other = stb_device_of(storage_at(s, k));

			if (!other || strcmp(device, other) || volume_at(s, i) == volume_at(s, k))
				continue;
			d = stb_find(r, STB_E0456, volume_at(s, i), NULL, volume_at(s, k), NULL, "volumes `%s` and `%s` want the same device, `%s`",
				volume_at(s, k)->block->name, volume_at(s, i)->block->name, device);
			if (!d)
				continue;
			stb_diag_label(r->x->sink, d, volume_at(s, k)->block->span, "the other volume");
			stb_diag_help(r->x->sink, d, "let both attributes name one volume, or give each a device");
		}
	}
}

typedef void look_fn(struct stb_rules_run *r);

#define LOOK_IO(look)
#define LOOK_OLTP(look)
#define LOOK_VOLUME(look)
#define LOOK_MIX(look)
#define STB_RULE(table_, code, doc, look) LOOK_##table_(look)

static look_fn *const servers[] = {
#define LOOK_SERVER(look) look,
#define LOOK_DATABASE(look)
#include "compiler/rules.def"
#undef LOOK_SERVER
#undef LOOK_DATABASE
};

static look_fn *const databases[] = {
#define LOOK_SERVER(look)
#define LOOK_DATABASE(look) look,
#include "compiler/rules.def"
};
#undef STB_RULE

void stb_rules_look_place(struct stb_rules_run *r)
{
	for (size_t i = 0; (r->s->server || r->s->client) && i < STB_LEN(servers); i++)
		servers[i](r);
	for (size_t i = 0; r->s->database && i < STB_LEN(databases); i++)
		databases[i](r);
}
