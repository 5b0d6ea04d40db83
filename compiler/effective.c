/*
 * effective.c - what is in force for a block in a cell: default < declaration < override < profile < axis, and what
 * axes bind.
 *
 * Two steps of interning keep this per distinct combination rather than per cell. The first key is what could matter:
 * the block, the settings that touch it and the blocks that axes offer; a cell that finds its key pays for a look-up
 * only. The second is the outcome: two ways to the same values and origins give one block.
 *
 * Contradictions are found here because only here it is known what meets: two overrides that differ, an override or a
 * profile that sets what an axis sets, two axes that set one attribute. Each is reported once.
 */
#include "compiler/expand.h"

#include <stdlib.h>
#include <string.h>

struct making {
	struct stb_expansion *x;
	const struct stb_block *block;
	const struct stb_xmatrix *m;
	const uint32_t *point;
	uint32_t cell;
	bool bind;
	const struct stb_relevant *rel;
	uint32_t n_rel;
	struct stb_eblock *out;
	uint32_t cap_attrs;
};

static uint8_t name_hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return (uint8_t)(h >> 24 ^ h >> 8);
}

/* Where the shape keeps the row of that name, or where it would. */
static uint8_t *name_slot(const struct stb_shape *shape, const char *name)
{
	uint8_t at = name_hash(name);

	while (shape->slots[at] && strcmp(shape->rows[shape->slots[at] - 1]->name, name))
		at++;
	return (uint8_t *)&shape->slots[at];
}

const struct stb_eattr *stb_eattr(const struct stb_eblock *b, const char *name)
{
	if (b && b->places) {
		const uint8_t row = *name_slot(b->shape, name);

		if (row)
			return b->places[row - 1] ? &b->attrs[b->places[row - 1] - 1] : NULL;
	}
	for (uint32_t i = 0; b && i < b->n_attrs; i++) { /* entries of options, or a block in the making */
		if (!strcmp(b->attrs[i].name, name))
			return &b->attrs[i];
	}
	return NULL;
}

uint64_t stb_eattr_u64(const struct stb_eblock *b, const char *name, uint64_t fallback)
{
	const struct stb_eattr *a = stb_eattr(b, name);

	return a && a->val.num >= 0 && a->val.den > 0 ? (uint64_t)a->val.num / (uint64_t)a->val.den : fallback;
}

bool stb_eattr_is(const struct stb_eblock *b, const char *name, const char *word)
{
	const struct stb_eattr *a = stb_eattr(b, name);

	return a && a->val.str && !strcmp(a->val.str, word);
}

bool stb_is_block_class(const struct stb_eblock *storage)
{
	static const char *const types[] = { "loop", "device", "lvm", "pmem", "zram", "kubernetes" };

	for (size_t i = 0; i < STB_LEN(types); i++) {
		if (!strcmp(storage->block->type->type, types[i]))
			return true;
	}
	return false;
}

bool stb_is_existing_device(const struct stb_eblock *storage)
{
	const char *type = storage->block->type->type;

	return !strcmp(type, "device") || !strcmp(type, "lvm") || !strcmp(type, "pmem");
}

bool stb_eattr_true(const struct stb_eblock *b, const char *name)
{
	const struct stb_eattr *a = stb_eattr(b, name);

	return a && a->val.type == STB_V_BOOL && a->val.num;
}

/* --- contradictions --- */

static void clash(struct making *mk, enum stb_code code, struct stb_span at, struct stb_span other, const char *what,
	const char *key, const char *label)
{
	struct stb_expansion *x = mk->x;
	const uint32_t place[3] = { (uint32_t)code, at.file, at.begin };
	struct stb_diag *d;

	if (stb_intern_get(&x->reported, place, sizeof(place)))
		return;
	stb_intern_put(&x->reported, place, sizeof(place), x);
	d = stb_diag(x->sink, code, at, "%s `%s` of %s `%s`", what, key, stb_kind_name(mk->block->kind),
		mk->block->name);
	stb_diag_label(x->sink, d, other, "%s", label);
	stb_diag_note(x->sink, d, "met in cell %s of matrix `%s`", stb_xcell_label(x, mk->cell), mk->m->block->name);
}

/* `iodepth = 16` where it stands on one line; of an axis's list, away from its path, the item alone. */
static struct stb_span setting_span(const struct stb_expansion *x, const struct stb_setting *s)
{
	const struct stb_span key = s->key_span, value = s->value_span;

