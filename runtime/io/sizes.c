/* sizes.c - see sizes.h for the design. */
#include "runtime/io/sizes.h"

#include <math.h>

/* Which cells get which size: shares of the cells by largest remainder. A share of I/Os is a share of cells once weighted by its size. */
static void divide_cells(struct stb_sizes *z, const double *share)
{
	double weight[STB_SIZES], total = 0, rest[STB_SIZES];
	uint64_t count[STB_SIZES], given = 0;

	for (uint32_t i = 0; i < z->n; i++) {
		weight[i] = share[i] * z->units[i];
		total += weight[i];
	}
	for (uint32_t i = 0; i < z->n; i++) {
		const double exact = weight[i] / total * (double)z->cells;

		count[i] = (uint64_t)exact;
		rest[i] = share[i] > 0 ? exact - floor(exact) : -1;
		given += count[i];
	}
	for (; given < z->cells; given++) {
		uint32_t most = 0;

		for (uint32_t i = 1; i < z->n; i++)
			most = rest[i] > rest[most] ? i : most;
		count[most]++;
		rest[most] -= 1;
	}
	for (uint32_t i = 0; i < z->n; i++) {
		z->per_cell[i] = z->cell_units / z->units[i];
		z->first_cell[i + 1] = z->first_cell[i] + count[i];
		z->first_io[i + 1] = z->first_io[i] + count[i] * z->per_cell[i];
	}
	z->per_pass = z->first_io[z->n];
}

void stb_sizes_init(struct stb_sizes *z, uint32_t n, const uint32_t *units, const double *share, uint64_t n_units, bool permuted,
	const struct stb_rng *rng)
{
	double sum = 0;

	STB_ASSERT(n && n <= STB_SIZES);
	*z = (struct stb_sizes){ .n = n, .rng = *rng };
	for (uint32_t i = 0; i < n; i++) {
		z->units[i] = units[i];
		sum += share[i];
		z->below[i] = sum;
		z->cell_units = STB_MAX(z->cell_units, units[i]);
	}
	if (!permuted)
		return;
	z->cells = n_units / z->cell_units;
	divide_cells(z, share);
	z->next = z->per_pass; /* the first I/O begins a pass */
}

static uint32_t draw_size(struct stb_sizes *z)
{
	const double u = stb_rng_unit(&z->rng);
	uint32_t i = 0;

	while (i + 1 < z->n && u >= z->below[i])
		i++;
	return z->units[i];
}

static uint64_t next_tile(struct stb_sizes *z, uint32_t *units)
{
	uint64_t io, k;
	uint32_t i = 0;

	if (z->next == z->per_pass) {
		stb_perm_init(&z->order, z->per_pass, &z->rng);
		stb_perm_init(&z->place, z->cells, &z->rng);
		z->next = 0;
	}
	io = stb_perm_at(&z->order, z->next++);
	while (io >= z->first_io[i + 1])
		i++;
	k = io - z->first_io[i];
	*units = z->units[i];
	return stb_perm_at(&z->place, z->first_cell[i] + k / z->per_cell[i]) * z->cell_units + k % z->per_cell[i] * z->units[i];
}

uint64_t stb_sizes_next(struct stb_sizes *z, struct stb_offsets *o, enum stb_dir dir, uint32_t *units)
{
	uint64_t at;

	switch (o->mode) {
	case STB_OFFSET_PERMUTED:
		break;
	case STB_OFFSET_SEQUENTIAL:
		at = o->next[dir];
		*units = (uint32_t)STB_MIN((uint64_t)draw_size(z), o->n - at);
		o->next[dir] = at + *units == o->n ? 0 : at + *units;
		return at;
	case STB_OFFSET_UNIFORM:
		*units = draw_size(z);
		return stb_rng_below(&o->rng, o->n - *units + 1);
	case STB_OFFSET_SKEWED:
		*units = draw_size(z);
		at = stb_skew_draw(o->skew, &o->rng);
		return STB_MIN(at, o->n - *units);
	}
	return next_tile(z, units);
}

bool stb_sizes_covered(const struct stb_sizes *z, uint64_t unit)
{
	uint64_t cell, io;
	uint32_t i = 0;

	if (stb_sizes_at_pass(z))
		return z->next != 0;
	cell = stb_perm_index(&z->place, unit / z->cell_units);
	while (cell >= z->first_cell[i + 1])
		i++;
	io = z->first_io[i] + (cell - z->first_cell[i]) * z->per_cell[i] + unit % z->cell_units / z->units[i];
	return stb_perm_index(&z->order, io) < z->next;
}
