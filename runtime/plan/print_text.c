/*
 * print_text.c - a plan for people who review it: what will be done, to what, in which order, and what it costs.
 *
 * This file has the head, the blocks and the matrices; print_cells.c has cells, groups, order, reports and claims. Columns are aligned by
 * display width, since names and labels may be Japanese. Nothing here depends on the terminal, and nothing reaches it that it would obey: a plan
 * may come from a spec that nobody has read yet, so control characters in its texts are written as `?` or a blank.
 */
#include "runtime/plan/plan.h"

#include "runtime/base/clock.h"
#include "runtime/plan/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES_PER_DAY = 24 * 60, LISTED_SLOTS = 12 };

size_t stb_plan_width(const char *s)
{
	return stb_display_width(s, strlen(s));
}

void stb_plan_pad(FILE *out, const char *s, size_t width)
{
	const size_t used = stb_plan_width(s);

	fprintf(out, "%s%*s", s, used < width ? (int)(width - used) : 0, "");
}

const char *stb_plan_bytes_text(struct stb_plan_printer *t, uint64_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	const struct stb_val exact = stb_val_num(STB_V_BYTES, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, 1);
	const char *text = stb_val_text(&t->scratch, &exact);
	double scaled = (double)bytes;
	size_t unit = 0;

	if (strspn(text, "0123456789") <= 4)
		return text;
	for (; scaled >= 999.5 && unit + 1 < STB_LEN(units); unit++)
		scaled /= 1000;
	return stb_arena_printf(&t->scratch, "%.*f%s", scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0, scaled, units[unit]);
}

const char *stb_plan_ns_text(struct stb_plan_printer *t, uint64_t ns)
{
	const uint64_t s = ns / STB_NS_PER_S + (ns % STB_NS_PER_S >= STB_NS_PER_S / 2);

	if (!ns)
		return "0s";
	if (ns < 1000000)
		return "under 1ms";
	if (ns < STB_NS_PER_S)
		return stb_arena_printf(&t->scratch, "%" PRIu64 "ms", ns / 1000000);
	if (ns < 10 * STB_NS_PER_S && ns % STB_NS_PER_S)
		return stb_arena_printf(&t->scratch, "%.1fs", (double)ns / 1e9);
	if (s < 60)
		return stb_arena_printf(&t->scratch, "%" PRIu64 "s", s);
	if (s < 3600)
		return stb_arena_printf(&t->scratch, "%" PRIu64 "min %" PRIu64 "s", s / 60, s % 60);
	if (s < 86400)
		return stb_arena_printf(&t->scratch, "%" PRIu64 "h %" PRIu64 "min", s / 3600, s / 60 % 60);
	return stb_arena_printf(&t->scratch, "%" PRIu64 "d %" PRIu64 "h", s / 86400, s / 3600 % 24);
}

/* --- head ---------------------------------------------------------------------------------------------------------------------------- */

static void heading(struct stb_plan_printer *t, const char *text)
{
	fprintf(t->out, "\n%s\n", text);
}

static void fact(struct stb_plan_printer *t, const char *name, const char *text)
{
	fprintf(t->out, "  %-13s %s\n", name, text);
}

static void list_texts(struct stb_plan_printer *t, const char *name, const char **texts, uint32_t n)
{
	if (!n)
		fact(t, name, "none");
	for (uint32_t i = 0; i < n; i++)
		fact(t, i ? "" : name, texts[i]);
}

struct counts {
	uint32_t kept, described, twins; /* twins: equal to a kept cell that is measured */
};

static struct counts count_cells(const struct stb_plan_printer *t)
{
	const struct stb_plan *p = t->p;
	uint8_t *seen = stb_xcalloc(p->n_cells, 1);
	struct counts n = { 0 };

	for (uint32_t i = 0; i < p->n_cells; i++) {
		const uint32_t first = p->cells[i].same_as;

		if (t->keep && !t->keep[i])
			continue;
		n.kept++;
		n.described += !t->runs[i];
		n.twins += t->runs[i] && seen[first];
		seen[first] |= t->runs[i];
	}
	free(seen);
	return n;
}

