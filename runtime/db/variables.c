/*
 * variables.c - what a live server says of itself, compared with the options of the spec.
 *
 * Servers clamp, round and ignore options without more than a line in their log, so an option that was accepted is not one that is in
 * force. An option for which the server shows no variable (performance_schema_instrument) cannot be compared; who asks decides about that:
 * for a private server it is recorded, since the server itself refuses names that it does not know, for an external one it is an error.
 *
 * Values are compared by what they mean, since a server spells them its own way: 0 becomes fsync, utf8 becomes utf8mb3, ANSI several modes. What
 * only the server knows it is asked: the words of its enums and sets in their order, and what it makes of an sql_mode.
 */
#include "runtime/db/variables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool add_variable(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct stb_variables *v = ctx;

	if (n_cells < 2 || !cells[0])
		return true;
	STB_GROW(v->list, v->n, v->cap);
	v->list[v->n++] = (struct stb_variable){.name = stb_xstrdup(cells[0]), .value = stb_xstrdup(cells[1] ? cells[1] : "")};
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct stb_variable *)a)->name, ((const struct stb_variable *)b)->name);
}

static struct stb_variable *find(const struct stb_variables *v, const char *name)
{
	char text[80];
	const struct stb_variable key = {.name = text};

	snprintf(text, sizeof(text), "%s", name);
	return v->n ? bsearch(&key, v->list, v->n, sizeof(*v->list), by_name) : NULL;
}

static bool add_words(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct stb_variable *one = n_cells == 3 && cells[0] && cells[1] && cells[2] ? find(ctx, cells[0]) : NULL;

	if (one && !one->words) {
		one->words = stb_xstrdup(cells[2]);
		one->is_set = strcmp(cells[1], "SET") == 0;
	}
	return true;
}

void stb_variables_free(struct stb_variables *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->list[i].name);
		free(v->list[i].value);
		free(v->list[i].words);
	}
	free(v->list);
	memset(v, 0, sizeof(*v));
}