	if (value.file == STB_NO_FILE)
		return key;
	if (key.file == value.file && key.end <= value.begin) {
		const struct stb_source_file *f = &x->m->c->sources.files[key.file];

		if (!memchr(f->bytes + key.end, '\n', value.begin - key.end))
			return stb_span_join(key, value);
	}
	return value;
}

/* --- one attribute --- */

static struct stb_eattr *add_attr(struct making *mk, const struct stb_schema_attr *row, const char *name)
{
	struct stb_eblock *b = mk->out;

	STB_ARENA_GROW(mk->x->arena, b->attrs, b->n_attrs, mk->cap_attrs);
	struct stb_eattr *a = &b->attrs[b->n_attrs++];

	*a = (struct stb_eattr){ .row = row, .name = name, .span = STB_NO_SPAN };
	return a;
}

struct choice {
	const struct stb_setting *axis, *over, *profile, *line;
	const struct stb_xsetting *axis_from;
};

static void choose(struct making *mk, const char *key, struct choice *c)
{
	const struct stb_setting *own = stb_block_setting(mk->block, key);

	*c = (struct choice){ 0 };
	if (own && own->origin == STB_FROM_PROFILE)
		c->profile = own;
	else
		c->line = own;
	for (uint32_t i = 0; i < mk->n_rel; i++) {
		const struct stb_relevant *r = &mk->rel[i];

		if (strcmp(r->made->key, key))
			continue;
		if (r->from->origin == STB_FROM_AXIS) {
			if (c->axis)
				clash(mk, STB_E0513, r->made->value_span, c->axis->value_span, "two axes set", key,
					"the other one is here");
			c->axis = r->made;
			c->axis_from = r->from;
		} else if (r->from->origin == STB_FROM_PROFILE) {
			if (c->profile && c->profile != own && !stb_val_equal(&c->profile->val, &r->made->val))
				clash(mk, STB_E0512, setting_span(mk->x, r->made), setting_span(mk->x, c->profile),
					"two overrides differ on", key,
					"the other one is here");
			c->profile = r->made;
		} else {
			if (c->over && !stb_val_equal(&c->over->val, &r->made->val))
				clash(mk, STB_E0512, setting_span(mk->x, r->made), setting_span(mk->x, c->over),
					"two overrides differ on", key,
					"the other one is here");
			c->over = r->made;
		}
	}
	if (c->axis && c->over)
		clash(mk, STB_E0513, setting_span(mk->x, c->over), c->axis->value_span,
			"an override sets what an axis sets:", key,
			"the axis sets it here");
	if (c->axis && c->profile)
		clash(mk, STB_E0514, setting_span(mk->x, c->profile), c->axis->value_span,
			"the profile sets what an axis sets:", key,
			"the axis sets it here");
}