static void print_title(struct stb_plan_printer *t)
{
	const struct stb_plan *p = t->p;

	fprintf(t->out, "plan %.16s", p->hash);
	if (p->suite)
		fprintf(t->out, " of %s", p->suite);
	if (p->title)
		fprintf(t->out, ": %s", p->title);
	fputc('\n', t->out);
	if (p->description)
		fprintf(t->out, "%s\n", p->description);
	if (p->source)
		fprintf(t->out, "source: %s\n", p->source);
	if (p->profile)
		fprintf(t->out, "under profile %s\n", p->profile);
	for (uint32_t i = 0; i < p->n_params; i++)
		fprintf(t->out, "with %s\n", p->params[i]);
}

static const char *measured_text(struct stb_plan_printer *t)
{
	const char *bounded = stb_plan_bytes_text(t, t->totals.write_bytes);

	if (!t->totals.write_unbounded)
		return bounded;
	return stb_arena_printf(&t->scratch, "%s%sas much as the targets take in the time", t->totals.write_bytes ? bounded : "",
		t->totals.write_bytes ? " and " : "");
}

static void print_cost(struct stb_plan_printer *t)
{
	const struct stb_plan_totals *n = &t->totals;
	const struct counts cells = count_cells(t);
	struct stb_arena *a = &t->scratch;
	const char *text = stb_arena_printf(a, "%" PRIu32, cells.kept);

	if (t->keep)
		text = stb_arena_printf(a, "%s of the plan's %" PRIu32 " (--only)", text, t->p->n_cells);
	if (cells.described)
		text = stb_arena_printf(a, "%s, %" PRIu32 " of them described or planned only, and not carried out", text, cells.described);
	if (cells.twins)
		text = stb_arena_printf(a, "%s, %" PRIu32 " of them equal to others and measured once", text, cells.twins);
	heading(t, "cost");
	fact(t, "cells", stb_arena_printf(a, "%s, %" PRIu64 " measurements", text, n->n_measurements));
	fact(t, "time", stb_arena_printf(a, "about %s%s", stb_plan_ns_text(t, n->time_ns),
				stb_arena_printf(a, ", %" PRIu64 " provisionings%s included; waiting for slots is not", n->n_provisions,
					n->n_restores ? stb_arena_printf(a, " and %" PRIu64 " restorings", n->n_restores) : "")));
	fact(t, "writes", stb_arena_printf(a, "%s by provisioning, %s by measuring", stb_plan_bytes_text(t, n->load_bytes), measured_text(t)));
	fact(t, "space", stb_arena_printf(a, "%s at most at one time", stb_plan_bytes_text(t, n->peak_space_bytes)));
	list_texts(t, "privileges", t->p->privileges, t->p->n_privileges);
	list_texts(t, "devices", t->p->devices, t->p->n_devices);
	list_texts(t, "secrets", t->p->secrets, t->p->n_secrets);
}

/* --- blocks -------------------------------------------------------------------------------------------------------------------------- */

static const struct stb_val *attr_val(const struct stb_plan_block *b, const char *name)
{
	const struct stb_plan_attr *a = stb_plan_attr(b, name);

	return a ? &a->val : NULL;
}

/* Blocks are sorted by kind and name, so variants are neighbours. */
static void number_variants(struct stb_plan_printer *t)
{
	for (uint32_t i = 1; i < t->p->n_blocks; i++) {
		const struct stb_plan_block *a = &t->p->blocks[i - 1], *b = &t->p->blocks[i];

		if (strcmp(a->kind, b->kind) || strcmp(a->name, b->name))
			continue;
		t->variants[i - 1] = STB_MAX(t->variants[i - 1], 1u);
		t->variants[i] = t->variants[i - 1] + 1;
	}
}

const char *stb_plan_block_text(struct stb_plan_printer *t, uint32_t block)
{
	const struct stb_plan_block *b = &t->p->blocks[block];
	const char *text = stb_arena_printf(&t->scratch, "%s%s%s %s", b->kind, *b->type ? " " : "", b->type, b->name);

	return t->variants[block] ? stb_arena_printf(&t->scratch, "%s (variant %" PRIu32 ")", text, t->variants[block]) : text;
}

