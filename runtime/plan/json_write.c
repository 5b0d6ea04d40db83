/*
 * json_write.c - see json_write.h. Text that is not UTF-8 is written with U+FFFD in place of the bad bytes, so the output is always JSON.
 */
#include "runtime/plan/json_write.h"

#include <inttypes.h>
#include <string.h>

enum { FLUSH_BYTES = 64 * 1024 };

void stb_json_flush(struct stb_json_writer *w)
{
	if (w->out)
		fwrite(stb_buf_str(&w->text), 1, w->text.len, w->out);
	if (w->hash)
		stb_hash_add(w->hash, stb_buf_str(&w->text), w->text.len);
	stb_buf_clear(&w->text);
}

void stb_json_flush_full(struct stb_json_writer *w)
{
	if (w->text.len >= FLUSH_BYTES)
		stb_json_flush(w);
}

void stb_json_raw(struct stb_json_writer *w, const char *s)
{
	stb_buf_adds(&w->text, s);
}

/* Bytes at s that stand for themselves and need no look at their neighbours. */
static size_t plain(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x80 && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

void stb_json_string(struct stb_json_writer *w, const char *s)
{
	size_t left = strlen(s);

	stb_json_raw(w, "\"");
	while (left) {
		int32_t code;
		size_t n = plain(s, left);

		if (n) {
			stb_buf_add(&w->text, s, n);
			s += n;
			left -= n;
			continue;
		}
		n = stb_utf8_next(s, left, &code);
		if (!n) {
			n = 1;
			stb_json_raw(w, "\xEF\xBF\xBD");
		} else if (code == '"' || code == '\\') {
			stb_buf_printf(&w->text, "\\%c", (char)code);
		} else if (code == '\n') {
			stb_json_raw(w, "\\n");
		} else if (code < 0x20) {
			stb_buf_printf(&w->text, "\\u%04x", (unsigned)code);
		} else {
			stb_buf_add(&w->text, s, n);
		}
		s += n;
		left -= n;
	}
	stb_json_raw(w, "\"");
}

char *stb_json_number(char *to, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
		"555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	char digits[STB_JSON_NUMBER];
	unsigned at = sizeof(digits);
	const bool quoted = v > INT64_MAX;

	if (quoted)
		digits[--at] = '"';
	for (; v >= 100; v /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + v % 100 * 2, 2);
	}
	if (v >= 10)
		digits[--at] = pairs[v * 2 + 1];
	digits[--at] = v >= 10 ? pairs[v * 2] : (char)('0' + v);
	if (quoted)
		digits[--at] = '"';
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + (sizeof(digits) - at);
}

static void put_digits(struct stb_json_writer *w, uint64_t v)
{
	char text[STB_JSON_NUMBER];

	stb_buf_add(&w->text, text, (size_t)(stb_json_number(text, v) - text));
}

void stb_json_member(struct stb_json_writer *w, const char *key)
{
	if (!w->first)
		stb_json_raw(w, ",");
	w->first = false;
	if (key) {
		stb_json_string(w, key);
		stb_json_raw(w, ":");
	}
}

void stb_json_begin(struct stb_json_writer *w, const char *key, const char *bracket)
{
	stb_json_member(w, key);
	stb_json_raw(w, bracket);
	w->first = true;
}

void stb_json_end(struct stb_json_writer *w, const char *bracket)
{
	stb_json_raw(w, bracket);
	w->first = false;
}

void stb_json_put_str(struct stb_json_writer *w, const char *key, const char *s)
{
	if (!s)
		return;
	stb_json_member(w, key);
	stb_json_string(w, s);
}

void stb_json_put_u64(struct stb_json_writer *w, const char *key, uint64_t v)
{
	stb_json_member(w, key);
	put_digits(w, v);
}

void stb_json_put_index(struct stb_json_writer *w, const char *key, uint32_t i)
{
	if (i != STB_NONE)
		stb_json_put_u64(w, key, i);
}

void stb_json_put_flag(struct stb_json_writer *w, const char *key, bool on)
{
	if (!on)
		return;
	stb_json_member(w, key);
	stb_json_raw(w, "true");
}

void stb_json_open_line(struct stb_json_writer *w)
{
	stb_json_raw(w, w->first ? "\n" : ",\n");
	stb_json_raw(w, "{");
	w->first = true;
}

void stb_json_close_line(struct stb_json_writer *w)
{
	stb_json_end(w, "}");
	stb_json_flush_full(w);
}

void stb_json_open_lines(struct stb_json_writer *w, const char *key)
{
	stb_json_raw(w, ",\n");
	w->first = true;
	stb_json_begin(w, key, "[");
}