int stb_variables_read(struct stb_client *c, struct stb_variables *v, struct stb_err *err)
{
	if (stb_client_rows(c, "SHOW GLOBAL VARIABLES", add_variable, v)) {
		stb_err_set(err, 0, "cannot read the server's variables: %s (%u)", stb_client_text(c), stb_client_code(c));
		stb_err_remedy(err, "see whether the server still runs, and its error log");
		return -1;
	}
	if (v->n)
		qsort(v->list, v->n, sizeof(*v->list), by_name);
	/* MySQL has no such table: there words are compared as they are written, and so they are here where it cannot be read. */
	if (stb_client_server_is_mariadb(c) && stb_client_rows(c, "SELECT LOWER(VARIABLE_NAME), VARIABLE_TYPE, ENUM_VALUE_LIST FROM information_schema.SYSTEM_VARIABLES"
		" WHERE VARIABLE_TYPE IN ('ENUM', 'SET')", add_words, v))
		return 0;
	return 0;
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

/* Both ways of writing a value in an option file. false: it is a word. */
static bool as_number(const char *text, int64_t *out)
{
	static const struct {
		const char *word;
		int64_t value;
	} words[] = {{"ON", 1}, {"YES", 1}, {"TRUE", 1}, {"OFF", 0}, {"NO", 0}, {"FALSE", 0}};
	char *end;

	for (unsigned i = 0; i < STB_LEN(words); i++) {
		if (strcasecmp(text, words[i].word) == 0) {
			*out = words[i].value;
			return true;
		}
	}
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (end == text || errno)
		return false;
	if (*end == '.' && end[1]) /* "100.000000" */
		end += 1 + strspn(end + 1, "0");
	const char *const units = "KMGTPE";
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	if (unit && end[1] == '\0')
		return !__builtin_mul_overflow(*out, (int64_t)1 << (10 * (unit - units + 1)), out);
	return *end == '\0';
}

static bool same_fraction(const char *a, const char *b)
{
	char *end_a, *end_b;
	const double x = strtod(a, &end_a), y = strtod(b, &end_b);

	return end_a != a && end_b != b && !*end_a && !*end_b && strchr(a, '.') && x >= y && x <= y;
}

/* Whether an item of n bytes stands in a list at commas. */
static bool holds_item(const char *list, const char *item, size_t n)
{
	for (const char *p = list;; p++) {
		const size_t len = strcspn(p, ",");

		if (len == n && strncasecmp(p, item, n) == 0)
			return true;
		p += len;
		if (!*p)
			return false;
	}
}

/* Every item of list a is in list b. */
static bool within(const char *a, const char *b)
{
	for (const char *p = a;; p++) {
		const size_t n = strcspn(p, ",");

		if (!holds_item(b, p, n))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

/* Paths of directories: the server may add or drop the last slash. */
static bool same_path(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (*a != '/' || *b != '/')
		return false;
	while (n > 1 && a[n - 1] == '/')
		n--;
	while (m > 1 && b[m - 1] == '/')
		m--;
	return n == m && memcmp(a, b, n) == 0;
}

/* utf8 and its collations are shown as what they are an alias of. */
static bool same_charset(const char *is, const char *asked)
{
	const size_t n = strlen("utf8mb3"); /* or utf8mb4 */

	if (strncasecmp(asked, "utf8", 4) || (asked[4] && asked[4] != '_'))
		return false;
	return (strncasecmp(is, "utf8mb3", n) == 0 || strncasecmp(is, "utf8mb4", n) == 0) && strcasecmp(is + n, asked + 4) == 0;
}

bool stb_variable_agrees(const char *is, const char *asked)
{
	int64_t x, y;

	if (as_number(is, &x) && as_number(asked, &y))
		return x == y;
	if (strcasecmp(is, asked) == 0 || same_path(is, asked) || same_fraction(is, asked) || same_charset(is, asked))
		return true;
	if (strchr(asked, '=') && strchr(is, '=')) /* optimizer_switch: what is not named stays as it is */
		return within(asked, is);
	return (strchr(is, ',') || strchr(asked, ',')) && within(asked, is) && within(is, asked);
}

/* The place of a word of n bytes in a list, or of the one word that begins so; -1: none or several. */
static int place_of(const char *words, const char *word, size_t n)
{
	int place = 0, begins = -1, n_begins = 0;

	for (const char *p = words;; p++, place++) {
		const size_t len = strcspn(p, ",");

		if (len >= n && n > 0 && strncasecmp(p, word, n) == 0) {
			if (len == n)
				return place;
			begins = place;
			n_begins++;
		}
		p += len;
		if (!*p)
			return n_begins == 1 ? begins : -1;
	}
}

/* As option files are read: one word of an enum, or several of a set, or their number. The bits of the words; false: it is none of that. */
static bool bits_of(const struct stb_variable *v, const char *text, uint64_t *bits)
{
	const size_t digits = strspn(text, "0123456789");
	unsigned long long number;

	*bits = 0;
	if (!*text)
		return v->is_set;
	if (digits && !text[digits] && place_of(v->words, text, digits) < 0) {
		errno = 0;
		number = strtoull(text, NULL, 10);
		*bits = v->is_set ? number : number < 64 ? 1ull << number : 0;
		return !errno;
	}
	for (const char *p = text;; p++) {
		const size_t n = v->is_set ? strcspn(p, ",") : strlen(p);
		const int place = place_of(v->words, p, n);

		if (place < 0 || place > 63)
			return false;
		*bits |= 1ull << place;
		p += n;
		if (!*p)
			return true;
	}
}

bool stb_variable_holds(const struct stb_variable *v, const char *asked)
{
	uint64_t x, y;

	if (v->words && bits_of(v, v->value, &x) && bits_of(v, asked, &y))
		return x == y;
	return stb_variable_agrees(v->value, asked);
}

bool stb_variables_same_sql_mode(struct stb_client *c, const char *is, const char *asked)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_,";
	const char *quote = *asked && !asked[strspn(asked, "0123456789")] ? "" : "'";
	struct stb_reply reply;
	struct stb_buf sql;
	char mode[2048];
	bool found = false;

	if (asked[strspn(asked, letters)])
		return false;
	stb_buf_init(&sql);
	stb_buf_printf(&sql, "SET SESSION sql_mode = %s%s%s", quote, asked, quote);
	if (stb_client_query(c, sql.data, sql.len, &reply) || stb_client_cell(c, "SELECT @@SESSION.sql_mode", mode, sizeof(mode), &found))
		found = false;
	stb_buf_fini(&sql);
	return found && stb_variable_agrees(is, mode);
}

/* --- options ------------------------------------------------------------------------------------------------------------------------- */

/* The one variable whose name begins so; NULL where none or several do. */
static const struct stb_variable *find_beginning(const struct stb_variables *v, const char *name)
{
	const struct stb_variable *found = NULL;

	for (size_t i = 0; i < v->n; i++) {
		if (strncmp(v->list[i].name, name, strlen(name)))
			continue;
		if (found)
			return NULL;
		found = &v->list[i];
	}
	return found;
}

static bool take_prefix(const char **name, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (strncmp(*name, prefix, n) || !(*name)[n])
		return false;
	*name += n;
	return true;
}

static bool is_off(const char *asked)
{
	int64_t n;

	return as_number(asked, &n) && n == 0;
}

/* The variable of an option, by its own name or another one. *inverted: the option asks for it to be off. */
static const struct stb_variable *look_up(const struct stb_variables *v, const char *option, char name[80], bool *inverted)
{
	static const char *const other[][2] = {{"transaction_isolation", "tx_isolation"}, {"default_time_zone", "time_zone"}};
	const struct stb_variable *only, *value;

	*inverted = false;
	snprintf(name, 80, "%s", option);
	if ((value = find(v, option)))
		return value;
	for (unsigned i = 0; i < STB_LEN(other); i++) {
		if (strcmp(option, other[i][0]) || !(value = find(v, other[i][1])))
			continue;
		snprintf(name, 80, "%s", other[i][1]);
		return value;
	}
	const char *rest = option;

	*inverted = take_prefix(&rest, "skip_") || take_prefix(&rest, "disable_");
	if ((*inverted || take_prefix(&rest, "enable_")) && (value = find(v, rest))) {
		snprintf(name, 80, "%s", rest);
		return value;
	}
	*inverted = false;
	only = find_beginning(v, option);
	if (!only)
		return NULL;
	snprintf(name, 80, "%s", only->name);
	return only;
}

enum stb_in_force stb_option_in_force(const struct stb_variables *v, const char *option, const char *asked, struct stb_option_check *out)
{
	char plain[80];
	const char *name = plain;
	bool inverted;

	snprintf(plain, sizeof(plain), "%s", option);
	for (char *p = plain; *p; p++)
		if (*p == '-')
			*p = '_';
	const bool loose = take_prefix(&name, "loose_");

	const struct stb_variable *const found = look_up(v, name, out->name, &inverted);

	out->asked = asked;
	out->is = found ? found->value : NULL;
	if (!found)
		return loose ? STB_IN_FORCE : STB_NO_VARIABLE;
	if (inverted)
		out->asked = is_off(asked) ? "ON" : "OFF";
	return stb_variable_holds(found, out->asked) ? STB_IN_FORCE : STB_NOT_IN_FORCE;
}