/* What several jobs make of `size`, which is per job. */
static void print_layout(struct stb_plan_printer *t, const struct stb_plan_block *b)
{
	const struct stb_val *size = attr_val(b, "size"), *jobs = attr_val(b, "numjobs"), *shared = attr_val(b, "shared_file");
	int64_t total;

	if (strcmp(b->type, "io") || !size || !jobs || size->type != STB_V_BYTES || jobs->num <= 1)
		return;
	if (shared && shared->num)
		fprintf(t->out, "    # %" PRId64 " jobs share one file of %s\n", jobs->num, stb_val_text(&t->scratch, size));
	else if (!__builtin_mul_overflow(size->num, jobs->num, &total))
		fprintf(t->out, "    # size is per job: %" PRId64 " jobs lay out %s in all\n", jobs->num,
			stb_plan_bytes_text(t, (uint64_t)(total < 0 ? 0 : total)));
}

static void print_attr(struct stb_plan_printer *t, const struct stb_plan_attr *a, size_t width)
{
	fputs("    ", t->out);
	stb_plan_pad(t->out, a->name, width);
	fprintf(t->out, " = %s", stb_val_text(&t->scratch, &a->val));
	if (a->origin != STB_FROM_DEFAULT && a->origin != STB_FROM_LINE)
		fprintf(t->out, "  # %s%s", stb_origin_name(a->origin), a->is_default ? ", equal to the default" : "");
	else if (a->origin == STB_FROM_LINE && a->is_default)
		fputs("  # stated, equal to the default", t->out);
	fputc('\n', t->out);
}

/* Nobody wrote it. A value that was written is listed also where it is the default: a reviewer looks for what the spec says. */
static bool is_unstated(const struct stb_plan_attr *a)
{
	return a->is_default && a->origin == STB_FROM_DEFAULT;
}

static void print_stated(struct stb_plan_printer *t, const struct stb_plan_block *b)
{
	size_t width = 0;

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!is_unstated(&b->attrs[i]))
			width = STB_MAX(width, stb_plan_width(b->attrs[i].name));
	}
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!is_unstated(&b->attrs[i]))
			print_attr(t, &b->attrs[i], width);
	}
}

/* Of a further variant only what differs from the first. */
static void print_differences(struct stb_plan_printer *t, const struct stb_plan_block *b, const struct stb_plan_block *first)
{
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		const struct stb_plan_attr *other = stb_plan_attr(first, b->attrs[i].name);

		if (!other || !stb_val_equal(&other->val, &b->attrs[i].val))
			print_attr(t, &b->attrs[i], 0);
	}
	for (uint32_t i = 0; i < first->n_attrs; i++) {
		if (!stb_plan_attr(b, first->attrs[i].name))
			fprintf(t->out, "    %s = none\n", first->attrs[i].name);
	}
}

static void print_defaults(struct stb_plan_printer *t, const struct stb_plan_block *b)
{
	const char *between = "    defaults: ";

	for (uint32_t i = 0; i < b->n_attrs; i++) {
		if (!is_unstated(&b->attrs[i]))
			continue;
		fprintf(t->out, "%s%s = %s", between, b->attrs[i].name, stb_val_text(&t->scratch, &b->attrs[i].val));
		between = ", ";
	}
	if (*between == ',')
		fputc('\n', t->out);
}

static void print_label(struct stb_plan_printer *t, const char *label)
{
	const struct stb_val text = stb_val_str(STB_V_STRING, label);

	if (label)
		fprintf(t->out, "  %s", stb_val_text(&t->scratch, &text));
}

static void print_not_run(const struct stb_plan_printer *t, const struct stb_plan_block *b)
{
	if (b->not_run)
		fprintf(t->out, "    not carried out: %s\n", b->not_run);
}

static void print_block(struct stb_plan_printer *t, uint32_t index)
{
	const struct stb_plan_block *b = &t->p->blocks[index];
	const struct stb_plan_block *first = t->variants[index] > 1 ? b - (t->variants[index] - 1) : b;

	fprintf(t->out, "  %s", stb_plan_block_text(t, index));
	if (first != b && !strcmp(first->type, b->type)) {
		fprintf(t->out, ", as variant 1 but\n");
		print_differences(t, b, first);
		print_layout(t, b);
		print_not_run(t, b);
		return;
	}
	print_label(t, b->label);
	fputc('\n', t->out);
	if (b->note)
		fprintf(t->out, "    # %s\n", b->note);
	print_stated(t, b);
	print_layout(t, b);
	print_defaults(t, b);
	print_not_run(t, b);
}