void stb_json_put_texts(struct stb_json_writer *w, const char *key, const char **list, uint32_t n)
{
	stb_json_open_lines(w, key);
	for (uint32_t i = 0; i < n; i++) {
		stb_json_raw(w, i ? ",\n" : "\n");
		stb_json_string(w, list[i]);
	}
	stb_json_end(w, "]");
	stb_json_flush_full(w);
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

static void put_number(struct stb_json_writer *w, const char *key, __int128 num, int64_t den)
{
	stb_json_member(w, key);
	if (den == 1 && num >= 0)
		put_digits(w, (uint64_t)num);
	else if (den == 1)
		stb_buf_printf(&w->text, "%" PRId64, (int64_t)num);
	else
		stb_buf_printf(&w->text, "\"%" PRId64 "/%" PRId64 "\"", (int64_t)num, den);
}

static void share(struct stb_json_writer *w, const struct stb_val *v)
{
	int64_t common = 100, percent;

	for (int64_t rest = v->den; rest;) {
		const int64_t next = common % rest;

		common = rest;
		rest = next;
	}
	if (__builtin_mul_overflow(v->num, 100 / common, &percent))
		stb_buf_printf(&w->text, "\"share\":\"%" PRId64 "/%" PRId64 "\"", v->num, v->den);
	else
		put_number(w, "percent", percent, v->den / common);
}

static void items(struct stb_json_writer *w, const struct stb_val *v)
{
	w->first = true;
	for (uint32_t i = 0; i < v->n_items; i++) {
		stb_json_member(w, v->type == STB_V_MAP ? v->keys[i] : v->type == STB_V_RANGE ? (i ? "to" : "from") : NULL);
		stb_json_value(w, &v->items[i]);
	}
}

static void tagged(struct stb_json_writer *w, const struct stb_val *v)
{
	stb_json_raw(w, "{");
	w->first = true;
	switch (v->type) {
	case STB_V_COUNT:
		put_number(w, "count", v->num, v->den);
		break;
	case STB_V_BYTES:
		put_number(w, "bytes", v->num, v->den);
		break;
	case STB_V_TIME:
		put_number(w, "ns", v->num, v->den);
		break;
	case STB_V_SHARE:
		share(w, v);
		break;
	case STB_V_RATE:
		put_number(w, "per_s", v->num, v->den);
		break;
	case STB_V_BYTE_RATE:
		put_number(w, "bytes_per_s", v->num, v->den);
		break;
	case STB_V_CLOCK:
		stb_buf_printf(&w->text, "\"at\":\"%02d:%02d\"", (int)(v->num / 60), (int)(v->num % 60));
		break;
	case STB_V_WORD:
		stb_json_put_str(w, "word", v->str);
		break;
	case STB_V_REF:
		stb_json_put_str(w, "ref", v->str);
		break;
	case STB_V_SECRET:
		stb_json_put_str(w, "secret", v->str);
		break;
	case STB_V_RANGE:
		items(w, v);
		break;
	case STB_V_MAP:
		stb_json_begin(w, "map", "{");
		items(w, v);
		stb_json_end(w, "}");
		break;
	case STB_V_NONE:
	case STB_V_BOOL:
	case STB_V_STRING:
	case STB_V_LIST:
		STB_BUG("untagged value");
	}
	stb_json_end(w, "}");
}

void stb_json_value(struct stb_json_writer *w, const struct stb_val *v)
{
	switch (v->type) {
	case STB_V_NONE:
		stb_json_raw(w, "null");
		return;
	case STB_V_BOOL:
		stb_json_raw(w, v->num ? "true" : "false");
		return;
	case STB_V_STRING:
		stb_json_string(w, v->str);
		return;
	case STB_V_LIST:
		stb_json_raw(w, "[");
		items(w, v);
		stb_json_end(w, "]");
		return;
	case STB_V_COUNT:
		if (v->den == 1) {
			stb_buf_printf(&w->text, "%" PRId64, v->num);
			return;
		}
		tagged(w, v);
		return;
	case STB_V_BYTES:
	case STB_V_TIME:
	case STB_V_SHARE:
	case STB_V_RATE:
	case STB_V_BYTE_RATE:
	case STB_V_CLOCK:
	case STB_V_WORD:
	case STB_V_REF:
	case STB_V_SECRET:
	case STB_V_RANGE:
	case STB_V_MAP:
		tagged(w, v);
		return;
	}
	STB_BUG("unknown value type");
}

void stb_json_put_val(struct stb_json_writer *w, const char *key, const struct stb_val *v)
{
	if (v->type == STB_V_NONE)
		return;
	stb_json_member(w, key);
	stb_json_value(w, v);
}