/* ${cell.AXIS} in an address becomes the cell's value on that axis. */
static const char *interpolate(struct making *mk, const char *text)
{
	struct stb_buf b;
	const char *at = text, *p;

	stb_buf_init(&b);
	while ((p = strstr(at, "${cell."))) {
		const char *name = p + strlen("${cell.");
		const size_t len = strcspn(name, "}");
		const char *axis_name = stb_arena_strndup(mk->x->arena, name, len);
		const uint32_t axis = stb_xmatrix_axis(mk->m, axis_name, mk->m->n_axes);

		stb_buf_add(&b, at, (size_t)(p - at));
		if (axis != STB_NONE && mk->point[axis] != STB_NONE)
			stb_buf_adds(&b, mk->m->axes[axis].values[mk->point[axis]].key);
		else
			stb_diag(mk->x->sink, STB_E0506, mk->block->span,
				"`${cell.%s}` in %s `%s`: the cell has no value on such an axis", axis_name,
				stb_kind_name(mk->block->kind), mk->block->name);
		at = name + len + (name[len] == '}');
	}
	stb_buf_adds(&b, at);
	text = stb_arena_strdup(mk->x->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return text;
}

static const struct stb_block *offered(const struct stb_xmatrix *m, const uint32_t *point, int kind)
{
	for (uint32_t i = 0; i < m->n_leading; i++) {
		if (m->axes[i].kind == kind)
			return m->axes[i].values[point[i]].block;
	}
	return NULL;
}

static struct stb_span axis_item_span(const struct making *mk, int kind)
{
	for (uint32_t i = 0; i < mk->m->n_axes; i++) {
		if (mk->m->axes[i].kind == kind)
			return mk->m->axes[i].values[mk->point[i]].span;
	}
	return STB_NO_SPAN;
}

/* The default where there are replicas at all; topology stands before it in the schema. */
static const struct stb_val one_replica = { .type = STB_V_COUNT, .num = 1, .den = 1 };

static void make_attr(struct making *mk, const struct stb_schema_attr *row, const char *key, const struct stb_val *def)
{
	const struct stb_setting *s;
	struct choice c;
	struct stb_eattr *a;

	if (!strcmp(key, "replicas") && row->kind == STB_K_DATABASE && !stb_eattr_is(mk->out, "topology", "single"))
		def = &one_replica;
	choose(mk, key, &c);
	s = c.axis ? c.axis : c.profile ? c.profile : c.over ? c.over : c.line;
	if (s && s->val.type != STB_V_NONE) {
		a = add_attr(mk, row, s->key);
		a->val = s->val;
		a->origin = s->origin;
		a->is_default = def->type != STB_V_NONE && stb_val_equal(def, &s->val);
		a->span = setting_span(mk->x, s);
		if (c.axis)
			a->axis = c.axis_from->axis;
		if ((row->flags & STB_INTERPOLATES_CELL) && a->val.str && strstr(a->val.str, "${cell."))
			a->val.str = interpolate(mk, a->val.str);
	} else if (def->type != STB_V_NONE) {
		a = add_attr(mk, row, row->name);
		a->val = *def;
		a->is_default = true;
	} else if (row->flags & STB_BOUND && mk->bind) {
		const struct stb_block *b = offered(mk->m, mk->point, row->ref_kind);

		if (!b)
			return;
		a = add_attr(mk, row, row->name);
		a->val = stb_val_str(STB_V_REF, b->name);
		a->origin = STB_FROM_AXIS;
		a->axis = stb_kind_name((enum stb_kind)row->ref_kind);
		a->span = axis_item_span(mk, row->ref_kind);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The entries of options { }: those of the declaration and those that settings bring, by name. */
static void make_map(struct making *mk, const struct stb_schema_attr *row)
{
	const size_t len = strlen(row->name);
	const uint32_t most = mk->block->n_settings + mk->n_rel;
	const char **keys = STB_NEW_ARRAY(mk->x->arena, const char *, most + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < most; i++) {
		const char *key = i < mk->block->n_settings ? mk->block->settings[i].key :
			mk->rel[i - mk->block->n_settings].made->key;

		if (!strncmp(key, row->name, len) && key[len] == '.')
			keys[n++] = key;
	}
	qsort(keys, n, sizeof(*keys), by_text);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || strcmp(keys[i], keys[i - 1]))
			make_attr(mk, row, keys[i], &(struct stb_val){ 0 });
	}
}

/* --- the block --- */

/* Rules ask for a hundred attributes by name, of every combination: where each lies is worked out once a block. */
static void place_attrs(struct stb_expansion *x, struct stb_eblock *b)
{
	const struct stb_shape *shape = stb_shape(x, b->block->type);

	b->shape = shape;
	b->places = STB_NEW_ARRAY(x->arena, uint8_t, shape->n_rows);
	for (uint32_t i = 0, row = 0; i < b->n_attrs && i < UINT8_MAX; i++) {
		while (row < shape->n_rows && shape->rows[row] != b->attrs[i].row)
			row++;
		if (row < shape->n_rows && !(shape->rows[row]->flags & STB_OPEN_MAP))
			b->places[row] = (uint8_t)(i + 1);
	}
}

static struct stb_eblock *intern_content(struct stb_expansion *x, struct stb_eblock *b)
{
	struct stb_eblock *known;
	struct stb_buf key, id;

	stb_buf_init(&key);
	stb_buf_init(&id);
	stb_identity_block(&key, b, false);
	b->full_len = (uint32_t)key.len;
	for (uint32_t i = 0; i < b->n_attrs; i++)
		stb_buf_printf(&key, " %d%d%s", (int)b->attrs[i].origin, b->attrs[i].is_default,
			b->attrs[i].axis ? b->attrs[i].axis : "");
	known = stb_intern_get(&x->by_content, stb_buf_str(&key), (uint32_t)key.len);
	if (!known) {
		stb_identity_block(&id, b, true);
		b->id_json = stb_arena_strndup(x->arena, stb_buf_str(&id), id.len);
		b->content = stb_arena_strndup(x->arena, stb_buf_str(&key), key.len);
		b->plan_block = STB_NONE;
		place_attrs(x, b);
		stb_intern_lend(&x->by_content, b->content, (uint32_t)key.len, b);
		known = b;
	}
	stb_buf_fini(&id);
	stb_buf_fini(&key);
	return known;
}

static bool is_row_of(const struct stb_schema_attr *row, const struct stb_schema_type *type)
{
	return row->kind == type->kind && !(row->flags & STB_STRUCTURAL) && stb_schema_applies(row, type->type) &&
		!(row->flags & STB_INNER) && strcmp(row->name, "label") && strcmp(row->name, "note") && strcmp(row->name, "like");
}

const struct stb_shape *stb_shape(struct stb_expansion *x, const struct stb_schema_type *type)
{
	size_t n_types, n_rows;
	const struct stb_schema_type *types = stb_schema_types(&n_types);
	const struct stb_schema_attr *rows = stb_schema_rows(&n_rows);
	struct stb_shape *shape;

	if (!x->shapes)
		x->shapes = STB_NEW_ARRAY(x->arena, struct stb_shape, n_types);
	shape = &x->shapes[type - types];
	if (shape->type)
		return shape;
	shape->type = type;
	shape->rows = STB_NEW_ARRAY(x->arena, const struct stb_schema_attr *, n_rows);
	shape->defaults = STB_NEW_ARRAY(x->arena, struct stb_val, n_rows);
	for (size_t i = 0; i < n_rows; i++) {
		if (!is_row_of(&rows[i], type))
			continue;
		if (!stb_schema_default(x->arena, &rows[i], &shape->defaults[shape->n_rows]))
			shape->defaults[shape->n_rows] = (struct stb_val){ 0 };
		if ((rows[i].flags & STB_BOUND) && shape->n_bound < STB_LEN(shape->bound))
			shape->bound[shape->n_bound++] = rows[i].ref_kind;
		shape->rows[shape->n_rows++] = &rows[i];
		STB_ASSERT(shape->n_rows < STB_LEN(shape->slots) / 2);
		*name_slot(shape, rows[i].name) = (uint8_t)shape->n_rows;
	}
	return shape;
}

static struct stb_eblock *make_block(struct making *mk)
{
	const struct stb_shape *shape = stb_shape(mk->x, mk->block->type);

	mk->out = STB_NEW(mk->x->arena, struct stb_eblock);
	mk->out->block = mk->block;
	mk->cap_attrs = shape->n_rows + mk->block->n_settings + mk->n_rel;
	mk->out->attrs = STB_NEW_ARRAY(mk->x->arena, struct stb_eattr, mk->cap_attrs);
	for (uint32_t i = 0; i < shape->n_rows; i++) {
		if (shape->rows[i]->flags & STB_OPEN_MAP)
			make_map(mk, shape->rows[i]);
		else
			make_attr(mk, shape->rows[i], shape->rows[i]->name, &shape->defaults[i]);
	}
	return intern_content(mk->x, mk->out);
}

static void note_fallen(struct stb_expansion *x, const struct stb_xsetting *s, const struct stb_block *b)
{
	const char *text = stb_arena_printf(x->arena, "the override of `%s` falls away: profile `%s` replaces %s `%s`",
		s->text, x->m->profile ? x->m->profile : "", stb_kind_name(b->kind), b->name);

	for (uint32_t i = 0; i < x->n_fallen; i++) {
		if (!strcmp(x->fallen[i], text))
			return;
	}
	STB_ARENA_GROW(x->arena, x->fallen, x->n_fallen, x->cap_fallen);
	x->fallen[x->n_fallen++] = text;
}

/* The settings in force that touch the block; marks them as having touched something in this cell. */
static void find_relevant(struct making *mk, const struct stb_xsettings *active)
{
	for (uint32_t i = 0; i < active->n; i++) {
		struct stb_xsetting *s = active->items[i];
		const struct stb_setting *made = stb_xsetting_for(s, mk->block);

		if (s->origin == STB_FROM_OVERRIDE && mk->block->replaced && s->kind == mk->block->kind &&
			(!s->block_name || !strcmp(s->block_name, mk->block->name))) {
			s->seen = mk->cell + 1;
			note_fallen(mk->x, s, mk->block);
			continue;
		}
		if (!made)
			continue;
		s->seen = mk->cell + 1;
		STB_ARENA_GROW(mk->x->arena, mk->x->relevant, mk->n_rel, mk->x->cap_relevant);
		mk->x->relevant[mk->n_rel++] = (struct stb_relevant){ s, made };
	}
	mk->rel = mk->x->relevant;
}

bool stb_wants_cell(const struct stb_setting *s)
{
	return (s->row->flags & STB_INTERPOLATES_CELL) && s->val.str && strstr(s->val.str, "${cell.");
}

static bool wants_cell(const struct making *mk)
{
	for (uint32_t i = 0; i < mk->block->n_settings; i++) {
		if (stb_wants_cell(&mk->block->settings[i]))
			return true;
	}
	for (uint32_t i = 0; i < mk->n_rel; i++) {
		if (stb_wants_cell(mk->rel[i].made))
			return true;
	}
	return false;
}

void stb_key_add(struct stb_expansion *x, const void *part)
{
	STB_ARENA_GROW(x->arena, x->key, x->n_key, x->cap_key);
	x->key[x->n_key++] = part;
}

void stb_key_add_offer(struct stb_expansion *x, const struct stb_xmatrix *m, const uint32_t *point, enum stb_kind kind)
{
	stb_key_add(x, offered(m, point, (int)kind));
}

/* What axes offer for the references that blocks of the type may leave to them. */
static void add_offers(struct stb_expansion *x, const struct stb_block *block, const struct stb_xmatrix *m, const uint32_t *point)
{
	const struct stb_shape *shape = stb_shape(x, block->type);

	for (uint32_t i = 0; i < shape->n_bound; i++)
		stb_key_add(x, offered(m, point, shape->bound[i]));
}

struct stb_eblock *stb_effective(struct stb_expansion *x, const struct stb_block *block,
	const struct stb_xsettings *active, const struct stb_xmatrix *m, const uint32_t *point, uint32_t cell, bool bind)
{
	struct making mk = { .x = x, .block = block, .m = m, .point = point, .cell = cell, .bind = bind };
	struct stb_eblock *b;
	uint32_t len;

	find_relevant(&mk, active);
	x->n_key = 0;
	stb_key_add(x, block);
	stb_key_add(x, bind ? x : NULL); /* also apart from the keys of stb_effective_volume() */
	if (bind)
		add_offers(x, block, m, point);
	for (uint32_t i = 0; i < mk.n_rel; i++)
		stb_key_add(x, mk.rel[i].from);
	if (wants_cell(&mk)) {
		stb_key_add(x, m);
		for (uint32_t i = 0; i < m->n_axes; i++)
			stb_key_add(x, (const void *)(uintptr_t)point[i]); /* a number, not an address */
	}
	len = x->n_key * (uint32_t)sizeof(*x->key);
	b = stb_intern_get(&x->by_source, x->key, len);
	if (!b) {
		b = make_block(&mk);
		stb_intern_put(&x->by_source, x->key, len, b);
	}
	return b;
}

/* --- volumes: what the class says where the volume is silent --- */

static const char *const from_class[] = { "filesystem", "mkfs_options", "mount_options" };

bool stb_is_from_class(const struct stb_schema_attr *row)
{
	for (size_t i = 0; i < STB_LEN(from_class); i++) {
		if (!strcmp(row->name, from_class[i]))
			return true;
	}
	return false;
}

static void inherit_attr(struct making *mk, const struct stb_schema_attr *row, const struct stb_eblock *volume,
	const struct stb_eblock *storage)
{
	const struct stb_eattr *own = stb_eattr(volume, row->name);
	const struct stb_eattr *class = stb_is_from_class(row) ? stb_eattr(storage, row->name) : NULL;
	struct stb_eattr *a;

	if (!own && !class && (strcmp(row->name, "filesystem") || !stb_is_block_class(storage)))
		return;
	a = add_attr(mk, row, row->name);
	if (own) {
		*a = *own;
	} else if (class) {
		*a = *class;
		a->row = row;
	} else {
		a->val = stb_val_str(STB_V_WORD, "ext4");
		a->is_default = true;
	}
	if (!strcmp(row->name, "filesystem") && stb_is_block_class(storage) && !strcmp(a->val.str, "ext4"))
		a->is_default = true;
}

struct stb_eblock *stb_effective_volume(struct stb_expansion *x, struct stb_eblock *volume, struct stb_eblock *storage)
{
	const void *key[3] = { volume, storage, volume };
	struct stb_eblock *b = stb_intern_get(&x->by_source, key, sizeof(key));
	struct making mk = { .x = x, .block = volume->block };
	const struct stb_shape *shape = stb_shape(x, volume->block->type);

	if (b)
		return b;
	mk.out = STB_NEW(x->arena, struct stb_eblock);
	mk.out->block = volume->block;
	for (uint32_t i = 0; i < shape->n_rows; i++)
		inherit_attr(&mk, shape->rows[i], volume, storage);
	b = intern_content(x, mk.out);
	stb_intern_put(&x->by_source, key, sizeof(key), b);
	return b;
}