static void print_blocks(struct stb_plan_printer *t)
{
	heading(t, "blocks");
	for (uint32_t i = 0; i < t->p->n_blocks; i++)
		print_block(t, i);
}

/* --- matrices ------------------------------------------------------------------------------------------------------------------------ */

static void print_axis(struct stb_plan_printer *t, const struct stb_plan_axis *x, size_t width)
{
	fputs("    ", t->out);
	stb_plan_pad(t->out, x->name, width);
	fputs(" = ", t->out);
	for (uint32_t i = 0; i < x->n_values; i++) {
		fprintf(t->out, "%s%s", i ? ", " : "", x->values[i].key);
		if (strcmp(x->values[i].key, x->values[i].label))
			fprintf(t->out, " (%s)", x->values[i].label);
	}
	fprintf(t->out, "%s\n", x->described ? "  # described, not provisioned" : "");
}

/* Minutes between the two slots that are closest in time; 0 with a single slot. */
static uint32_t shortest_gap(const struct stb_plan_matrix *m)
{
	uint32_t gap = 0;

	for (uint32_t i = 0; i < m->n_schedule_at; i++) {
		const bool last = i + 1 == m->n_schedule_at;
		const uint32_t next = last ? m->schedule_at[0] + MINUTES_PER_DAY : m->schedule_at[i + 1];

		if (last && m->schedule_days == 1)
			break;
		if (!gap || next - m->schedule_at[i] < gap)
			gap = next - m->schedule_at[i];
	}
	return gap;
}

static void print_schedule(struct stb_plan_printer *t, const struct stb_plan_matrix *m, uint64_t slot_ns)
{
	const uint64_t slots = stb_plan_slots(m), gap_ns = (uint64_t)shortest_gap(m) * 60 * STB_NS_PER_S;

	if (!m->schedule_days)
		return;
	fprintf(t->out, "    %" PRIu64 " slots in local time, %" PRIu32 " repetitions of every cell in each, about %s a slot\n", slots, m->repeat,
		stb_plan_ns_text(t, slot_ns));
	for (uint64_t i = 0; i < STB_MIN(slots, (uint64_t)LISTED_SLOTS); i++) {
		const uint32_t at = m->schedule_at[i % m->n_schedule_at];

		fprintf(t->out, "      slot %" PRIu64 ": day %" PRIu64 ", %02" PRIu32 ":%02" PRIu32 "\n", i + 1, i / m->n_schedule_at + 1,
			at / 60, at % 60);
	}
	if (slots > LISTED_SLOTS)
		fprintf(t->out, "      and %" PRIu64 " more\n", slots - LISTED_SLOTS);
	if (gap_ns && slot_ns > gap_ns)
		fprintf(t->out, "    warning: a slot takes longer than the %s to the next, so the next starts late and is marked\n",
			stb_plan_ns_text(t, gap_ns));
}

static void print_matrix(struct stb_plan_printer *t, const struct stb_plan_matrix *m, uint64_t slot_ns)
{
	size_t width = 0;

	fprintf(t->out, "  %s", m->name);
	print_label(t, m->label);
	fprintf(t->out, "\n    %" PRIu32 " cells, repeat = %" PRIu32 ", order = %s, fresh = %s", m->n_cells, m->repeat,
		stb_order_name(m->order), stb_fresh_name(m->fresh));
	fprintf(t->out, ", seed = %" PRIu64 ", cooldown = %s", m->seed, stb_plan_ns_text(t, m->cooldown_ns));
	fprintf(t->out, ", interval = %s\n", stb_plan_ns_text(t, m->interval_ns));
	if (m->note)
		fprintf(t->out, "    # %s\n", m->note);
	for (uint32_t i = 0; i < m->n_axes; i++)
		width = STB_MAX(width, stb_plan_width(m->axes[i].name));
	for (uint32_t i = 0; i < m->n_axes; i++)
		print_axis(t, &m->axes[i], width);
	print_schedule(t, m, slot_ns);
}

static void print_notes(struct stb_plan_printer *t)
{
	if (t->p->n_notes)
		heading(t, "notes");
	for (uint32_t i = 0; i < t->p->n_notes; i++)
		fprintf(t->out, "  - %s\n", t->p->notes[i]);
}

/* One walk over the steps: how often a group is provisioned, and how long the longest slot of a matrix takes. */
static void walk(struct stb_plan_printer *t)
{
	struct stb_steps *it = stb_steps_new(t->p, t->runs);
	uint32_t matrix = STB_NONE, slot = STB_NONE;
	uint64_t slot_ns = 0;
	struct stb_step s;

	while (stb_steps_next(it, &s)) {
		uint64_t ns = s.wait_ns;

		if (s.matrix != matrix || s.slot != slot)
			slot_ns = 0;
		matrix = s.matrix;
		slot = s.slot;
		if (s.op == STB_OP_PROVISION) {
			t->provisions[s.group]++;
			ns = t->p->groups[s.group].provision_ns;
		} else if (s.op == STB_OP_RESTORE) {
			t->restores[s.group]++;
			ns = t->p->groups[s.group].restore_ns;
		} else if (s.op == STB_OP_MEASURE) {
			ns = t->p->cells[s.cell].measure_ns;
		}
		if (__builtin_add_overflow(slot_ns, ns, &slot_ns))
			slot_ns = UINT64_MAX;
		t->slot_ns[matrix] = STB_MAX(t->slot_ns[matrix], slot_ns);
	}
	stb_steps_free(it);
}

struct filter {
	FILE *out;
	unsigned char before; /* the last byte that was written */
};

/* Control characters of ASCII and, in UTF-8, of Latin-1 (C2 80 .. C2 9F) become `?`; newlines stay. */
static ssize_t write_filtered(void *cookie, const char *bytes, size_t len)
{
	struct filter *f = cookie;

	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)bytes[i];
		const bool ascii = (c < 0x20 && c != '\n') || c == 0x7F, latin = f->before == 0xC2 && c < 0xA0;

		putc_unlocked(ascii ? '?' : latin ? 0xA0 : c, f->out);
		f->before = c;
	}
	return (ssize_t)len;
}

void stb_plan_print_text(const struct stb_plan *p, FILE *out)
{
	stb_plan_print_part(p, NULL, out);
}

void stb_plan_print_part(const struct stb_plan *p, const uint8_t *keep, FILE *out)
{
	struct filter filter = { .out = out };
	struct stb_plan_printer t = { .p = p, .keep = keep, .out = fopencookie(&filter, "w", (cookie_io_functions_t){ .write = write_filtered }) };

	if (!t.out) {
		fputs("stb: out of memory\n", stderr);
		return;
	}
	stb_arena_init(&t.scratch);
	t.variants = stb_xcalloc(p->n_blocks, sizeof(*t.variants));
	t.provisions = stb_xcalloc(p->n_groups, sizeof(*t.provisions));
	t.restores = stb_xcalloc(p->n_groups, sizeof(*t.restores));
	t.slot_ns = stb_xcalloc(p->n_matrices, sizeof(*t.slot_ns));
	t.runs = stb_plan_runnable(p, keep);
	stb_plan_totals(p, t.runs, &t.totals);
	walk(&t);
	number_variants(&t);
	print_title(&t);
	print_cost(&t);
	print_blocks(&t);
	heading(&t, "matrices");
	for (uint32_t i = 0; i < p->n_matrices; i++)
		print_matrix(&t, &p->matrices[i], t.slot_ns[i]);
	stb_plan_print_cells(&t);
	stb_plan_print_groups(&t);
	stb_plan_print_order(&t);
	stb_plan_print_reports(&t);
	print_notes(&t);
	fclose(t.out);
	free(t.runs);
	free(t.variants);
	free(t.provisions);
	free(t.restores);
	free(t.slot_ns);
	stb_arena_fini(&t.scratch);
}
